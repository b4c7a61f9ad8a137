"""The limits of one endpoint: concurrent calls, requests and tokens per minute. One rule, kept in Redis or by one process alone."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily
from runtime.redis.lua import CLOCK, LEASES

WINDOW_S: Final = 60
SATURATED_WAIT_S: Final = 1
"""The wait while all leases are out: any call may end at any time, so it is only a guess."""

_NO_LIMIT: Final = -1

# The same rule as LocalLimits.acquire.
_ACQUIRE: Final = (
    CLOCK
    + LEASES
    + """
local leases, counts, pause = KEYS[1], KEYS[2], KEYS[3]
local now, lease, lease_ms = clock(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local concurrency, requests_limit, tokens_limit = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local tokens, window, saturated_ms = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local second = math.floor(now / 1000)

local paused_until = tonumber(redis.call('GET', pause) or '0')
if paused_until > now then return {paused_until - now, second} end
if leases_out(leases, now) >= concurrency then return {saturated_ms, second} end

local flat = redis.call('HGETALL', counts)
local seconds, per_second, requests_over, tokens_over = {}, {}, 1 - requests_limit, tokens - tokens_limit
for index = 1, #flat, 2 do
  local kind, at = string.match(flat[index], '^(%a):(%d+)$')
  at = tonumber(at)
  if at < second - window then
    redis.call('HDEL', counts, flat[index])
  else
    if not per_second[at] then
      per_second[at] = {r = 0, t = 0}
      table.insert(seconds, at)
    end
    per_second[at][kind] = tonumber(flat[index + 1])
    if kind == 'r' then requests_over = requests_over + tonumber(flat[index + 1])
    else tokens_over = tokens_over + tonumber(flat[index + 1]) end
  end
end
if requests_limit < 0 then requests_over = 0 end
if tokens_limit < 0 then tokens_over = 0 end
if requests_over > 0 or tokens_over > 0 then
  table.sort(seconds)
  for _, at in ipairs(seconds) do
    requests_over = requests_over - per_second[at].r
    tokens_over = tokens_over - per_second[at].t
    if requests_over <= 0 and tokens_over <= 0 then return {(at + window + 1) * 1000 - now, second} end
  end
  return {window * 1000, second}
end

take_lease(leases, now, lease, lease_ms)
redis.call('HINCRBY', counts, 'r:' .. second, 1)
redis.call('HINCRBY', counts, 't:' .. second, tokens)
redis.call('EXPIRE', counts, window * 2)
return {0, second}
"""
)

_RENEW: Final = (
    CLOCK
    + """
redis.call('ZADD', KEYS[1], 'XX', clock('') + tonumber(ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) * 2)
return 1
"""
)

_RELEASE: Final = """
redis.call('ZREM', KEYS[1], ARGV[1])
if tonumber(ARGV[3]) ~= 0 and redis.call('HEXISTS', KEYS[2], 't:' .. ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[2], 't:' .. ARGV[2], ARGV[3])
end
return 1
"""

# A shorter pause never ends a longer one. The key expires one window after the pause; its value decides.
_PAUSE: Final = (
    CLOCK
    + """
local until_ms = clock(ARGV[1]) + tonumber(ARGV[2])
if until_ms > tonumber(redis.call('GET', KEYS[1]) or '0') then
  redis.call('SET', KEYS[1], string.format('%.0f', until_ms), 'PX', tonumber(ARGV[2]) + tonumber(ARGV[3]) * 1000)
end
return 1
"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of an endpoint. Default: no limit.

    Requests and tokens are counted per second, and a call counts for the 60 whole seconds after its own, so no interval of 60 s exceeds
    the limit. A call larger than the whole token limit counts as the limit, or it could never run.
    """

    concurrency: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        for limit in (self.concurrency, self.requests_per_minute, self.tokens_per_minute):
            if limit is not None and limit < 1:
                raise ValueError(f"a limit of an endpoint is at least 1, got {self}")

    def lease(self, tokens: int) -> "Lease":
        """A lease to acquire for a call of at most so many tokens."""
        return Lease(id=uuid4().hex, reserved=self._counted(tokens))

    def correction(self, lease: "Lease") -> int:
        """The tokens to add to a call's count once its usage is known."""
        return 0 if lease.used is None else self._counted(lease.used) - lease.reserved

    def _counted(self, tokens: int) -> int:
        return tokens if self.tokens_per_minute is None else min(tokens, self.tokens_per_minute)


@dataclass(slots=True, kw_only=True)
class Lease:
    """The right to make one call."""

    id: str
    reserved: int
    """The tokens counted for the call while it runs."""
    second: int = 0
    """Time of acquisition, by the clock of the process or server that keeps the limits."""
    is_shared: bool = False
    """Kept by Redis; otherwise by this process."""
    used: int | None = None
    """Tokens that the call used, once known: corrects what was reserved."""


@dataclass(slots=True)
class _Second:
    requests: int = 0
    tokens: int = 0


class LocalLimits:
    """The limits as one process keeps them by itself. Time is a number of seconds on any steady clock."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._leases: set[str] = set()
        self._seconds: dict[int, _Second] = defaultdict(_Second)
        self._paused_until = float("-inf")

    def acquire(self, lease: Lease, now: float) -> float:
        """Acquires a lease if the limits allow it now. Returns 0, or the seconds after which to ask again."""
        lease.second, lease.is_shared = int(now), False
        if now < self._paused_until:
            return self._paused_until - now
        for old in [each for each in self._seconds if each < lease.second - WINDOW_S]:
            del self._seconds[old]
        if len(self._leases) >= self._limits.concurrency:
            return float(SATURATED_WAIT_S)
        wait = self._wait(lease.reserved, now)
        if wait == 0.0:
            self._leases.add(lease.id)
            self._seconds[lease.second].requests += 1
            self._seconds[lease.second].tokens += lease.reserved
        return wait

    def release(self, lease: Lease) -> None:
        """Returns a lease, and counts the tokens that its call used instead of those reserved."""
        self._leases.discard(lease.id)
        if lease.second in self._seconds:
            self._seconds[lease.second].tokens += self._limits.correction(lease)

    def pause(self, *, until: float) -> None:
        """Grants no lease before that time."""
        self._paused_until = max(self._paused_until, until)

    def _wait(self, tokens: int, now: float) -> float:
        requests_over = _excess(self._limits.requests_per_minute, sum(each.requests for each in self._seconds.values()) + 1)
        tokens_over = _excess(self._limits.tokens_per_minute, sum(each.tokens for each in self._seconds.values()) + tokens)
        if requests_over <= 0 and tokens_over <= 0:
            return 0.0
        for second, counted in sorted(self._seconds.items()):
            requests_over -= counted.requests
            tokens_over -= counted.tokens
            if requests_over <= 0 and tokens_over <= 0:
                return second + WINDOW_S + 1 - now
        return float(WINDOW_S)


class SharedLimits:
    """The limits as all workers keep them together in Redis. A lease that is not renewed expires: its worker was killed."""

    def __init__(self, *, endpoint: str, limits: Limits, redis: GuardedRedis, lease_s: float) -> None:
        if lease_s <= 0:
            raise ValueError(f"a lease lasts longer than 0 s, got {lease_s}")
        self._limits = limits
        self._redis = redis
        self._lease_ms = int(lease_s * 1000)
        self._leases, self._counts, self._pause = (
            redis.key(KeyFamily.LLM_LIMITS, f"{{{endpoint}}}", each) for each in ("leases", "counts", "pause")
        )

    async def acquire(self, lease: Lease, *, now_ms: int | None = None) -> float:
        """Acquires a lease if the limits allow it now.

        Returns:
            0, or the seconds after which to ask again.
        """
        requests, tokens = self._limits.requests_per_minute or _NO_LIMIT, self._limits.tokens_per_minute or _NO_LIMIT
        wait_ms, second = await self._redis.script(
            "acquiring a lease",
            _ACQUIRE,
            [self._leases, self._counts, self._pause],
            *(_argument(now_ms), lease.id, self._lease_ms),
            *(self._limits.concurrency, requests, tokens, lease.reserved, WINDOW_S, SATURATED_WAIT_S * 1000),
        )
        lease.second, lease.is_shared = int(second), True
        return int(wait_ms) / 1000

    async def renew(self, lease: Lease) -> None:
        """Keeps a lease from expiring."""
        await self._redis.script("renewing a lease", _RENEW, [self._leases], lease.id, self._lease_ms)

    async def release(self, lease: Lease) -> None:
        """Returns a lease, and counts the tokens that its call used instead of those reserved."""
        await self._redis.script(
            "releasing a lease", _RELEASE, [self._leases, self._counts], lease.id, lease.second, self._limits.correction(lease)
        )

    async def pause(self, seconds: float, *, now_ms: int | None = None) -> None:
        """Grants no lease to any worker for so long; the time is Redis's own unless given."""
        await self._redis.script("pausing an endpoint", _PAUSE, [self._pause], _argument(now_ms), max(1, int(seconds * 1000)), WINDOW_S)


def _excess(limit: int | None, count: int) -> int:
    return 0 if limit is None else count - limit


def _argument(now_ms: int | None) -> str | int:
    return "" if now_ms is None else now_ms
