"""Runs the engine calls of recalls one after another, in the order of :class:`FairTurns`."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from runtime.background import run_in_background
from runtime.pieces import yield_to_event_loop
from stores.edge.fair_turns import FairTurns, Recall

T = TypeVar("T")


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
