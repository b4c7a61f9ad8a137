"""Throttle for tenants whose records all have to wait, because a budget is used up."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any, Final

from runtime.logs import logger
from streams.engine.keyed.scheduler import Scheduler
from streams.errors import TransientError

_log = logger(__name__)

_MAXIMUM_PAUSE_S: Final = 5.0
"""Upper bound, because a smaller record may fit into the remaining budget, or the budget may be raised."""
_WARNING_INTERVAL_S: Final = 60.0


class TenantThrottle:
    """Pauses a tenant while one of its records waits: attempting a flood of them one by one would keep the worker busy without progress.

    Args:
        scheduler: Starts none of the tenant's records during a pause.
        on_resumed: Called when a tenant's records may start again.
        park_after_s: Parks the records of a tenant that has to wait longer.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler[Any],
        on_resumed: Callable[[], None],
        park_after_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._scheduler = scheduler
        self._on_resumed = on_resumed
        self._park_after_s = park_after_s
        self._clock = clock
        self._refused_since: dict[str, float] = {}
        self._parked: set[str] = set()
        self._paused: set[str] = set()
        self._warned_at: dict[str, float] = {}

    def parks(self, tenant: str) -> bool:
        """Whether to park a tenant's records without an attempt, until one of its parked records succeeds."""
        return tenant in self._parked

    def on_handled(self, tenant: str) -> None:
        """Records that one of the tenant's records succeeded."""
        self._refused_since.pop(tenant, None)
        self._parked.discard(tenant)

    def pause(self, tenant: str, failure: TransientError) -> bool:
        """Pauses a tenant for a few seconds at most, and logs it once a minute.

        Parks its records from then on if the wait is too long, according to the failure or to the time since the first refusal.

        Returns:
            Whether parking begins with this call.
        """
        self._scheduler.pause_tenant(tenant)
        now = self._clock()
        refused_for_s = now - self._refused_since.setdefault(tenant, now)
        begins = tenant not in self._parked and max(refused_for_s, failure.retry_after_s or 0.0) >= self._park_after_s
        if begins:
            self._parked.add(tenant)
        if tenant not in self._paused:
            self._pause(tenant, failure, now)
        return begins

    def _pause(self, tenant: str, failure: TransientError, now: float) -> None:
        self._paused.add(tenant)
        if now - self._warned_at.get(tenant, -math.inf) >= _WARNING_INTERVAL_S:
            self._warned_at[tenant] = now
            _log.warning("tenant_paused", tenant=tenant, error=str(failure))
        pause_s = _MAXIMUM_PAUSE_S if failure.retry_after_s is None else min(failure.retry_after_s, _MAXIMUM_PAUSE_S)
        asyncio.get_running_loop().call_later(pause_s, self._resume, tenant)

    def _resume(self, tenant: str) -> None:
        self._paused.discard(tenant)
        self._scheduler.resume_tenant(tenant)
        self._on_resumed()
