"""Entities in the prompt of a window's first extraction, in Redis: a repeated extraction gets the same ones.

Otherwise the prompt of a window that is extracted again after a crash would contain entities that already have the window's facts. The
model would patch nothing, and once the first extraction's patches are retracted, the facts would be lost.
"""

import zlib
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import Final, cast

import orjson

from memory.keys import encode_key
from memory.records import Memory
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

_BATCH: Final = 100


class PromptEntities:
    """Stores the entities of each window's first prompt, by window and generation.

    Every method raises RedisUnavailableError while Redis is unavailable.

    Args:
        redis: The store of the entities.
        ttl_s: Lifetime, in seconds.
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
        packed = cast(bytes | None, await self._redis.run("reading a prompt's entities", lambda client: client.get(key)))
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
            tenant: Whose windows.
            window_ids: The windows.
            generations: In which generations; the first one's name is empty.
        """
        keys = [self._key(tenant, *each) for each in product(window_ids, generations)]
        await self._redis.unlink("forgetting prompts' entities", keys)

    async def forget_entities(self, tenant: str, entities: Collection[str]) -> None:
        """Forgets all prompts of a tenant that contain any of some entities.

        Args:
            tenant: The tenant.
            entities: The ids of the entities.
        """
        doing, start = "forgetting entities in prompts", encode_key(tenant).decode("ascii") + "/"
        keys = await self._redis.keys(doing, KeyFamily.SHOWN, start) if entities else []
        for first in range(0, len(keys), _BATCH):
            some = keys[first : first + _BATCH]
            packed = cast(list[bytes | None], await self._redis.run(doing, lambda client, some=some: client.mget(some)))  # type: ignore[misc]
            found = [key for key, each in zip(some, packed, strict=True) if each is not None and not _ids(each).isdisjoint(entities)]
            await self._redis.unlink(doing, found)

    def _key(self, tenant: str, window_id: str, generation: str) -> str:
        return self._redis.key(KeyFamily.SHOWN, encode_key(tenant, window_id, generation or "-").decode("ascii"))


def _ids(packed: bytes) -> set[str]:
    return {fields["id"] for fields in orjson.loads(zlib.decompress(packed))}
