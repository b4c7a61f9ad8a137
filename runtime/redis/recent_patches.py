"""Patches that each user's latest windows wrote to entities, in Redis, until every reader of the entities has them."""

import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, cast

import orjson
from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

MAX_WINDOWS: Final = 64
"""Limit for the stored windows of a user; the latest windows with patches are kept."""
TTL_S: Final = 86_400.0
"""Lifetime of a user's patches after the latest one, in seconds. By then the entities contain them, or their extraction failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentPatch:
    """Changes of one patch to the lines of one field, relative to the lines in its window's prompt."""

    entity_type: str
    entity_key: str
    field: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    event_time: datetime
    message_ids: tuple[str, ...]
    """Evidence of the patch: an entity that names one of these messages contains the patch."""


@dataclass(frozen=True, slots=True)
class WindowPlace:
    """Position of a window among its user's windows."""

    tenant: str
    user: str
    generation: str
    """Empty for the first generation."""
    partition: int
    """Partition of the log of windows."""
    offset: int


class RecentPatchStore:
    """Stores the patches of windows by log position: a repeated extraction of a window gets the same earlier patches as the first one.

    Every method raises RedisUnavailableError while Redis is unavailable: then a prompt contains only the store's entities.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float = TTL_S) -> None:
        if ttl_s < 1:
            raise ValueError(f"recent patches need ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def before(self, place: WindowPlace) -> tuple[RecentPatch, ...]:
        """The patches of the user's windows before the given one, in order."""
        key = self._key(place)
        packed = await self._redis.run("reading recent patches", lambda client: client.zrangebyscore(key, "-inf", f"({place.offset}"))
        return tuple(
            RecentPatch(
                entity_type=entity_type,
                entity_key=entity_key,
                field=field,
                removed=tuple(removed),
                added=tuple(added),
                event_time=datetime.fromisoformat(event_time),
                message_ids=tuple(message_ids),
            )
            for each in cast(list[bytes], packed)
            for entity_type, entity_key, field, removed, added, event_time, message_ids in orjson.loads(zlib.decompress(each))[1]
        )

    async def add(self, place: WindowPlace, patches: Sequence[RecentPatch], *, window_id: str = "", replaces_earlier: bool = False) -> None:
        """Stores the patches of a window, replacing its earlier ones at this position.

        Args:
            place: The window's position.
            patches: The patches, in order.
            window_id: The window.
            replaces_earlier: Whether the window is a later revision: then its patches at earlier positions are deleted.
        """
        key, offset = self._key(place), place.offset
        fields = [
            (patch.entity_type, patch.entity_key, patch.field, patch.removed, patch.added, patch.event_time, patch.message_ids)
            for patch in patches
        ]
        packed = zlib.compress(orjson.dumps((offset, fields, window_id)))

        async def add(client: Redis) -> None:
            members = cast(list[bytes], await client.zrange(key, 0, -1)) if replaces_earlier else []
            earlier = [each for each in members if orjson.loads(zlib.decompress(each))[2] == window_id]
            async with client.pipeline(transaction=True) as pipe:
                pipe.zremrangebyscore(key, offset, offset)
                if earlier:
                    pipe.zrem(key, *earlier)
                if fields:
                    pipe.zadd(key, {packed: offset})
                pipe.zremrangebyrank(key, 0, -MAX_WINDOWS - 1)
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

        await self._redis.run("storing recent patches", add)

    async def forget(self, place: WindowPlace) -> None:
        """Deletes the patches of a user's windows."""
        await self._redis.unlink("deleting recent patches", [self._key(place)])

    async def forget_messages(self, place: WindowPlace, message_ids: Collection[str]) -> None:
        """Deletes the patches of a user's windows that are based on some messages."""
        forget = partial(_remove, self._key(place), lambda packed: not _messages(packed).isdisjoint(message_ids))
        await self._redis.run("deleting recent patches of messages", forget)

    async def forget_entities(self, tenant: str, entities: Collection[tuple[str, str]]) -> None:
        """Deletes all patches of a tenant's users to some entities."""
        doing = "deleting recent patches of entities"
        for key in await self._redis.keys(doing, KeyFamily.RECENT_PATCHES, tenant=tenant) if entities else ():
            await self._redis.run(doing, partial(_remove, key, lambda packed: not _entities(packed).isdisjoint(entities)))

    def _key(self, place: WindowPlace) -> str:
        return self._redis.key_of(KeyFamily.RECENT_PATCHES, place.tenant, place.user, place.generation or "-", str(place.partition))


async def _remove(key: str, is_forgotten: Callable[[bytes], bool], client: Redis) -> None:
    found = [each for each in cast(list[bytes], await client.zrange(key, 0, -1)) if is_forgotten(each)]
    if found:
        await client.zrem(key, *found)


def _entities(packed: bytes) -> set[tuple[str, str]]:
    return {(entity_type, entity_key) for entity_type, entity_key, *_ in orjson.loads(zlib.decompress(packed))[1]}


def _messages(packed: bytes) -> set[str]:
    return {message_id for *_, message_ids in orjson.loads(zlib.decompress(packed))[1] for message_id in message_ids}
