"""The turns at one endpoint, shared by all workers through Redis; kept by each process alone while Redis is away."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from models.errors import TransientModelError
from models.llm.limits import FULL_HOUSE_WAIT_S, WINDOW_S, Limits, LocalLimits
from runtime.errors import RedisUnavailableError
from runtime.redis import GuardedRedis

_SHORTEST_POLL_S: Final = 0.02
_LONGEST_POLL_S: Final = 0.25

# Redis's own clock counts, so that workers' clocks need not agree. The rules are those of LocalLimits.
_ACQUIRE: Final = """
local time = redis.call('TIME')
local second = tonumber(time[1])
local now = second * 1000 + math.floor(tonumber(time[2]) / 1000)
local leases, counts, pause = KEYS[1], KEYS[2], KEYS[3]
local member, lease_ms, concurrency = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local requests_limit, tokens_limit, tokens, window = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

local paused = redis.call('PTTL', pause)
if paused > 0 then return {paused, second} end
redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
if redis.call('ZCARD', leases) >= concurrency then return {tonumber(ARGV[8]), second} end

local flat = redis.call('HGETALL', counts)
local seconds, per_second, requests_over, tokens_over = {}, {}, 1 - requests_limit, tokens - tokens_limit
for place = 1, #flat, 2 do
  local kind, at = string.match(flat[place], '^(%a):(%d+)$')
  at = tonumber(at)
  if at < second - window then
    redis.call('HDEL', counts, flat[place])
  else
    if not per_second[at] then
      per_second[at] = {r = 0, t = 0}
      table.insert(seconds, at)
    end
    per_second[at][kind] = tonumber(flat[place + 1])
    if kind == 'r' then requests_over = requests_over + tonumber(flat[place + 1])
    else tokens_over = tokens_over + tonumber(flat[place + 1]) end
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

