"""Whose record is started next: tenants share the slots of a worker by weight."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from streams.delivery.entry import Entry, Status

R = TypeVar("R")


@dataclass(slots=True)
class _Tenant(Generic[R]):
    ready: deque[Entry[R]] = field(default_factory=deque)
    is_on_hold: bool = False
    running: int = 0
    virtual_time: float = 0.0
    weight: float = 1.0


class FairQueue(Generic[R]):
    """Records that are ready, and the slots that they run in: start-time fair queueing over the time that tenants' work took.

    No tenant holds more than its share of the slots, so that another's record finds one free.

    Args:
        slots: How many records may run at once.
        tenant_share: The part of the slots that one tenant may hold, in (0, 1]; at least one slot.
        weight_of: A tenant's weight.
    """

    def __init__(self, *, slots: int, tenant_share: float, weight_of: Callable[[str], float]) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, got {slots}")
        if not 0 < tenant_share <= 1:
            raise ValueError(f"tenant_share must lie in (0, 1], got {tenant_share}")
        self.slots = slots
        self._tenant_slots = max(1, int(slots * tenant_share))
        self._weight_of = weight_of
        self._tenants: dict[str, _Tenant[R]] = {}
        self._in_line: dict[str, _Tenant[R]] = {}
        """Those with a record that is ready: of all that ever came, only these are looked at for each start."""
        self._clock = 0.0
        self.running = 0

    def join(self, entry: Entry[R]) -> None:
        """Puts a record at the end of its tenant's."""
        tenant = self._tenants.get(entry.tenant)
        if tenant is None:
            tenant = self._tenants[entry.tenant] = _Tenant()
        tenant.weight = self._weight_of(entry.tenant)
        if not tenant.ready and not tenant.running:
            tenant.virtual_time = max(tenant.virtual_time, self._clock)
        tenant.ready.append(entry)
        entry.is_ready = True
        self._in_line[entry.tenant] = tenant

    def leave(self, entry: Entry[R]) -> None:
        """Takes a record out, if it is in line."""
        if entry.is_ready:
            tenant = self._tenants[entry.tenant]
            tenant.ready.remove(entry)
            self._left(entry, tenant)

    def clear(self) -> None:
        """Takes all records out; those that run go on."""
        for tenant in self._in_line.values():
            for entry in tenant.ready:
                entry.is_ready = False
            tenant.ready.clear()
        self._in_line.clear()

    def start(self, now: float) -> Entry[R] | None:
        """The record that runs next, from ``now`` on; None if no slot is free or none is ready."""
        if self.running >= self.slots:
            return None
        best: _Tenant[R] | None = None
        for each in self._in_line.values():
            if each.is_on_hold or each.running >= self._tenant_slots:
                continue
            if best is None or each.virtual_time < best.virtual_time:
                best = each
        if best is None:
            return None
        entry = best.ready.popleft()
        self._left(entry, best)
        entry.status = Status.RUNNING
        entry.started = now
        best.running += 1
        self.running += 1
        self._clock = max(self._clock, best.virtual_time)
        return entry

    def free_slot(self, entry: Entry[R], now: float) -> None:
        """A record runs no more."""
        tenant = self._tenants[entry.tenant]
        tenant.running -= 1
        tenant.virtual_time += max(now - entry.started, 1e-6) / tenant.weight
        self.running -= 1

    def hold(self, tenant: str) -> None:
        """Starts none of a tenant's records until it is released; those that run go on."""
        self._tenants[tenant].is_on_hold = True

    def release(self, tenant: str) -> None:
        """Starts a tenant's records again. It has no claim to what others got meanwhile."""
        held = self._tenants[tenant]
        held.is_on_hold = False
        held.virtual_time = max(held.virtual_time, self._clock)

    def _left(self, entry: Entry[R], tenant: _Tenant[R]) -> None:
        entry.is_ready = False
        if not tenant.ready:
            del self._in_line[entry.tenant]
