"""Fair queue of records: tenants share the slots of a worker by weight."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from streams.engine.keyed.pending_record import PendingRecord, Status

R = TypeVar("R")

_LEAST_COST_S: Final = 1e-6
"""Minimum cost of an attempt, so that no tenant runs for free when the clock does not advance."""


@dataclass(slots=True)
class _Tenant(Generic[R]):
    queued: deque[PendingRecord[R]] = field(default_factory=deque)
    is_paused: bool = False
    running: int = 0
    virtual_time: float = 0.0
    weight: float = 1.0


class FairQueue(Generic[R]):
    """Queued records and the slots that they run in: start-time fair queueing over the time that tenants' records took.

    No tenant occupies more than its share of the slots, so other tenants' records find a free one.

    Args:
        slots: Number of records that may run at once.
        tenant_share: Part of the slots that one tenant may occupy, in (0, 1]; at least one slot.
        weight_of: A tenant's weight.
    """

    def __init__(self, *, slots: int, tenant_share: float, weight_of: Callable[[str], float]) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, got {slots}")
        if not 0 < tenant_share <= 1:
            raise ValueError(f"tenant_share must be in (0, 1], got {tenant_share}")
        self.slots = slots
        self._tenant_slots = max(1, int(slots * tenant_share))
        self._weight_of = weight_of
        self._tenants: dict[str, _Tenant[R]] = {}
        self._with_queued: dict[str, _Tenant[R]] = {}
        """Tenants with a queued record: each start looks only at these, not at every tenant ever seen."""
        self._virtual_time = 0.0
        self.running = 0

    def enqueue(self, entry: PendingRecord[R]) -> None:
        """Appends a record to its tenant's queue."""
        tenant = self._tenants.get(entry.tenant)
        if tenant is None:
            tenant = self._tenants[entry.tenant] = _Tenant()
        tenant.weight = self._weight_of(entry.tenant)
        if not tenant.queued and not tenant.running:
            tenant.virtual_time = max(tenant.virtual_time, self._virtual_time)
        tenant.queued.append(entry)
        entry.is_queued = True
        self._with_queued[entry.tenant] = tenant

    def remove(self, entry: PendingRecord[R]) -> None:
        """Removes a record, if it is queued."""
        if entry.is_queued:
            tenant = self._tenants[entry.tenant]
            tenant.queued.remove(entry)
            self._on_dequeued(entry, tenant)

    def clear(self) -> None:
        """Removes all queued records. Running records continue."""
        for tenant in self._with_queued.values():
            for entry in tenant.queued:
                entry.is_queued = False
            tenant.queued.clear()
        self._with_queued.clear()

    def start_next(self, now: float) -> PendingRecord[R] | None:
        """The record that runs next, from ``now`` on; None if no slot is free or no record may start."""
        if self.running >= self.slots:
            return None
        best: _Tenant[R] | None = None
        for each in self._with_queued.values():
            if each.is_paused or each.running >= self._tenant_slots:
                continue
            if best is None or each.virtual_time < best.virtual_time:
                best = each
        if best is None:
            return None
        entry = best.queued.popleft()
        self._on_dequeued(entry, best)
        entry.status = Status.RUNNING
        entry.started_at = now
        best.running += 1
        self.running += 1
        self._virtual_time = max(self._virtual_time, best.virtual_time)
        return entry

    def release_slot(self, entry: PendingRecord[R], now: float) -> None:
        """Frees the slot of a record that no longer runs."""
        tenant = self._tenants[entry.tenant]
        tenant.running -= 1
        tenant.virtual_time += max(now - entry.started_at, _LEAST_COST_S) / tenant.weight
        self.running -= 1

    def pause_tenant(self, tenant: str) -> None:
        """Starts none of a tenant's records until it is resumed. Running records continue."""
        self._tenants[tenant].is_paused = True

    def is_paused(self, tenant: str) -> bool:
        """Whether a tenant is paused."""
        paused = self._tenants.get(tenant)
        return paused is not None and paused.is_paused

    def resume_tenant(self, tenant: str) -> None:
        """Starts a tenant's records again. It is not compensated for the time that it was paused."""
        resumed = self._tenants[tenant]
        resumed.is_paused = False
        resumed.virtual_time = max(resumed.virtual_time, self._virtual_time)

    def _on_dequeued(self, entry: PendingRecord[R], tenant: _Tenant[R]) -> None:
        entry.is_queued = False
        if not tenant.queued:
            del self._with_queued[entry.tenant]
