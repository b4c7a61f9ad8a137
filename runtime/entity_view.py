"""Entities as the entities stage has them, in Redis: readable by key before the index has them.

A view bears the place of the contribution that it comes of, and a write yields to a view of a later place in the same partition: what a
worker that was replaced still had under way changes nothing. It also bears the entity's version, by which a reader tells it from an older
or newer one in the index. It is kept for a while only: behind that the index is asked alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from memory.errors import RecordError
from memory.keys import encode_key
from memory.records import Memory
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

_WRITE: Final = """
local partition, offset = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^(%d+)/(%d+)/')
if partition == ARGV[1] and tonumber(offset) > tonumber(ARGV[2]) then return end
redis.call('SET', KEYS[1], ARGV[1] .. '/' .. ARGV[2] .. '/' .. ARGV[3], 'PX', ARGV[4])
"""


@dataclass(frozen=True, slots=True)
class EntityAsOf:
    """An entity as it was at one of its versions."""

    version: int
    memory: Memory | None
    """None: nothing is left of it."""


@dataclass(frozen=True, slots=True)
class EntityUpdate:
    """An entity that has changed."""

    tenant: str
    memory_id: str
    entity: EntityAsOf
    partition: int
    """Of the contribution that it comes of."""
    offset: int
    """Of the same."""


class EntityView:
    """Writes and reads views. Every method raises RedisUnavailableError while Redis is away; nothing is lost by it but the view.

    Args:
        redis: Where views are kept.
        ttl_s: For how long a view is kept, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"a view needs ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def write(self, updates: Sequence[EntityUpdate]) -> None:
        """Writes views, all at once. What is older than what stands is passed over."""

        async def write(client: Redis) -> None:
            script = client.register_script(_WRITE)
            async with client.pipeline(transaction=False) as pipe:
                for update in updates:
                    arguments = (update.partition, update.offset, _packed(update.entity), self._ttl_ms)
                    await script(keys=[self._key(update.tenant, update.memory_id)], args=arguments, client=pipe)
                await pipe.execute()

        await self._redis.run("writing views of entities", write)

    async def read(self, tenant: str, memory_id: str) -> EntityAsOf | None:
        """An entity as the stage has it; None where the view does not have it."""
        written = await self._redis.run("reading a view of an entity", lambda client: client.get(self._key(tenant, memory_id)))
        return None if written is None else _unpacked(cast(bytes, written))

    async def forget(self, tenant: str, memory_ids: Iterable[str]) -> None:
        """Forgets the views of entities."""
        await self._redis.unlink("forgetting views of entities", [self._key(tenant, each) for each in memory_ids])

    def _key(self, tenant: str, memory_id: str) -> str:
        return self._redis.key(KeyFamily.ENTITY, encode_key(tenant, memory_id).decode("ascii"))


def _packed(entity: EntityAsOf) -> bytes:
    return b"%d/%s" % (entity.version, b"" if entity.memory is None else entity.memory.to_json())


def _unpacked(written: bytes) -> EntityAsOf | None:
    try:
        _, _, version, record = written.split(b"/", 3)
        return EntityAsOf(int(version), Memory.from_json(record) if record else None)
    except (ValueError, RecordError):
        # Of another version of Varve: the index has it, too.
        return None
