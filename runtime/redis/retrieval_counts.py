"""Number and last time of recalls that returned a memory, in Redis: input of the MemX ranking (3.7: returned, not viewed)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from redis.asyncio import Redis

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

# Two sorted sets with the same members: a memory is removed from both at once.
_ADD: Final = """
local now, most, ttl = ARGV[1], tonumber(ARGV[2]), ARGV[3]
for i = 4, #ARGV do
  redis.call('ZADD', KEYS[1], now, ARGV[i])
  redis.call('ZINCRBY', KEYS[2], 1, ARGV[i])
end
local old = redis.call('ZRANGE', KEYS[1], 0, -(most + 1))
for _, name in ipairs(old) do
  redis.call('ZREM', KEYS[1], name)
  redis.call('ZREM', KEYS[2], name)
end
redis.call('PEXPIRE', KEYS[1], ttl)
redis.call('PEXPIRE', KEYS[2], ttl)
"""


@dataclass(frozen=True, slots=True)
class Retrievals:
    """Number and last time of a memory's retrievals."""

    number: int
    last: datetime


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Result of one recall."""

    tenant: str
    memory_ids: Sequence[str]
    time: datetime


class RetrievalCounts:
    """Counts of retrievals, with a limit per tenant and a lifetime.

    Every method raises RedisUnavailableError while Redis is unavailable: then memories are ranked by their own time.

    Args:
        ttl_s: Lifetime of a tenant's counts after the newest retrieval, in seconds.
    """

    def __init__(self, *, redis: GuardedRedis, most: int = 20_000, ttl_s: float = 180 * 86400.0) -> None:
        if most < 1 or ttl_s <= 0:
            raise ValueError(f"most must be at least 1 and ttl_s above 0, got {most} and {ttl_s}")
        self._redis = redis
        self._most = most
        self._ttl_ms = int(ttl_s * 1000)

    async def add(self, retrieved: Iterable[Retrieved]) -> None:
        """Counts the memories that recalls returned."""
        for recall in retrieved:
            if recall.memory_ids:
                await self._redis.script(
                    "counting recalled memories",
                    _ADD,
                    self._keys(recall.tenant),
                    recall.time.timestamp(),
                    self._most,
                    self._ttl_ms,
                    *recall.memory_ids,
                )

    async def of(self, tenant: str, memory_ids: Sequence[str]) -> dict[str, Retrievals]:
        """The counts of memories by id, without memories that were never returned."""
        if not memory_ids:
            return {}
        last_key, number_key = self._keys(tenant)

        async def read(client: Redis) -> list[Any]:
            async with client.pipeline(transaction=True) as pipe:
                pipe.zmscore(last_key, list(memory_ids))
                pipe.zmscore(number_key, list(memory_ids))
                return await pipe.execute()

        last, number = await self._redis.run("reading counts of recalled memories", read)
        return {
            each: Retrievals(int(count), datetime.fromtimestamp(at, UTC))
            for each, at, count in zip(memory_ids, last, number, strict=True)
            if at is not None and count is not None
        }

    def _keys(self, tenant: str) -> tuple[str, str]:
        return self._redis.key_of(KeyFamily.RETURNED_AT, tenant), self._redis.key_of(KeyFamily.RETURNED, tenant)
