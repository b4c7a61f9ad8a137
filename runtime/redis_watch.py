"""Watches whether Redis keeps what Varve writes: memory, evictions, and refused writes."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.redis import GuardedRedis

_log = logger(__name__)

INTERVAL_S: Final = 10.0
REQUIRED_POLICY: Final = "noeviction"
"""The only ``maxmemory-policy`` under which Redis does not delete keys: budgets, tails and unfinished erasures are not a cache."""


class RedisWatch:
    """Reads Redis's memory figures, exports them as metrics, and logs a policy that deletes keys.

    Args:
        redis: The client. The watch sets whether keys were evicted.
        metrics: Receives the figures.
        interval_s: Seconds between two readings.
        tries_writes: Whether the watch makes the trial write. False: a readiness probe does, and the watch reads its result.
    """

    def __init__(self, *, redis: GuardedRedis, metrics: Metrics, interval_s: float = INTERVAL_S, tries_writes: bool = True) -> None:
        self._redis = redis
        self._metrics = metrics
        self._interval_s = interval_s
        self._tries_writes = tries_writes
        self._evicted_at_start: int | None = None
        self._policy = ""

    async def run(self) -> None:
        """Reads until it is cancelled."""
        while True:
            await self.read_once()
            await asyncio.sleep(self._interval_s)

    async def read_once(self) -> None:
        """Reads the figures once; does nothing while Redis is unavailable, which other checks report."""
        try:
            info: Mapping[str, Any] = await self._redis.run("reading Redis's memory figures", lambda client: client.info("everything"))
        except RedisUnavailableError:
            return
        if self._tries_writes:
            with suppress(RedisUnavailableError):
                await self._redis.check_writes()
        self._metrics.redis_refuses_writes.set(int(self._redis.refuses_writes))
        limit, policy, evicted = (
            int(info.get("maxmemory", 0)),
            str(info.get("maxmemory_policy", REQUIRED_POLICY)),
            int(info["evicted_keys"]),
        )
        self._metrics.redis_used_bytes.set(int(info["used_memory"]))
        self._metrics.redis_limit_bytes.set(limit)
        self._metrics.redis_evicted_keys.set(evicted)
        self._note_evictions(evicted)
        self._note_policy(policy if limit else REQUIRED_POLICY)

    def _note_evictions(self, evicted: int) -> None:
        if self._evicted_at_start is None or evicted < self._evicted_at_start:
            self._evicted_at_start = evicted
        if evicted > self._evicted_at_start and not self._redis.has_evicted:
            self._redis.has_evicted = True
            _log.error("redis_evicts_keys", evicted=evicted - self._evicted_at_start)

    def _note_policy(self, policy: str) -> None:
        if policy != REQUIRED_POLICY and policy != self._policy:
            _log.error("redis_policy_deletes_keys", maxmemory_policy=policy, required=REQUIRED_POLICY)
        self._policy = policy
