"""Rate and concurrency limits, shared by all processes in Redis; while Redis is unavailable, each process keeps them alone.

Rates use the generic cell rate algorithm (ITU-T I.371): each unit takes its share of time, and the time taken may be ahead of the clock by
at most the burst. Therefore the state of a rate is one number.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.lua import CLOCK, LEASES

SATURATED_WAIT_S: Final = 1.0
"""The suggested wait while all slots are taken; only an estimate, because a slot may become free at any time."""

_MOST_KEPT: Final = 10_000

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A rate with the burst that accumulates in ``burst_s`` seconds."""

    name: str
    per_second: float
    burst_s: float

    def __post_init__(self) -> None:
        if not (self.per_second > 0 and self.burst_s > 0):
            raise ValueError(f"a rate and its burst must be above 0, got {self}")

    @property
    def capacity(self) -> float:
        """Largest amount at once."""
        return self.per_second * self.burst_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Amount that one request takes of a rate."""

    rate: Rate
    amount: float
    """A request above the rate's capacity is admitted once the whole capacity is free, and its whole amount counts."""

    @property
    def cost_ms(self) -> float:
        """The amount as time at this rate."""
        return self.amount * 1000 / self.rate.per_second

    @property
    def burst_ms(self) -> float:
        """Limit by which the time taken may be ahead of the clock."""
        return self.rate.burst_s * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateState:
    """Result of a request for one rate."""

    rate: Rate
    wait_ms: float
    """0: the rate admits it. Otherwise the time until it does, if no other request comes."""
    backlog_ms: float
    """How far the time taken is ahead of the clock, including this request if it was admitted."""

    @property
    def remaining(self) -> int:
        """Amount that is available now."""
        return max(0, math.floor((self.rate.burst_s - self.backlog_ms / 1000) * self.rate.per_second))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Result of a request. It is admitted as a whole or not at all: a rejected request takes nothing."""

    rates: tuple[RateState, ...]
    slot_wait_ms: float = 0.0
    """Time to wait for a slot; 0 if there is one."""
    free_slots: int = 0
    """Number of free slots."""
    lease: str | None = None
    """The slot that the request holds and has to release."""
    is_shared: bool = False
    """Whether Redis keeps the limits; otherwise this process does."""

    @property
    def is_admitted(self) -> bool:
        """Whether the request is admitted."""
        return self.wait_s == 0

    @property
    def wait_s(self) -> float:
        """Seconds until a retry; 0 if admitted."""
        return max(self.slot_wait_ms, *(each.wait_ms for each in self.rates), 0.0) / 1000


@dataclass(slots=True)
class LocalRateLimits:
    """The limits of a single process. Times are milliseconds of any monotonic clock."""

    _taken_until: dict[tuple[str, str], float] = field(default_factory=dict)
    _leases: dict[str, set[str]] = field(default_factory=dict)

    def admit(self, subject: str, demands: Sequence[Demand], now_ms: float, *, slots: int | None = None) -> Verdict:
        """Admits a request if all its limits allow it now.

        Args:
            subject: The owner of the limits.
            demands: The amounts of the rates.
            now_ms: The time.
            slots: Limit for concurrent requests of this kind. Default: no limit.
        """
        leases = self._leases.setdefault(subject, set()) if slots is not None else set()
        starts = [max(self._taken_until.get((subject, demand.rate.name), 0.0), now_ms) for demand in demands]
        waits = [
            max(start + min(demand.cost_ms, demand.burst_ms) - demand.burst_ms - now_ms, 0.0)
            for demand, start in zip(demands, starts, strict=True)
        ]
        slot_wait_ms = SATURATED_WAIT_S * 1000 if slots is not None and len(leases) >= slots else 0.0
        lease = None
        if not any(waits) and not slot_wait_ms:
            for index, demand in enumerate(demands):
                starts[index] += demand.cost_ms
                self._taken_until[subject, demand.rate.name] = starts[index]
            if slots is not None:
                lease = uuid4().hex
                leases.add(lease)
        self._forget_past(now_ms)
        return Verdict(
            rates=tuple(
                RateState(rate=demand.rate, wait_ms=wait, backlog_ms=start - now_ms)
                for demand, wait, start in zip(demands, waits, starts, strict=True)
            ),
            slot_wait_ms=slot_wait_ms,
            free_slots=0 if slots is None else max(0, slots - len(leases)),
            lease=lease,
        )

    def release(self, subject: str, lease: str) -> None:
        """Releases a slot."""
        leases = self._leases.get(subject, set())
        leases.discard(lease)
        if not leases:
            self._leases.pop(subject, None)

    def _forget_past(self, now_ms: float) -> None:
        if len(self._taken_until) > _MOST_KEPT:
            self._taken_until = {key: until for key, until in self._taken_until.items() if until > now_ms}


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
