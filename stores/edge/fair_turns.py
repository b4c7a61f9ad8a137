"""Chooses the next engine call, so that tenants share the engine's time fairly. No I/O, no clock."""

import itertools
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

SMALL_RECALL: Final = 128
"""Most candidates of a recall that is not interrupted: other tenants wait about four milliseconds for it. If such recalls alternated, they
would all end at the same time, and the clients would be idle until then."""
MAX_PASSED: Final = 16
"""Most calls of smaller recalls of the same tenant that may run before a recall's call. It prevents starvation."""


@dataclass(slots=True, eq=False)
class Recall(Generic[K]):
    """One recall, which makes one call after another."""

    tenant: K
    candidates: int
    number: int
    has_begun: bool = False
    passed: int = 0
    """Calls of its tenant that ran while it was waiting."""

    @property
    def order(self) -> tuple[int, ...]:
        """Sort key among the tenant's recalls, lowest first."""
        return (0, self.number) if self.passed >= MAX_PASSED else (1, self.candidates, self.number)

    @property
    def keeps_turn(self) -> bool:
        """Whether its next call runs before those of others: it is small, and has made a call."""
        return self.has_begun and self.candidates <= SMALL_RECALL


@dataclass(slots=True)
class _Tenant(Generic[K]):
    virtual_time: float
    waiting: list[Recall[K]] = field(default_factory=list)


class FairTurns(Generic[K]):
    """Chooses the next of the waiting calls: start-time fair queueing by the duration of the calls.

    The next tenant is the one that used the least engine time while it was active. Of one tenant's recalls, the smallest is first.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._tenants: dict[K, _Tenant[K]] = {}
        """Tenants with waiting calls, and tenants whose virtual time is ahead."""
        self._virtual_time = 0.0

    def recall(self, tenant: K, candidates: int) -> Recall[K]:
        """Registers a recall that scores at most ``candidates`` points."""
        return Recall(tenant, candidates, next(self._numbers))

    def wait(self, recall: Recall[K]) -> None:
        """Enqueues the next call of a recall. A recall has at most one waiting call."""
        own = self._of(recall)
        if not own.waiting:
            # A tenant that was idle gets no credit for that time.
            own.virtual_time = max(own.virtual_time, self._virtual_time)
        own.waiting.append(recall)

    def withdraw(self, recall: Recall[K]) -> None:
        """Removes a waiting recall."""
        self._tenants[recall.tenant].waiting.remove(recall)

    def next(self) -> Recall[K] | None:
        """The recall whose call runs now; None if none waits. Call :meth:`charge` before the next choice."""
        waiting = [each for each in self._tenants.values() if each.waiting]
        if not waiting:
            # The engine is idle, so earlier usage no longer counts.
            self._tenants.clear()
            return None
        chosen = self._unfinished(waiting)
        if chosen is None:
            own = min(waiting, key=lambda each: each.virtual_time)
            self._virtual_time = max(self._virtual_time, own.virtual_time)
            self._forget_idle()
            chosen = min(own.waiting, key=lambda each: each.order)
        self.withdraw(chosen)
        for each in self._tenants[chosen.tenant].waiting:
            each.passed += 1
        chosen.has_begun, chosen.passed = True, 0
        return chosen

    def charge(self, recall: Recall[K], seconds: float) -> None:
        """Adds the duration of a recall's call to its tenant."""
        self._of(recall).virtual_time += seconds

    def _of(self, recall: Recall[K]) -> _Tenant[K]:
        return self._tenants.setdefault(recall.tenant, _Tenant(self._virtual_time))

    def _forget_idle(self) -> None:
        """Drops idle tenants that are no longer ahead: they would return with the same virtual time."""
        for tenant in [key for key, own in self._tenants.items() if not own.waiting and own.virtual_time <= self._virtual_time]:
            del self._tenants[tenant]

    @staticmethod
    def _unfinished(waiting: list[_Tenant[K]]) -> Recall[K] | None:
        return min((each for own in waiting for each in own.waiting if each.keeps_turn), key=lambda each: each.number, default=None)
