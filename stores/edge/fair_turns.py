"""Chooses the next engine call, so that tenants share the engine's time fairly. No I/O, no clock."""

import itertools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from runtime.fair_queue import FairQueue

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


class FairTurns(Generic[K]):
    """Chooses the next of the waiting calls: fair queueing between tenants by the duration of the calls.

    Of one tenant's recalls, the smallest is first.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._queue: FairQueue[K, Recall[K]] = FairQueue()

    def recall(self, tenant: K, candidates: int) -> Recall[K]:
        """Registers a recall that scores at most ``candidates`` points."""
        return Recall(tenant, candidates, next(self._numbers))

    def wait(self, recall: Recall[K]) -> None:
        """Enqueues the next call of a recall. A recall has at most one waiting call."""
        self._queue.add(recall.tenant, recall)

    def withdraw(self, recall: Recall[K]) -> None:
        """Removes a waiting recall."""
        self._queue.remove(recall.tenant, recall)

    def next(self) -> Recall[K] | None:
        """The recall whose call runs now; None if none waits. Call :meth:`charge` before the next choice."""
        tenant = self._queue.first()
        if tenant is None:
            # The engine is idle, so earlier usage no longer counts.
            self._queue = FairQueue()
            return None
        chosen = self._unfinished() or min(self._queue.waiting(tenant), key=lambda each: each.order)
        self._queue.start(chosen.tenant, chosen)
        for each in self._queue.waiting(chosen.tenant):
            each.passed += 1
        chosen.has_begun, chosen.passed = True, 0
        return chosen

    def charge(self, recall: Recall[K], seconds: float) -> None:
        """Ends a recall's call, and adds its duration to its tenant."""
        self._queue.charge(recall.tenant, seconds)
        self._queue.end(recall.tenant)

    def _unfinished(self) -> Recall[K] | None:
        waiting = (each for tenant in self._queue.waiting_flows() for each in self._queue.waiting(tenant))
        return min((each for each in waiting if each.keeps_turn), key=lambda each: each.number, default=None)
