"""Runs the engine calls of recalls one after another, in an order in which tenants share the engine's time fairly."""

import asyncio
import itertools
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from runtime.background import run_in_background
from runtime.fair_queue import FairQueue
from runtime.pieces import yield_to_event_loop

K = TypeVar("K", bound=Hashable)

SMALL_RECALL: Final = 128
"""Most candidates of a recall that is not interrupted: other tenants wait about four milliseconds for it. If such recalls alternated, they
would all end at the same time, and the clients would be idle until then."""
MAX_PASSED: Final = 16
"""Most calls of smaller recalls of the same tenant that may run before a recall's call. It prevents starvation."""

T = TypeVar("T")


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


class EngineScheduler:
    """Schedules the calls of one owner. It belongs to one event loop.

    Args:
        monotonic: A monotonic clock, in seconds.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.perf_counter) -> None:
        self._order: FairTurns[str] = FairTurns()
        self._monotonic = monotonic
        self._calls: dict[Recall[str], tuple[Callable[[], Any], asyncio.Future[Any]]] = {}
        self._worker: asyncio.Task[None] | None = None

    def recall(self, tenant: str, candidates: int) -> Recall[str]:
        """Registers a recall that scores at most ``candidates`` points."""
        return self._order.recall(tenant, candidates)

    async def run(self, recall: Recall[str], call: Callable[[], T]) -> T:
        """Executes a call when it is the recall's turn. A recall makes one call at a time. Errors of the call are raised."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._order.wait(recall)
        self._calls[recall] = call, done
        if self._worker is None or self._worker.done():
            self._worker = run_in_background("engine-turns", self._work())
        try:
            return await done
        finally:
            if self._calls.pop(recall, None) is not None:
                self._order.withdraw(recall)

    async def _work(self) -> None:
        while (recall := self._order.next()) is not None:
            call, done = self._calls.pop(recall)
            if done.cancelled():
                self._order.charge(recall, 0.0)
                continue
            started_at = self._monotonic()
            try:
                done.set_result(call())
            except Exception as error:
                # The engine raises bare Exceptions, for a full disk as well as for a query that it cannot plan.
                done.set_exception(error)
            self._order.charge(recall, self._monotonic() - started_at)
            if recall.keeps_turn:
                # One loop iteration is enough for the recall to request its next call.
                await asyncio.sleep(0)
            else:
                # Requests that arrive now on a socket take part in the next choice.
                await yield_to_event_loop()