redis.call('ZADD', leases, now + lease_ms, member)
redis.call('PEXPIRE', leases, lease_ms * 2)
redis.call('HINCRBY', counts, 'r:' .. second, 1)
redis.call('HINCRBY', counts, 't:' .. second, tokens)
redis.call('EXPIRE', counts, window * 2)
return {0, second}
"""

_RENEW: Final = """
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], 'XX', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) * 2)
return 1
"""

_RELEASE: Final = """
redis.call('ZREM', KEYS[1], ARGV[1])
if tonumber(ARGV[3]) ~= 0 and redis.call('HEXISTS', KEYS[2], 't:' .. ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[2], 't:' .. ARGV[2], ARGV[3])
end
return 1
"""


@dataclass(slots=True)
class Lease:
    """A place at the endpoint, held for one call."""

    member: str
    reserved: int
    """The most tokens that the call may use up."""
    second: int = 0
    """When it was taken, on the clock of whoever keeps it."""
    shared: bool = True
    """Kept by Redis; else by this process."""
    used: int | None = None
    """Tokens that the call used up, once known: corrects what was reserved."""


class Limiter:
    """Gives turns at one endpoint, first come first served within a process.

    A turn in Redis is a lease that is renewed while the call runs, so a worker that is killed gives it back by silence. While Redis is
    away, each process keeps the limits by itself: together they may then ask up to as many times more as there are workers.
    """

    def __init__(self, *, endpoint: str, limits: Limits, redis: GuardedRedis, queue_timeout_s: float, lease_s: float) -> None:
        """Nobody holds a turn yet.

        Args:
            endpoint: The endpoint's name, the same in every worker.
            limits: What it allows.
            redis: Shared by all workers.
            queue_timeout_s: How long a call waits for its turn, in seconds.
            lease_s: How long a turn outlives its worker, in seconds.
        """
        self._endpoint = endpoint
        self._limits = limits
        self._redis = redis
        self._queue_timeout_s = queue_timeout_s
        self._lease_ms = int(lease_s * 1000)
        self._local = LocalLimits(limits)
        self._paused_until = 0.0
        self._queue = asyncio.Lock()
        self._released = asyncio.Event()
        self._keys = [redis.key("llm", "limits", f"{{{endpoint}}}", each) for each in ("leases", "counts", "pause")]
        self._returning: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[Lease]:
        """Waits for a turn and holds it.

        Args:
            tokens: The most that the call may use up; put what it did use up into ``used`` before leaving.

        Raises:
            TransientModelError: If none came free in time.
        """
        turn = await self._wait_for_turn(tokens)
        renewal = asyncio.create_task(self._keep_renewed(turn)) if turn.shared else None
        try:
            yield turn
        finally:
            if renewal is not None:
                renewal.cancel()
            await asyncio.shield(self._later(self._release(turn)))

    async def pause(self, seconds: float) -> None:
        """Gives no turn for so long, in any worker: what the endpoint asked for with ``Retry-After``."""
        self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + seconds)
        with suppress(RedisUnavailableError):
            await self._redis.run("pausing an endpoint", lambda client: client.set(self._keys[2], "1", px=max(1, int(seconds * 1000))))

    async def close(self) -> None:
        """Waits until turns just given back are so in Redis, too."""
        await asyncio.gather(*self._returning)
        await self._redis.drain()

    async def _wait_for_turn(self, tokens: int) -> Lease:
        deadline = asyncio.get_running_loop().time() + self._queue_timeout_s
        wait = 0.0
        try:
            async with asyncio.timeout_at(deadline), self._queue:
                poll = _SHORTEST_POLL_S
                while True:
                    self._released.clear()
                    turn, wait = await self._try_to_take(tokens)
                    if turn is not None:
                        return turn
                    if asyncio.get_running_loop().time() + wait > deadline and wait > FULL_HOUSE_WAIT_S:
                        raise TimeoutError
                    with suppress(TimeoutError):
                        async with asyncio.timeout(min(wait, poll) * random.uniform(0.7, 1.0)):
                            await self._released.wait()
                    poll = min(2 * poll, _LONGEST_POLL_S)
        except TimeoutError as error:
            raise TransientModelError(
                f"{self._endpoint} has no turn to give within {self._queue_timeout_s:g} s (concurrency and rate limits)",
                retry_after=wait or None,
            ) from error

    async def _try_to_take(self, tokens: int) -> tuple[Lease | None, float]:
        reserved = tokens if self._limits.tokens_per_minute is None else min(tokens, self._limits.tokens_per_minute)
        turn = Lease(uuid.uuid4().hex, reserved)
        taking = asyncio.create_task(self._take(turn))
        try:
            wait = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # It may be given all the same: hand it back rather than let it lapse.
            self._later(self._hand_back(turn, taking))
            raise
        return (turn, 0.0) if wait == 0 else (None, wait)

    async def _take(self, turn: Lease) -> float:
        """Takes a turn if there is one. Returns 0, or the seconds after which to ask again."""
        limits = [self._limits.requests_per_minute or -1, self._limits.tokens_per_minute or -1]
        places: list[str | float] = [turn.member, self._lease_ms, self._limits.concurrency]
        try:
            wait_ms, second = await self._redis.script(
                "taking a turn", _ACQUIRE, self._keys, *places, *limits, turn.reserved, WINDOW_S, FULL_HOUSE_WAIT_S * 1000
            )
        except RedisUnavailableError:
            now = asyncio.get_running_loop().time()
            turn.second, turn.shared = int(now), False
            return max(0.0, self._paused_until - now) or self._local.acquire(turn.member, turn.reserved, now)
        turn.second, turn.shared = int(second), True
        return int(wait_ms) / 1000

    async def _hand_back(self, turn: Lease, taking: asyncio.Task[float]) -> None:
        if await taking == 0:
            turn.used = 0
            await self._release(turn)

    async def _keep_renewed(self, turn: Lease) -> None:
        while True:
            await asyncio.sleep(self._lease_ms / 3000)
            with suppress(RedisUnavailableError):
                await self._redis.script("renewing a turn", _RENEW, self._keys[:1], turn.member, self._lease_ms)

    def _later(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)
        return task

    async def _release(self, turn: Lease) -> None:
        used = turn.reserved if turn.used is None else turn.used
        if turn.shared:
            with suppress(RedisUnavailableError):
                await self._redis.script("giving a turn back", _RELEASE, self._keys[:2], turn.member, turn.second, used - turn.reserved)
        else:
            self._local.settle(turn.second, turn.reserved, used)
            self._local.release(turn.member)
        self._released.set()
