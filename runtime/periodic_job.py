"""Periodic work that one of several processes does: the time of the last run is in Redis, with a lease for the run.

A run that fails, or whose process stops, is repeated after the lease. While Redis is unavailable, the job does not run.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from redis.asyncio import Redis

from memory.errors import VarveError
from runtime.background import start_renewal
from runtime.errors import RedisUnavailableError
from runtime.interruption import pause
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

_log = logger(__name__)

LEASE_S: Final = 120.0
_LONGEST_LOOK_S: Final = 60.0
_LOOKS_PER_INTERVAL: Final = 10

# A renewal that is on its way when the run ends must not shorten the interval.
_RENEW: Final = """
if redis.call('GET', KEYS[1]) == 'runs' then return redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 0
"""


class PeriodicJob:
    """One job.

    Args:
        name: Its name in Redis, and in logs.
        interval_s: Time between the beginnings of two runs.
        redis: Redis, which the processes share.
        work: One run. A VarveError ends it; it is repeated once the lease has ended.
    """

    def __init__(self, name: str, *, interval_s: float, redis: GuardedRedis, work: Callable[[], Awaitable[object]]) -> None:
        self._name = name
        self._interval_s = interval_s
        self._redis = redis
        self._work = work

    async def run(self) -> None:
        """Runs the job at its times until it is cancelled."""
        while True:
            try:
                await self.run_if_due()
            except RedisUnavailableError as error:
                _log.warning("job_not_run", job=self._name, error=str(error))
            await pause(min(_LONGEST_LOOK_S, self._interval_s / _LOOKS_PER_INTERVAL))

    async def run_if_due(self) -> bool:
        """Runs the job if no process has run it in the last interval.

        Returns:
            Whether it ran to its end.
        """
        lease_s = min(LEASE_S, self._interval_s)
        if not await self._redis.run("beginning a periodic job", lambda client: self._begin(client, lease_s)):
            return False
        renewing = start_renewal(f"{self._name}-renewing", lambda: self._renew(lease_s))
        try:
            await self._work()
        except VarveError as error:
            _log.error("job_failed", job=self._name, error=str(error))
            return False
        finally:
            renewing.cancel()
        await self._redis.run("ending a periodic job", self._end)
        return True

    async def _begin(self, client: Redis, lease_s: float) -> bool:
        return bool(await client.set(self._key, b"runs", nx=True, px=int(lease_s * 1000)))

    async def _renew(self, lease_s: float) -> None:
        while True:
            await pause(lease_s / 3)
            await self._redis.script("renewing a periodic job", _RENEW, [self._key], int(lease_s * 1000))

    async def _end(self, client: Redis) -> None:
        await client.set(self._key, b"done", px=int(self._interval_s * 1000))

    @property
    def _key(self) -> str:
        return self._redis.key(KeyFamily.JOBS, self._name)
