"""Tenants whose windows wait for the next day, because a re-extraction has used its share of their daily budget; noted in Redis."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

import orjson

from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

_log = logger(__name__)

RENEWAL_S: Final = 30.0
"""How often a worker renews its notes. It may try no call for hours, for example while it waits for live traffic."""
_TTL_S: Final = int(4 * RENEWAL_S)
"""How long a note outlives its last renewal, so that a note of a killed worker expires soon."""


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

    async def begin(self, tenant: str, wait: DayWait) -> None:
        """Notes that a tenant's windows wait, and logs it once for each day. Repeat it at least every :data:`RENEWAL_S`."""
        before = self._waits.get(tenant)
        self._waits[tenant] = wait
        if before is None or before.until != wait.until:
            _log.warning(
                "reextraction_waits_for_next_day",
                generation=self._generation,
                tenant=tenant,
                reason=wait.reason,
                until=wait.until.isoformat(),
            )
            self._on_changed(len(self._waits))
        note, key = orjson.dumps(wait.as_json(tenant)), _key(self._redis, self._generation, tenant)
        with suppress(RedisUnavailableError):  # without a note, the log and the metric still show it
            await self._redis.run("noting a wait for a budget", lambda client: client.set(key, note, ex=_TTL_S))

    async def end(self, tenant: str) -> None:
        """Notes that a tenant's windows continue."""
        if self._waits.pop(tenant, None) is not None:
            _log.info("reextraction_continues", generation=self._generation, tenant=tenant)
            self._on_changed(len(self._waits))
            with suppress(RedisUnavailableError):  # the note expires
                await self._redis.unlink("removing a wait for a budget", [_key(self._redis, self._generation, tenant)])


async def read_waits(redis: GuardedRedis, generation: str, tenants: Sequence[str], now: datetime) -> dict[str, DayWait]:
    """The waits of a re-extraction's workers, by tenant.

    Args:
        redis: Has the notes.
        generation: The generation that it builds.
        tenants: Its tenants.
        now: The time: a wait that is over is left out.

    Raises:
        RedisUnavailableError: If Redis is unavailable.
    """
    keys = [_key(redis, generation, each) for each in tenants]
    notes = cast(list[bytes | None], await redis.run("reading waits for a budget", lambda client: client.mget(keys)))
    found: dict[str, DayWait] = {}
    for tenant, note in zip(tenants, notes, strict=True):
        if note is not None:
            fields = orjson.loads(note)
            wait = DayWait(datetime.fromisoformat(fields["until"]), fields["reason"])
            if wait.until > now:
                found[tenant] = wait
    return found


def _key(redis: GuardedRedis, generation: str, tenant: str) -> str:
    return redis.key(KeyFamily.LLM_REEXTRACTION_WAITS, generation, tenant)
