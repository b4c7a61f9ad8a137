"""Slots of a worker: tenants' records share them by weight."""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from runtime.fair_queue import FairQueue
from streams.engine.keyed.pending_record import PendingRecord, Status

R = TypeVar("R")

_SLOTS_PER_RESERVED: Final = 8
_FEWEST_SLOTS: Final = 4
"""With fewer slots, none is reserved."""
_LEAST_COST_S: Final = 1e-6
"""Minimum cost of an attempt, so that no tenant runs for free when the clock does not advance."""


class TenantSlots(Generic[R]):
    """Queued records and the slots that they run in, with fair queueing over the time that tenants' records took.

    No tenant occupies more than its share of the slots, and the last free ones start only records of tenants that occupy none. So a tenant
    finds a free slot although the calls of two others hang.

    Args:
        slots: Number of records that may run at once.
        tenant_share: Part of the slots that one tenant may occupy, in (0, 1]; at least one slot. 1: no slot is reserved, either.
        weight_of: A tenant's weight.
    """

    def __init__(self, *, slots: int, tenant_share: float, weight_of: Callable[[str], float]) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, got {slots}")
        if not 0 < tenant_share <= 1:
            raise ValueError(f"tenant_share must be in (0, 1], got {tenant_share}")
        self.slots = slots
        self.running = 0
        self._tenant_slots = max(1, int(slots * tenant_share))
        reserves = tenant_share < 1 and slots >= _FEWEST_SLOTS
        self._reserved = max(1, slots // _SLOTS_PER_RESERVED) if reserves else 0
        self._weight_of = weight_of
        self._queue: FairQueue[str, PendingRecord[R]] = FairQueue()
        self._paused: set[str] = set()

    def enqueue(self, entry: PendingRecord[R]) -> None:
        """Appends a record to its tenant's queue."""
        self._queue.add(entry.tenant, entry, weight=self._weight_of(entry.tenant))
        entry.is_queued = True

    def remove(self, entry: PendingRecord[R]) -> None:
        """Removes a record, if it is queued."""
        if entry.is_queued:
            entry.is_queued = False
            self._queue.remove(entry.tenant, entry)

    def clear(self) -> None:
        """Removes all queued records. Running records continue."""
        for entry in self._queue.clear():
            entry.is_queued = False

    def start_next(self, now: float) -> PendingRecord[R] | None:
        """The record that runs next, from ``now`` on; None if no slot is free or no record may start."""
        tenant = self._queue.first(self._may_start) if self.running < self.slots else None
        if tenant is None:
            return None
        entry = self._queue.waiting(tenant)[0]
        self._queue.start(tenant, entry)
        entry.is_queued = False
        entry.status = Status.RUNNING
        entry.started_at = now
        self.running += 1
        return entry

    def release(self, entry: PendingRecord[R], now: float) -> None:
        """Frees the slot of a record that no longer runs."""
        self._queue.charge(entry.tenant, max(now - entry.started_at, _LEAST_COST_S))
        self._queue.end(entry.tenant)
        self.running -= 1

    def pause_tenant(self, tenant: str) -> None:
        """Starts none of a tenant's records until it is resumed. Running records continue."""
        self._paused.add(tenant)

    def is_paused(self, tenant: str) -> bool:
        """Whether a tenant is paused."""
        return tenant in self._paused

    def resume_tenant(self, tenant: str) -> None:
        """Starts a tenant's records again. It is not compensated for the time that it was paused."""
        self._paused.discard(tenant)
        self._queue.catch_up(tenant)

    def _may_start(self, tenant: str) -> bool:
        if tenant in self._paused:
            return False
        own = self._queue.running(tenant)
        return not own or (own < self._tenant_slots and self.slots - self.running > self._reserved)
