"""Admission of reads: tenants share the number of reads that the service runs at once. No I/O; the caller passes the time."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from runtime.fair_queue import FairQueue

ACTIVE_S: Final = 2.0
"""Time after its last read during which a tenant counts as active, so that the share of the others does not grow between two reads."""
LARGE_UNITS: Final = 3
"""Units of a large read: it works in pieces for tens of milliseconds."""


class TicketState(StrEnum):
    """State of a read."""

    QUEUED = "queued"
    RUNNING = "running"
    REFUSED = "refused"
    """The queue was full."""
    DONE = "done"
    """It ran, or was removed from the queue."""


@dataclass(slots=True, eq=False)
class Ticket:
    """One read, compared by identity."""

    tenant: str
    units: int
    is_large: bool = False
    """Whether small reads go first."""
    state: TicketState = TicketState.QUEUED


@dataclass(slots=True)
class _Usage:
    """Running reads of a tenant, or of all."""

    running: int = 0
    units: int = 0
    small: int = 0
    """Number of running reads that are not large."""
    seen_at: float = 0.0

    def add(self, ticket: Ticket, step: int) -> None:
        """Counts a read that starts (``step`` 1) or ends (``step`` -1)."""
        self.running += step
        self.units += step * ticket.units
        self.small += step * (not ticket.is_large)


class FairAdmission:
    """Admits reads up to a number of units at once. The others wait in bounded queues, one per tenant, and start by fair queueing.

    While other tenants are active, the running reads of one tenant take at most its share, so that others seldom have to wait. A
    tenant may always run one read.

    Args:
        units: Units of all reads that run at once. A read counts for at most half of them, so that one read never blocks all others.
        tenant_share: Part of the units that one tenant may use while others are active, in (0, 1].
        max_queued: Maximum number of waiting reads.
        max_queued_of_tenant: Maximum number of waiting reads of one tenant.
    """

    def __init__(self, *, units: int, tenant_share: float, max_queued: int, max_queued_of_tenant: int) -> None:
        if min(units, max_queued, max_queued_of_tenant) < 1:
            raise ValueError(
                f"units, max_queued and max_queued_of_tenant must be at least 1, got {units}, {max_queued} and {max_queued_of_tenant}"
            )
        if not 0 < tenant_share <= 1:
            raise ValueError(f"tenant_share must be in (0, 1], got {tenant_share}")
        self._units = units
        self._largest = max(1, units // 2)
        self._share = max(1, int(units * tenant_share))
        self._max_queued = max_queued
        self._max_queued_of_tenant = max_queued_of_tenant
        self._queue: FairQueue[str, Ticket] = FairQueue()
        self._active: dict[str, _Usage] = {}
        """Active tenants; the tenant with the latest read is the last."""
        self._all = _Usage()
        self._queued = 0

    @property
    def running(self) -> int:
        """Number of running reads."""
        return self._all.running

    @property
    def units(self) -> int:
        """Units of the running reads."""
        return self._all.units

    @property
    def queued(self) -> int:
        """Number of waiting reads."""
        return self._queued

    def request(self, tenant: str, *, units: int, weight: float, now: float) -> Ticket:
        """Queues a read, or refuses it. Call :meth:`start_next` to see whether it may start at once.

        Args:
            tenant: The tenant that reads.
            units: The read's units, at least 1.
            weight: The tenant's weight, above 0.
            now: Seconds on a monotonic clock.
        """
        self._seen(tenant, now)
        ticket = Ticket(tenant, min(max(1, units), self._largest), is_large=units >= LARGE_UNITS)
        if self.is_full_for(tenant):
            ticket.state = TicketState.REFUSED
            return ticket
        self._queue.add(tenant, ticket, weight=weight)
        self._queued += 1
        return ticket

    def is_full_for(self, tenant: str) -> bool:
        """Whether a read of the tenant would be refused now."""
        return self._queued >= self._max_queued or len(self._queue.waiting(tenant)) >= self._max_queued_of_tenant

    def start_next(self, now: float) -> Ticket | None:
        """The read that starts now; None if none may. Call it again until it returns None.

        Args:
            now: Seconds on a monotonic clock.
        """
        self._forget_inactive(now)
        tenant = self._queue.first(self._is_within_share)
        if tenant is None:
            return None
        ticket = self._queue.waiting(tenant)[0]
        if self.running and self.units + ticket.units > self._units:
            # The read is next. If smaller reads of others could take the free units again and again, it would never start.
            return None
        self._queue.start(tenant, ticket)
        self._queue.charge(tenant, ticket.units)
        self._queued -= 1
        self._count(ticket, 1)
        ticket.state = TicketState.RUNNING
        return ticket

    def end(self, ticket: Ticket, now: float) -> None:
        """Ends a running read, or removes a waiting one. Idempotent.

        Args:
            ticket: The read.
            now: Seconds on a monotonic clock.
        """
        if ticket.state is TicketState.QUEUED:
            self._seen(ticket.tenant, now)
            self._queue.remove(ticket.tenant, ticket)
            self._queued -= 1
        elif ticket.state is TicketState.RUNNING:
            self._seen(ticket.tenant, now)
            self._queue.end(ticket.tenant)
            self._count(ticket, -1)
        ticket.state = TicketState.DONE

    def gives_way(self, ticket: Ticket) -> bool:
        """Whether a running read should pause: it is large, and small reads of other tenants run, which would wait for its pieces."""
        return ticket.is_large and self._all.small > self._active[ticket.tenant].small

    def _is_within_share(self, tenant: str) -> bool:
        own = self._active[tenant]
        return not own.running or len(self._active) == 1 or own.units + self._queue.waiting(tenant)[0].units <= self._share

    def _count(self, ticket: Ticket, step: int) -> None:
        for usage in (self._all, self._active[ticket.tenant]):
            usage.add(ticket, step)

    def _seen(self, tenant: str, now: float) -> None:
        own = self._active[tenant] = self._active.pop(tenant) if tenant in self._active else _Usage()
        own.seen_at = now

    def _forget_inactive(self, now: float) -> None:
        inactive: list[str] = []
        for tenant, usage in self._active.items():
            if now - usage.seen_at < ACTIVE_S:
                break
            if not usage.running and not self._queue.waiting(tenant):
                inactive.append(tenant)
        for tenant in inactive:
            del self._active[tenant]
