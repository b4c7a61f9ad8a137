"""Current entities of the entities stage in Redis, readable by key before the index has them.

A view contains the position of the contribution it was made from, and a write does not replace a view of a later position in the same
partition: late writes of a replaced worker change nothing. It also contains the entity's version, so that a reader can compare it with the
one in the index. A view expires after a while; then readers use the index only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from memory.errors import RecordError
from memory.records import Memory
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

_WRITE: Final = """
local partition, offset = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^(%d+)/(%d+)/')
if partition == ARGV[1] and tonumber(offset) > tonumber(ARGV[2]) then return end
redis.call('SET', KEYS[1], ARGV[1] .. '/' .. ARGV[2] .. '/' .. ARGV[3], 'PX', ARGV[4])
"""


@dataclass(frozen=True, slots=True)
class EntityAsOf:
    """One version of an entity."""

    version: int
    memory: Memory | None
    """None: the entity is empty."""


@dataclass(frozen=True, slots=True)
class EntityUpdate:
    """An entity that has changed."""

    tenant: str
    memory_id: str
    entity: EntityAsOf
    partition: int
    """Partition of the contribution it was made from."""
    offset: int
    """Offset of that contribution."""


class EntityView:
    """Writes and reads views. Every method raises RedisUnavailableError while Redis is unavailable; only the view is lost then."""

    def __init__(self, *, redis: GuardedRedis, ttl_s: float) -> None:
        if ttl_s < 1:
            raise ValueError(f"a view needs ttl_s >= 1, got {ttl_s}")
        self._redis = redis
        self._ttl_ms = int(ttl_s * 1000)

    async def write(self, updates: Sequence[EntityUpdate]) -> None:
        """Writes views in one round trip. Updates that are older than the stored view are skipped."""

        async def write(client: Redis) -> None:
            script = client.register_script(_WRITE)
            async with client.pipeline(transaction=False) as pipe:
                for update in updates:
                    arguments = (update.partition, update.offset, _packed(update.entity), self._ttl_ms)
                    await script(keys=[self._key(update.tenant, update.memory_id)], args=arguments, client=pipe)
                await pipe.execute()

        await self._redis.run("writing views of entities", write)

    async def read(self, tenant: str, memory_id: str) -> EntityAsOf | None:
        """The stage's current version of an entity; None if there is no view of it."""
        written = await self._redis.run("reading a view of an entity", lambda client: client.get(self._key(tenant, memory_id)))
        return None if written is None else _unpacked(cast(bytes, written))

    async def forget(self, tenant: str, memory_ids: Iterable[str]) -> None:
        """Forgets the views of entities."""
        await self._redis.unlink("forgetting views of entities", [self._key(tenant, each) for each in memory_ids])

    def _key(self, tenant: str, memory_id: str) -> str:
        return self._redis.key_of(KeyFamily.ENTITY, tenant, memory_id)


def _packed(entity: EntityAsOf) -> bytes:
    return b"%d/%s" % (entity.version, b"" if entity.memory is None else entity.memory.to_json())


def _unpacked(written: bytes) -> EntityAsOf | None:
    try:
        _, _, version, record = written.split(b"/", 3)
        return EntityAsOf(int(version), Memory.from_json(record) if record else None)
    except (ValueError, RecordError):
        # Written by another version of Varve; the index has the entity, too.
        return None
