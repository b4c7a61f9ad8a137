"""Leases for calls of one endpoint, shared by all workers through Redis. While Redis is unavailable, each process counts its own."""

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from models.errors import NotProcessedError
from models.llm.limits import SATURATED_WAIT_S, Lease, Limits, LocalLimits, SharedLimits
from runtime.background import run_in_background, start_renewal
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis

_INITIAL_POLL_INTERVAL_S: Final = 0.02
_MAXIMUM_POLL_INTERVAL_S: Final = 0.25


class Limiter:
    """Grants leases at one endpoint, first come, first served within a process.

    A lease in Redis is renewed while its call runs, so the lease of a killed worker expires. While Redis is unavailable, each process
    applies the limits only to its own calls, so that all workers together may exceed them.

    Args:
        lease_s: Time after which the lease of a killed worker expires, in seconds.
    """

    def __init__(self, *, endpoint: str, limits: Limits, redis: GuardedRedis, queue_timeout_s: float, lease_s: float) -> None:
        self._endpoint = endpoint
        self._limits = limits
        self._redis = redis
        self._queue_timeout_s = queue_timeout_s
        self._renewal_interval_s = lease_s / 3
        self._shared_limits = SharedLimits(endpoint=endpoint, limits=limits, redis=redis, lease_s=lease_s)
        self._local_limits = LocalLimits(limits)
        self._queue = asyncio.Lock()
        self._released = asyncio.Event()
        self._releases: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def lease(self, tokens: int) -> AsyncIterator[Lease]:
        """Waits for a lease and holds it.

        Args:
            tokens: The most tokens that the call may use; set ``used`` to what it did use before leaving.

        Raises:
            NotProcessedError: If no lease was granted in time.
        """
        lease = await self._acquire(tokens)
        renewal = start_renewal("lease-renewal", lambda: self._keep_renewed(lease)) if lease.is_shared else None
        try:
            yield lease
        finally:
            if renewal is not None:
                renewal.cancel()
            await asyncio.shield(self._in_background(self._release(lease)))

    async def pause(self, seconds: float) -> None:
        """Pauses the endpoint for all workers, as the endpoint requested with ``Retry-After``."""
        self._local_limits.pause(until=asyncio.get_running_loop().time() + seconds)
        with suppress(RedisUnavailableError):
            await self._shared_limits.pause(seconds)

    async def close(self) -> None:
        """Waits until Redis has recorded the leases just released."""
        await asyncio.gather(*self._releases)
        await self._redis.drain()

    async def _acquire(self, tokens: int) -> Lease:
        deadline = asyncio.get_running_loop().time() + self._queue_timeout_s
        wait = 0.0
        try:
            async with asyncio.timeout_at(deadline), self._queue:
                poll_interval = _INITIAL_POLL_INTERVAL_S
                while True:
                    self._released.clear()
                    lease, wait = await self._try_acquire(tokens)
                    if lease is not None:
                        return lease
                    if asyncio.get_running_loop().time() + wait > deadline and wait > SATURATED_WAIT_S:
                        raise TimeoutError
                    with suppress(TimeoutError):
                        async with asyncio.timeout(min(wait, poll_interval) * random.uniform(0.7, 1.0)):
                            await self._released.wait()
                    poll_interval = min(2 * poll_interval, _MAXIMUM_POLL_INTERVAL_S)
        except TimeoutError as error:
            raise NotProcessedError(
                f"{self._endpoint} has no free lease within {self._queue_timeout_s:g} s (concurrency and rate limits)",
                retry_after_s=wait or None,
            ) from error

    async def _try_acquire(self, tokens: int) -> tuple[Lease | None, float]:
        lease = self._limits.lease(tokens)
        acquiring = asyncio.create_task(self._acquire_once(lease))
        try:
            wait = await asyncio.shield(acquiring)
        except asyncio.CancelledError:
            # It may still be granted: release it rather than let it expire.
            self._in_background(self._release_if_granted(lease, acquiring))
            raise
        return (lease, 0.0) if wait == 0 else (None, wait)

    async def _acquire_once(self, lease: Lease) -> float:
        """Returns 0 if the lease is granted, otherwise the seconds after which to ask again."""
        try:
            return await self._shared_limits.acquire(lease)
        except RedisUnavailableError:
            return self._local_limits.acquire(lease, asyncio.get_running_loop().time())

    async def _release_if_granted(self, lease: Lease, acquiring: asyncio.Task[float]) -> None:
        if await acquiring == 0:
            lease.used = 0
            await self._release(lease)

    async def _keep_renewed(self, lease: Lease) -> None:
        while True:
            await asyncio.sleep(self._renewal_interval_s)
            with suppress(RedisUnavailableError):
                await self._shared_limits.renew(lease)

    def _in_background(self, release: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = run_in_background("lease-release", release)
        self._releases.add(task)
        task.add_done_callback(self._releases.discard)
        return task

    async def _release(self, lease: Lease) -> None:
        if lease.is_shared:
            with suppress(RedisUnavailableError):
                await self._shared_limits.release(lease)
        else:
            self._local_limits.release(lease)
        self._released.set()
