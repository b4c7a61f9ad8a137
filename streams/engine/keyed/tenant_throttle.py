"""Tenants whose records all have to wait: a budget is used up."""

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
"""A smaller record of the tenant's may fit into what is left of its budget, or the budget may be raised."""
_WARNING_INTERVAL_S: Final = 60.0


class TenantThrottle:
    """Pauses a tenant for what one of its records waits for: tried one by one, a flood of them would keep the worker busy for nothing.

    Args:
        scheduler: Starts none of the tenant's records meanwhile.
        on_resumed: Called when a tenant's records may be started again.
        park_after_s: A tenant that has to wait for longer has its records parked.
        clock: Seconds that only grow.
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
        self._parking: set[str] = set()
        self._paused: set[str] = set()
        self._warned_at: dict[str, float] = {}

    def parks(self, tenant: str) -> bool:
        """Whether a tenant's records are parked untried, until one of those that were parked before gets through."""
        return tenant in self._parking

    def on_handled(self, tenant: str) -> None:
        """A record of the tenant got through."""
        self._refused_since.pop(tenant, None)
        self._parking.discard(tenant)

    def pause(self, tenant: str, failure: TransientError) -> bool:
        """Pauses a tenant for a few seconds at most, and logs it once a minute.

        Its records are parked from then on if what it waits for takes too long: by its own word, or by the time since it was first refused.

        Returns:
            Whether they are from now on, and were not before.
        """
        self._scheduler.pause_tenant(tenant)
        now = self._clock()
        refused_for_s = now - self._refused_since.setdefault(tenant, now)
        begins = tenant not in self._parking and max(refused_for_s, failure.retry_after or 0.0) >= self._park_after_s
        if begins:
            self._parking.add(tenant)
        if tenant not in self._paused:
            self._pause(tenant, failure, now)
        return begins

    def _pause(self, tenant: str, failure: TransientError, now: float) -> None:
        self._paused.add(tenant)
        if now - self._warned_at.get(tenant, -math.inf) >= _WARNING_INTERVAL_S:
            self._warned_at[tenant] = now
            _log.warning("tenant_paused", tenant=tenant, error=str(failure))
        pause_s = _MAXIMUM_PAUSE_S if failure.retry_after is None else min(failure.retry_after, _MAXIMUM_PAUSE_S)
        asyncio.get_running_loop().call_later(pause_s, self._resume, tenant)

    def _resume(self, tenant: str) -> None:
        self._paused.discard(tenant)
        self._scheduler.resume_tenant(tenant)
        self._on_resumed()
