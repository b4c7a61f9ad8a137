"""Whose call of the engine comes next: tenants share its time, whatever each asks for. No I/O, no clock of its own."""

import itertools
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

SMALL_RECALL: Final = 128
"""Candidates of a recall that is not interrupted: the other tenants wait some four milliseconds for it. Recalls that took turns would all
end at once, and leave whoever makes answers of them idle until then."""
MAX_PASSED: Final = 16
"""So many calls of smaller recalls of its own tenant go before a recall's: it is slow among them, and ends all the same."""


@dataclass(slots=True, eq=False)
class Recall(Generic[K]):
    """One recall, which makes one call after another."""

    tenant: K
    candidates: int
    number: int
    has_begun: bool = False
    passed: int = 0
    """Calls of its tenant that went before its own since it waits."""

    @property
    def order(self) -> tuple[int, ...]:
        """Among those of its tenant: the least goes first."""
        return (0, self.number) if self.passed >= MAX_PASSED else (1, self.candidates, self.number)

    @property
    def goes_on(self) -> bool:
        """Whether it is in the middle of its calls, and small."""
        return self.has_begun and self.candidates <= SMALL_RECALL


@dataclass(slots=True)
class _Tenant(Generic[K]):
    virtual_time: float
    waiting: list[Recall[K]] = field(default_factory=list)


class FairTurns(Generic[K]):
    """Chooses the next of the calls that wait (start-time fair queueing, by the time that calls took).

    The tenant goes next that has had the least of the engine's time while it was there. Of one tenant's recalls, the smallest goes first.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._tenants: dict[K, _Tenant[K]] = {}
        """Those that wait, and those that are ahead of the others."""
        self._virtual_time = 0.0

    def recall(self, tenant: K, candidates: int) -> Recall[K]:
        """A recall comes in.

        Args:
            tenant: Whose.
            candidates: How many it scores, at most.
        """
        return Recall(tenant, candidates, next(self._numbers))

    def wait(self, recall: Recall[K]) -> None:
        """A recall wants to make a call. It waits for one at a time."""
        own = self._of(recall)
        if not own.waiting:
            # Whoever was silent has no claim to what others got meanwhile.
            own.virtual_time = max(own.virtual_time, self._virtual_time)
        own.waiting.append(recall)

    def withdraw(self, recall: Recall[K]) -> None:
        """A recall that waits does so no more."""
        self._tenants[recall.tenant].waiting.remove(recall)

    def next(self) -> Recall[K] | None:
        """The recall that makes its call now; None if none waits. :meth:`charge` it before the next is chosen."""
        waiting = [each for each in self._tenants.values() if each.waiting]
        if not waiting:
            # What was used while there was enough for all keeps nobody out.
            self._tenants.clear()
            return None
        chosen = self._in_the_middle(waiting)
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
        """A recall's call took so long."""
        self._of(recall).virtual_time += seconds

    def _of(self, recall: Recall[K]) -> _Tenant[K]:
        return self._tenants.setdefault(recall.tenant, _Tenant(self._virtual_time))

    def _forget_idle(self) -> None:
        """Those that are no longer ahead of anybody would come back with no less."""
        for tenant in [key for key, own in self._tenants.items() if not own.waiting and own.virtual_time <= self._virtual_time]:
            del self._tenants[tenant]

    @staticmethod
    def _in_the_middle(waiting: list[_Tenant[K]]) -> Recall[K] | None:
        return min((each for own in waiting for each in own.waiting if each.goes_on), key=lambda each: each.number, default=None)
