"""Tenants whose records all have to wait: a budget is used up."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any, Final

from runtime.logs import logger
from streams.delivery.scheduler import Scheduler
from streams.errors import TransientError

_log = logger(__name__)

_LONGEST_S: Final = 5.0
"""A smaller record of the tenant's may fit into what is left of its budget, or the budget may be raised."""
_TELL_EVERY_S: Final = 60.0


class TenantThrottle:
    """What one record of a tenant has to wait for, all do: tried one by one, a flood of them would keep the worker busy for nothing.

    Args:
        scheduler: Starts none of the tenant's records meanwhile.
        go_on: Called when a tenant's records may be started again.
    """

    def __init__(self, *, scheduler: Scheduler[Any], go_on: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._go_on = go_on
        self._held: set[str] = set()
        self._told: dict[str, float] = {}

    def hold(self, tenant: str, why: TransientError) -> None:
        """Lets a tenant wait, a few seconds at a time, and says so once a minute."""
        self._scheduler.hold(tenant)
        if tenant in self._held:
            return
        self._held.add(tenant)
        now = time.monotonic()
        if now - self._told.get(tenant, -math.inf) >= _TELL_EVERY_S:
            self._told[tenant] = now
            _log.warning("a tenant's records wait", tenant=tenant, why=str(why))
        wait = _LONGEST_S if why.retry_after is None else min(why.retry_after, _LONGEST_S)
        asyncio.get_running_loop().call_later(wait, self._release, tenant)

    def _release(self, tenant: str) -> None:
        self._held.discard(tenant)
        self._scheduler.release(tenant)
        self._go_on()
