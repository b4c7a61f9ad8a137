"""Notes of the extraction stage in Redis: latest values of keys, and the entities in a window's first prompt."""

import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final, cast

import orjson
from redis.asyncio import Redis

from memory.records import Memory
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

MAX_VALUES: Final = 256
"""Limit for the stored values of a key; the most recently used are kept."""
TTL_S: Final = 86_400.0
"""Lifetime after the last use of any value, in seconds. By then the store has the entities, or their extraction failed."""

_BATCH: Final = 100


@dataclass(frozen=True, slots=True)
class KeyScope:
    """Identifies a key: its tenant, user and generation."""

    tenant: str
    user: str | None
    """None: the key belongs to the whole tenant."""
    generation: str
    """Empty for the first generation."""
    key: str


class KeyValueNotes:
    """Stores the values. Every method raises RedisUnavailableError while Redis is unavailable: then only the store's values are known."""

    def __init__(self, *, redis: GuardedRedis, ttl_s: float = TTL_S) -> None:
        if ttl_s < 1:
            raise ValueError(f"the values of a key need ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def latest(self, scope: KeyScope) -> tuple[str, ...]:
        """The most recently used values, the latest last."""
        key = self._key(scope)
        values = await self._redis.run("reading the values of a key", lambda client: client.lrange(key, 0, -1))
        return tuple(each.decode() for each in cast(list[bytes], values))

    async def add(self, scope: KeyScope, values: Sequence[str]) -> None:
        """Stores values as the most recently used ones."""
        key = self._key(scope)

        async def add(client: Redis) -> None:
            async with client.pipeline(transaction=True) as pipe:
                for value in values:
                    pipe.lrem(key, 0, value)
                    pipe.rpush(key, value)
                pipe.ltrim(key, -MAX_VALUES, -1)
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

        if values:
            await self._redis.run("storing the values of a key", add)

    async def forget(self, scope: KeyScope) -> None:
        """Deletes the values of a key."""
        await self._redis.unlink("deleting the values of a key", [self._key(scope)])

    def _key(self, scope: KeyScope) -> str:
        owner = [scope.tenant] if scope.user is None else [scope.tenant, scope.user]
        # A tenant's key has one part less, so it never equals a user's key.
        return self._redis.key_of(KeyFamily.VALUES, scope.generation or "-", scope.key, *owner)


class PromptEntities:
    """Stores the entities of each window's first prompt, by window and generation: a repeated extraction gets the same ones.

    Otherwise the prompt of a window that is extracted again after a crash would contain entities that already have the window's facts. The
    model would patch nothing, and once the first extraction's patches are retracted, the facts would be lost.

    Every method raises RedisUnavailableError while Redis is unavailable.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"a prompt's entities need ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def of(self, tenant: str, window_id: str, generation: str) -> tuple[Memory, ...] | None:
        """The entities of a window's first prompt; None if it was not extracted recently.

        Args:
            tenant: The window's tenant.
            window_id: The window.
            generation: The generation; empty for the first one.
        """
        key = self._key(tenant, window_id, generation)
        packed = await self._redis.read("reading a prompt's entities", key)
        return None if packed is None else tuple(Memory.from_fields(fields) for fields in orjson.loads(zlib.decompress(packed)))

    async def remember(self, tenant: str, window_id: str, generation: str, entities: Sequence[Memory]) -> None:
        """Stores the entities of a window's prompt, if it is the window's first prompt.

        Args:
            tenant: The window's tenant.
            window_id: The window.
            generation: The generation; empty for the first one.
            entities: The entities in the prompt.
        """
        key = self._key(tenant, window_id, generation)
        packed = zlib.compress(b"[" + b",".join(entity.to_json() for entity in entities) + b"]")
        await self._redis.run("storing a prompt's entities", lambda client: client.set(key, packed, px=self._ttl_ms, nx=True))

    async def forget(self, tenant: str, window_ids: Iterable[str], generations: Iterable[str]) -> None:
        """Forgets what windows were shown.

        Args:
            tenant: The tenant of the windows.
            window_ids: The windows.
            generations: In which generations; the first one's name is empty.
        """
        keys = [self._key(tenant, *each) for each in product(window_ids, generations)]
        await self._redis.unlink("forgetting prompts' entities", keys)

    async def forget_entities(self, tenant: str, entities: Collection[str]) -> None:
        """Forgets all prompts of a tenant that contain any of some entities."""
        doing = "forgetting entities in prompts"
        keys = await self._redis.keys(doing, KeyFamily.SHOWN, tenant=tenant) if entities else []

        async def forget(some: Sequence[str], client: Redis) -> None:
            packed = cast(list[bytes | None], await client.mget(some))
            found = [key for key, each in zip(some, packed, strict=True) if each is not None and not _ids(each).isdisjoint(entities)]
            if found:
                await client.unlink(*found)

        for first in range(0, len(keys), _BATCH):
            await self._redis.run(doing, partial(forget, keys[first : first + _BATCH]))

    def _key(self, tenant: str, window_id: str, generation: str) -> str:
        return self._redis.key_of(KeyFamily.SHOWN, tenant, window_id, generation or "-")


def _ids(packed: bytes) -> set[str]:
    return {fields["id"] for fields in orjson.loads(zlib.decompress(packed))}
