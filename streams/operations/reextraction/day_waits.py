"""Tenants whose windows wait for the next day, because a re-extraction has used its share of their daily budget; noted in Redis."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

import orjson
from redis.asyncio import Redis

from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis import GuardedRedis
from runtime.redis_keys import KeyFamily

_log = logger(__name__)

_TTL_S: Final = 2 * 86400


@dataclass(frozen=True, slots=True)
class DayWait:
    """Why the windows of a tenant wait, and until when."""

    until: datetime
    """When they are tried again with the budget of a new day."""
    reason: str

    def as_json(self, tenant: str) -> dict[str, Any]:
        """The fields for an API, for ``--json`` and for the note."""
        return {"tenant": tenant, "until": self.until.isoformat(), "reason": self.reason}


class DayWaits:
    """The waits that a worker of a re-extraction knows of.

    Args:
        generation: The generation that it builds.
        redis: Shows them to other processes. Without it, only the log and the metric show them.
        on_changed: Called with the number of waiting tenants whenever it changes.
    """

    def __init__(self, generation: str, redis: GuardedRedis, on_changed: Callable[[int], None]) -> None:
        self._generation = generation
        self._redis = redis
        self._on_changed = on_changed
        self._waits: dict[str, DayWait] = {}
        on_changed(0)

    @property
    def known(self) -> Mapping[str, DayWait]:
        """The waits by tenant."""
        return self._waits

    async def begin(self, tenant: str, wait: DayWait) -> None:
        """Notes that a tenant's windows wait, and logs it once for each day."""
        before = self._waits.get(tenant)
        self._waits[tenant] = wait
        if before == wait:
            return
        if before is None or before.until != wait.until:
            _log.warning(
                "reextraction_waits_for_next_day",
                generation=self._generation,
                tenant=tenant,
                reason=wait.reason,
                until=wait.until.isoformat(),
            )
        self._on_changed(len(self._waits))
        await self._write(tenant, wait)

    async def end(self, tenant: str) -> None:
        """Notes that a tenant's windows go on."""
        if self._waits.pop(tenant, None) is not None:
            _log.info("reextraction_goes_on", generation=self._generation, tenant=tenant)
            self._on_changed(len(self._waits))
            await self._write(tenant, None)

    async def _write(self, tenant: str, wait: DayWait | None) -> None:
        key = _key(self._redis, self._generation)

        async def write(client: Redis) -> None:
            async with client.pipeline() as pipe:
                if wait is None:
                    pipe.hdel(key, tenant)
                else:
                    pipe.hset(key, tenant, orjson.dumps(wait.as_json(tenant)))
                    pipe.expire(key, _TTL_S)
                await pipe.execute()

        with suppress(RedisUnavailableError):  # without a note, the log and the metric still show it
            await self._redis.run("noting a wait for a budget", write)


async def read_waits(redis: GuardedRedis, generation: str, now: datetime) -> dict[str, DayWait]:
    """The waits of a re-extraction's workers that have not ended, by tenant.

    Args:
        redis: Has the notes.
        generation: The generation that it builds.
        now: The time.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    key = _key(redis, generation)

    async def read(client: Redis) -> dict[bytes, bytes]:
        return cast(dict[bytes, bytes], await client.hgetall(key))

    found: dict[str, DayWait] = {}
    for value in (await redis.run("reading waits for a budget", read)).values():
        fields = orjson.loads(value)
        wait = DayWait(datetime.fromisoformat(fields["until"]), fields["reason"])
        if wait.until > now:
            found[fields["tenant"]] = wait
    return dict(sorted(found.items()))


async def forget_waits(redis: GuardedRedis, generation: str) -> None:
    """Deletes the notes of a re-extraction.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    await redis.unlink("deleting waits for a budget", [_key(redis, generation)])


def _key(redis: GuardedRedis, generation: str) -> str:
    return redis.key(KeyFamily.LLM_REEXTRACTION_WAITS, generation)
