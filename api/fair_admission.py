"""Whose read is started next, and whose is refused: tenants share what the service can do at once. No I/O, no clock of its own."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

ACTIVE_S: Final = 2.0
"""A tenant counts as active for so long after its last read, so that the share of the others does not grow back between two reads."""


LARGE_UNITS: Final = 3
"""A read of so many units is a large one: it works in pieces for tens of milliseconds."""


class TicketState(StrEnum):
    """What became of a read."""

    QUEUED = "queued"
    RUNNING = "running"
    REFUSED = "refused"
    """There was no room to wait in."""
    DONE = "done"
    """It ran, or was taken out of the queue."""


# Two reads may be equal in everything, and are two all the same.
@dataclass(slots=True, eq=False)
class Ticket:
    """One read."""

    tenant: str
    units: int
    is_large: bool = False
    """Whether it gives way to small ones."""
    state: TicketState = TicketState.QUEUED


@dataclass(slots=True)
class _Tenant:
    weight: float = 1.0
    queued: deque[Ticket] = field(default_factory=deque)
    running: int = 0
    small: int = 0
    """Of those that run, how many are not large."""
    units: int = 0
    """Of those that run."""
    virtual_time: float = 0.0
    seen_at: float = 0.0


class FairAdmission:
    """Admits reads up to a number of units at once; the others wait in bounded queues, one a tenant (start-time fair queueing).

    The tenant goes next that has had the fewest units for its weight. While other tenants are active, one tenant's running reads take no
    more than its share, so that another's seldom finds everything taken. A tenant always gets one read at a time.

    Args:
        units: What runs at once, in all. No read counts for more than half of it: one read never keeps everybody out.
        tenant_share: The part of it that one tenant may take while others are active, in (0, 1].
        max_queued: Most reads that wait, in all.
        max_queued_of_tenant: Most reads of one tenant that wait.

    Raises:
        ValueError: If a number is out of range.
    """

    def __init__(self, *, units: int, tenant_share: float, max_queued: int, max_queued_of_tenant: int) -> None:
        if min(units, max_queued, max_queued_of_tenant) < 1:
            raise ValueError(f"units and queues hold at least 1, got {units}, {max_queued} and {max_queued_of_tenant}")
        if not 0 < tenant_share <= 1:
            raise ValueError(f"tenant_share must lie in (0, 1], got {tenant_share}")
        self._units = units
        self._largest = max(1, units // 2)
        self._share = max(1, int(units * tenant_share))
        self._max_queued = max_queued
        self._max_queued_of_tenant = max_queued_of_tenant
        self._tenants: dict[str, _Tenant] = {}
        """The active ones, in the order in which they were seen last."""
        self._virtual_time = 0.0
        self._small = 0
        self.running = 0
        """Reads that run."""
        self.units = 0
        """Their units."""
        self.queued = 0
        """Reads that wait."""

    def request(self, tenant: str, *, units: int, weight: float, now: float) -> Ticket:
        """A read comes in. It is refused, or queued: ask :meth:`start_next` whether it may start at once.

        Args:
            tenant: Whose.
            units: What it takes, at least 1.
            weight: The tenant's, above 0.
            now: Seconds on a steady clock.
        """
        own = self._seen(tenant, now)
        own.weight = weight
        ticket = Ticket(tenant, min(max(1, units), self._largest), is_large=units >= LARGE_UNITS)
        if self.is_full_for(tenant):
            ticket.state = TicketState.REFUSED
            return ticket
        if not own.queued and not own.running:
            # Whoever was silent has no claim to what others got meanwhile.
            own.virtual_time = max(own.virtual_time, self._virtual_time)
        own.queued.append(ticket)
        self.queued += 1
        return ticket

    def is_full_for(self, tenant: str) -> bool:
        """Whether a read of the tenant would be refused now."""
        own = self._tenants.get(tenant)
        return self.queued >= self._max_queued or (own is not None and len(own.queued) >= self._max_queued_of_tenant)

    def start_next(self, now: float) -> Ticket | None:
        """The read that starts now; None if none may. Call it again until it returns None.

        Args:
            now: Seconds on a steady clock.
        """
        self._forget_inactive(now)
        for own in sorted(self._waiting(), key=lambda each: each.virtual_time):
            ticket = own.queued[0]
            if own.running and len(self._tenants) > 1 and own.units + ticket.units > self._share:
                continue
            if self.running and self.units + ticket.units > self._units:
                # Its turn has come: smaller reads of others must not take the room again and again before it is enough.
                return None
            own.queued.popleft()
            self.queued -= 1
            self._virtual_time = max(self._virtual_time, own.virtual_time)
            own.virtual_time += ticket.units / own.weight
            self._count(own, ticket, 1)
            ticket.state = TicketState.RUNNING
            return ticket
        return None

    def end(self, ticket: Ticket, now: float) -> None:
        """A read ran, or gives up waiting; harmless when repeated.

        Args:
            ticket: The read.
            now: Seconds on a steady clock.
        """
        if ticket.state is TicketState.QUEUED:
            self._seen(ticket.tenant, now).queued.remove(ticket)
            self.queued -= 1
        elif ticket.state is TicketState.RUNNING:
            self._count(self._seen(ticket.tenant, now), ticket, -1)
        ticket.state = TicketState.DONE

    def gives_way(self, ticket: Ticket) -> bool:
        """Whether a running read does well to wait: it is large, and small ones of other tenants run, which would wait for its pieces.

        Args:
            ticket: The read.
        """
        return ticket.is_large and self._small > self._tenants[ticket.tenant].small

    def _count(self, own: _Tenant, ticket: Ticket, step: int) -> None:
        for counts in (self, own):
            counts.running += step
            counts.units += step * ticket.units
        if not ticket.is_large:
            self._small += step
            own.small += step

    def _waiting(self) -> Iterator[_Tenant]:
        return (each for each in self._tenants.values() if each.queued)

    def _seen(self, tenant: str, now: float) -> _Tenant:
        own = self._tenants.pop(tenant, None) or _Tenant(virtual_time=self._virtual_time)
        self._tenants[tenant] = own
        own.seen_at = now
        return own

    def _forget_inactive(self, now: float) -> None:
        idle: list[str] = []
        for name, each in self._tenants.items():
            if now - each.seen_at < ACTIVE_S:
                break
            if not each.queued and not each.running:
                idle.append(name)
        for name in idle:
            del self._tenants[name]
