"""Rate and concurrency limits that all processes share in Redis; while Redis is unavailable, each process keeps them alone."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Final
from uuid import uuid4

from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.rate_limits import SATURATED_WAIT_S, Demand, LocalRateLimits, RateState, Verdict
from runtime.redis import CLOCK, LEASES, GuardedRedis
from runtime.redis_keys import KeyFamily

LEASE_S: Final = 60.0
"""A slot that is not released, because its process was killed, becomes free after this time. Every recall is shorter."""

# The same rule as LocalRateLimits.admit. Numbers are texts of 17 digits, which are lossless.
_ADMIT: Final = (
    CLOCK
    + LEASES
    + """
local taken, leases = KEYS[1], KEYS[2]
local now, slots, lease, lease_ms, saturated_ms = clock(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local names, costs, starts, waits, refused, latest = {}, {}, {}, {}, false, now
for index = 6, #ARGV, 3 do
  local name, cost, burst = ARGV[index], tonumber(ARGV[index + 1]), tonumber(ARGV[index + 2])
  local start = math.max(tonumber(redis.call('HGET', taken, name) or '0'), now)
  local wait = math.max(start + math.min(cost, burst) - burst - now, 0)
  if wait > 0 then refused = true end
  table.insert(names, name)
  table.insert(costs, cost)
  table.insert(starts, start)
  table.insert(waits, wait)
end
local out, slot_wait = 0, 0
if slots >= 0 then
  out = leases_out(leases, now)
  if out >= slots then slot_wait = saturated_ms end
end
if not refused and slot_wait == 0 then
  for index, name in ipairs(names) do
    starts[index] = starts[index] + costs[index]
    redis.call('HSET', taken, name, string.format('%.17g', starts[index]))
    latest = math.max(latest, starts[index])
  end
  if #names > 0 and latest > now then redis.call('PEXPIRE', taken, math.max(redis.call('PTTL', taken), math.ceil(latest - now) + 1000)) end
  if slots >= 0 then
    take_lease(leases, now, lease, lease_ms)
    out = out + 1
  end
end
local answer = {slot_wait, out}
for index = 1, #names do
  table.insert(answer, string.format('%.17g', waits[index]))
  table.insert(answer, string.format('%.17g', starts[index] - now))
end
return answer
"""
)


class SharedRateLimits:
    """Limits that all processes share."""

    def __init__(self, *, redis: GuardedRedis, purpose: str) -> None:
        self._redis = redis
        self._purpose = purpose
        self._family = KeyFamily(purpose)

    async def admit(self, subject: str, demands: Sequence[Demand], *, slots: int | None = None, now_ms: int | None = None) -> Verdict:
        """Admits a request if all its limits allow it now, like :meth:`LocalRateLimits.admit`.

        Args:
            subject: The owner of the limits.
            demands: The amounts of the rates.
            slots: Limit for concurrent requests of this kind. Default: no limit.
            now_ms: The time. Default: Redis's clock.

        Raises:
            RedisUnavailableError: If Redis is unavailable.
        """
        lease = uuid4().hex
        words: list[str | float] = [
            word for demand in demands for word in (demand.rate.name, f"{demand.cost_ms:.17g}", f"{demand.burst_ms:.17g}")
        ]
        slot_wait_ms, out, *numbers = await self._redis.script(
            f"admitting a request under the {self._purpose}",
            _ADMIT,
            [self._key(subject, "taken"), self._key(subject, "leases")],
            "" if now_ms is None else now_ms,
            -1 if slots is None else slots,
            lease,
            int(LEASE_S * 1000),
            int(SATURATED_WAIT_S * 1000),
            *words,
        )
        states = tuple(
            RateState(rate=demand.rate, wait_ms=float(wait), backlog_ms=float(backlog))
            for demand, wait, backlog in zip(demands, numbers[::2], numbers[1::2], strict=True)
        )
        free_slots = 0 if slots is None else max(0, slots - int(out))
        verdict = Verdict(rates=states, slot_wait_ms=float(slot_wait_ms), free_slots=free_slots, is_shared=True)
        return replace(verdict, lease=lease) if slots is not None and verdict.is_admitted else verdict

    async def release(self, subject: str, lease: str) -> None:
        """Releases a slot.

        Raises:
            RedisUnavailableError: If Redis is unavailable; the slot becomes free when its lease expires.
        """
        await self._redis.run("releasing a slot", lambda client: client.zrem(self._key(subject, "leases"), lease))

    def _key(self, subject: str, what: str) -> str:
        # The braces place both keys of a subject on the same node of a cluster.
        return self._redis.key(self._family, f"{{{subject}}}", what)


class RateLimiter:
    """Admits requests under limits that all processes share.

    While Redis is unavailable, each process applies every limit alone: ``n`` processes may then admit ``n`` times the limit.

    Args:
        redis: The Redis of all processes.
        purpose: Name of the limited resource, used in the keys.
        metrics: Counts the checks, by Redis or process.
    """

    def __init__(self, *, redis: GuardedRedis, purpose: str, metrics: Metrics) -> None:
        self._shared = SharedRateLimits(redis=redis, purpose=purpose)
        self._local = LocalRateLimits()
        self._checks = metrics.quota_checks

    @asynccontextmanager
    async def admit(self, subject: str, demands: Sequence[Demand], *, slots: int | None = None) -> AsyncIterator[Verdict]:
        """Requests admission, and holds the slot, if any, for the length of the block. The caller has to check the verdict.

        Args:
            subject: The owner of the limits.
            demands: The amounts of the rates.
            slots: Limit for concurrent requests of this kind. Default: no limit.
        """
        try:
            verdict = await self._shared.admit(subject, demands, slots=slots)
        except RedisUnavailableError:
            verdict = self._local.admit(subject, demands, asyncio.get_running_loop().time() * 1000, slots=slots)
        self._checks.labels("redis" if verdict.is_shared else "process").inc()
        try:
            yield verdict
        finally:
            if verdict.lease is not None and verdict.is_shared:
                with suppress(RedisUnavailableError):
                    await self._shared.release(subject, verdict.lease)
            elif verdict.lease is not None:
                self._local.release(subject, verdict.lease)
