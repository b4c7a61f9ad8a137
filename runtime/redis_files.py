"""Has Redis rewrite its files without deleted values: an append-only file and a snapshot keep them until their next rewrite."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from redis.asyncio import Redis

from runtime.errors import RedisUnavailableError
from runtime.redis import GuardedRedis

_POLL_S: Final = 0.2
_PATIENCE_S: Final = 120.0

_APPEND_ONLY: Final = "Redis' append-only file keeps deleted values until its next rewrite"
_SNAPSHOT: Final = "Redis' snapshot file (RDB) keeps deleted values until the next snapshot"


async def rewrite_files(redis: GuardedRedis, *, patience_s: float = _PATIENCE_S) -> tuple[str, ...]:
    """Has Redis rewrite the files that it keeps, and waits until they are written. Redis serves commands meanwhile.

    Args:
        redis: The server; in a cluster the node that answers.
        patience_s: How long each rewrite may take, in seconds.

    Returns:
        What Redis' files keep, in words, where it does not allow a rewrite or did not end it in time; empty: nothing older.
    """
    kept: list[str] = []
    try:
        has_append_only = bool((await _persistence(redis))["aof_enabled"])
    except (RedisUnavailableError, KeyError) as error:
        return (f"{_APPEND_ONLY}, and a snapshot until the next one, where Redis has them: it does not tell ({error})",)
    if has_append_only and (problem := await _rewritten(redis, lambda client: client.bgrewriteaof(), "aof_rewrite", patience_s)):
        kept.append(f"{_APPEND_ONLY}: {problem}")
    try:
        has_snapshots = await _takes_snapshots(redis)
    except RedisUnavailableError as error:
        kept.append(f"{_SNAPSHOT}, where it has one: Redis does not tell ({error})")
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
