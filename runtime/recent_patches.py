"""What each user's latest windows laid down in entities, in Redis, until every reader of those entities has it."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

import orjson
from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

MAX_WINDOWS: Final = 64
"""Windows of a user that are kept, the latest of those that laid anything down."""
TTL_S: Final = 86_400.0
"""For how long a user's are kept behind the latest, in seconds. By then they have come to the entities, or never will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentPatch:
    """What one patch did to the lines of one field, as its window was shown them."""

    entity_type: str
    entity_key: str
    field: str
    removed: tuple[str, ...]
    added: tuple[str, ...]
    event_time: datetime
    message_ids: tuple[str, ...]
    """What the patch rests on: an entity that names one of them has it."""


@dataclass(frozen=True, slots=True)
class WindowPlace:
    """Where a window lies among its user's."""

    tenant: str
    user: str
    generation: str
    """Empty for the first one."""
    partition: int
    """Of the log of windows."""
    offset: int


class LaidDownNotes:
    """Keeps what windows laid down, by their places in the log: a window extracted again is given what the first time it was.

    Every method raises RedisUnavailableError while Redis is away: a window then is shown what the store has.

    Args:
        redis: Where they are kept.
        ttl_s: For how long, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float = TTL_S) -> None:
        if ttl_s < 1:
            raise ValueError(f"what was laid down needs ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def before(self, place: WindowPlace) -> tuple[RecentPatch, ...]:
        """What the user's windows before one laid down, in their order.

        Args:
            place: Of the window.
        """
        key = self._key(place)
        packed = await self._redis.run("reading what was laid down", lambda client: client.zrangebyscore(key, "-inf", f"({place.offset}"))
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

    async def add(self, place: WindowPlace, laid_down: Sequence[RecentPatch]) -> None:
        """Keeps what a window laid down, in place of what it laid down before.

        Args:
            place: Of the window.
            laid_down: By its patches, in their order.
        """
        key, offset = self._key(place), place.offset
        fields = [
            (each.entity_type, each.entity_key, each.field, each.removed, each.added, each.event_time, each.message_ids)
            for each in laid_down
        ]
        packed = zlib.compress(orjson.dumps((offset, fields)))

        async def add(client: Redis) -> None:
            async with client.pipeline(transaction=True) as pipe:
                pipe.zremrangebyscore(key, offset, offset)
                if fields:
                    pipe.zadd(key, {packed: offset})
                pipe.zremrangebyrank(key, 0, -MAX_WINDOWS - 1)
                pipe.pexpire(key, self._ttl_ms)
                await pipe.execute()

        await self._redis.run("keeping what was laid down", add)

    async def forget(self, place: WindowPlace) -> None:
        """Forgets what a user's windows laid down.

        Args:
            place: Of any of the user's windows in that generation.
        """
        key = self._key(place)
        await self._redis.run("forgetting what was laid down", lambda client: client.unlink(key))

    def _key(self, place: WindowPlace) -> str:
        name = encode_key(place.tenant, place.user, place.generation or "-", str(place.partition)).decode("ascii")
        return self._redis.key(KeyFamily.LAID, name)
