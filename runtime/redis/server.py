"""Redis as a server: rewrites its files without deleted values, and watches its memory, evictions and refused writes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from redis.asyncio import Redis

from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis

_POLL_S: Final = 0.2
_PATIENCE_S: Final = 120.0

_APPEND_ONLY: Final = "Redis' append-only file keeps deleted values until its next rewrite"
_SNAPSHOT: Final = "Redis' snapshot file (RDB) keeps deleted values until the next snapshot"

_log = logger(__name__)

INTERVAL_S: Final = 10.0
REQUIRED_POLICY: Final = "noeviction"
"""The only ``maxmemory-policy`` under which Redis does not delete keys: budgets, tails and unfinished erasures are not a cache."""


async def rewrite_files(redis: GuardedRedis, *, patience_s: float = _PATIENCE_S) -> tuple[str, ...]:
    """Has Redis rewrite the files that it keeps, and waits until they are written. Redis serves commands meanwhile.

    Returns:
        What Redis' files keep, in words, where it does not allow a rewrite or did not end it in time; empty: nothing older.
    """
    kept: list[str] = []
    try:
        has_append_only = bool((await _persistence(redis))["aof_enabled"])
    except (RedisUnavailableError, KeyError) as error:
        return (f"{_APPEND_ONLY}, and a snapshot until the next one, if Redis writes them, which it does not report ({error})",)
    if has_append_only and (problem := await _rewritten(redis, lambda client: client.bgrewriteaof(), "aof_rewrite", patience_s)):
        kept.append(f"{_APPEND_ONLY}: {problem}")
    try:
        has_snapshots = await _takes_snapshots(redis)
    except RedisUnavailableError as error:
        kept.append(f"{_SNAPSHOT}, if Redis writes one, which it does not report ({error})")
    else:
        if has_snapshots and (problem := await _rewritten(redis, lambda client: client.bgsave(schedule=False), "rdb_bgsave", patience_s)):
            kept.append(f"{_SNAPSHOT}: {problem}")
    return tuple(kept)


async def _takes_snapshots(redis: GuardedRedis) -> bool:
    found = await redis.run("asking for Redis' snapshots", lambda client: client.config_get("save"))
    return bool(cast(dict[str, str], found).get("save"))


async def _rewritten(redis: GuardedRedis, command: Callable[[Redis], Awaitable[object]], what: str, patience_s: float) -> str | None:
    """Why a rewrite was not done; None: it was."""
    try:
        async with asyncio.timeout(patience_s):
            # One that is under way began before: what it writes may have the values still.
            await _ended(redis, what)
            await redis.run("asking Redis to rewrite it", command)
            status = await _ended(redis, what)
    except RedisUnavailableError as error:
        return str(error)
    except TimeoutError:
        return f"the rewrite was not done after {patience_s:g} s"
    return None if status == "ok" else f"the last rewrite ended with {status!r}"


async def _ended(redis: GuardedRedis, what: str) -> str:
    """Waits until no rewrite is under way or scheduled; returns how the last one ended."""
    while True:
        found = await _persistence(redis)
        if not found.get(f"{what}_in_progress") and not found.get(f"{what}_scheduled"):
            return str(found.get("aof_last_bgrewrite_status" if what == "aof_rewrite" else "rdb_last_bgsave_status"))
        await asyncio.sleep(_POLL_S)


async def _persistence(redis: GuardedRedis) -> dict[str, Any]:
    return await redis.run("asking Redis for its files", lambda client: client.info("persistence"))


class RedisWatch:
    """Reads Redis's memory figures, exports them as metrics, and logs a policy that deletes keys.

    Args:
        redis: The client. The watch sets whether keys were evicted.
        tries_writes: Whether the watch makes the trial write. False: a readiness probe does, and the watch reads its result.
    """

    def __init__(self, *, redis: GuardedRedis, metrics: Metrics, tries_writes: bool = True) -> None:
        self._redis = redis
        self._metrics = metrics
        self._tries_writes = tries_writes
        self._evicted_at_start: int | None = None
        self._policy = ""

    async def run(self) -> None:
        """Reads until it is cancelled."""
        while True:
            await self.read_once()
            await asyncio.sleep(INTERVAL_S)

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
