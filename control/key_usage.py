"""Times at which keys were last used, to the minute, in Redis: they show which keys are unused and can be revoked."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, cast

from redis.asyncio import Redis

from memory.keys import encode_key
from runtime.background import run_in_background
from runtime.errors import RedisUnavailableError
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

OPERATORS: Final = "#operators"
"""The owner of operators' keys. A percent-encoded tenant's name contains no ``#``."""

_APART_S: Final = 60.0
"""Minimum time between two records of a key's use by one process."""
_KEPT_S: Final = 400 * 86400
"""Lifetime after the last use of any of an owner's keys, so that data of removed tenants expires."""
_MOST_KEYS: Final = 100_000


def owner_of(tenant: str) -> str:
    """The owner of a tenant's keys."""
    return encode_key(tenant).decode("ascii")


class KeyUsage:
    """Records the last use of keys in the background.

    While Redis is unavailable, uses are kept in the process. If it ends meanwhile they are lost, and the stored times are too early.

    Args:
        monotonic: A monotonic clock, in seconds.
        wall: The wall clock, in seconds since the epoch.
    """

    def __init__(
        self, *, redis: GuardedRedis, monotonic: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time
    ) -> None:
        self._redis = redis
        self._monotonic = monotonic
        self._wall = wall
        self._noted: dict[tuple[str, str], float] = {}
        self._pending: dict[str, dict[str, int]] = {}
        self._writing: asyncio.Task[None] | None = None

    def note(self, owner: str, key_id: str) -> None:
        """Records that a key is used now. Costs a dictionary lookup, except once a minute."""
        now, name = self._monotonic(), (owner, key_id)
        noted = self._noted.get(name)
        if noted is not None and now - noted < _APART_S:
            return
        if len(self._noted) >= _MOST_KEYS:
            self._noted.clear()
        self._noted[name] = now
        self._pending.setdefault(owner, {})[key_id] = int(self._wall())
        if self._writing is None or self._writing.done():
            self._writing = run_in_background("key-uses", self._write())

    async def of(self, owner: str) -> dict[str, datetime]:
        """The time at which each key of an owner was last used, by key id; uses older than 400 days may be missing.

        Raises:
            RedisUnavailableError: If Redis is unavailable.
        """
        found = cast(dict[bytes, bytes], await self._redis.run("reading the uses of keys", lambda client: client.hgetall(self._key(owner))))
        return {key_id.decode("ascii"): datetime.fromtimestamp(int(used), UTC) for key_id, used in found.items()}

    async def close(self) -> None:
        """Waits until all uses are written, or Redis turns out to be unavailable."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        while self._pending:
            owner, uses = self._pending.popitem()
            try:
                await self._put(owner, uses)
            except RedisUnavailableError:
                # The next use retries. A use recorded meanwhile is the later one.
                self._pending[owner] = uses | self._pending.get(owner, {})
                return

    async def _put(self, owner: str, uses: dict[str, int]) -> None:
        key = self._key(owner)

        async def put(client: Redis) -> None:
            async with client.pipeline(transaction=True) as pipe:
                pipe.hset(key, mapping=uses)  # type: ignore[arg-type]
                pipe.expire(key, _KEPT_S)
                await pipe.execute()

        await self._redis.run("recording the uses of keys", put)

    def _key(self, owner: str) -> str:
        return self._redis.key(KeyFamily.USED, owner)
