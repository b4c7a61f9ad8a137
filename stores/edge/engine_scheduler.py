"""Runs the calls that recalls make of an engine, one after another, in the order of :class:`FairTurns`."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from runtime.background import beside
from runtime.pieces import let_others_run
from stores.edge.fair_turns import FairTurns, Recall

T = TypeVar("T")


class EngineScheduler:
    """The calls of one owner. Belongs to one event loop.

    Args:
        monotonic: A clock in seconds that never goes back.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.perf_counter) -> None:
        self._order: FairTurns[str] = FairTurns()
        self._monotonic = monotonic
        self._calls: dict[Recall[str], tuple[Callable[[], Any], asyncio.Future[Any]]] = {}
        self._worker: asyncio.Task[None] | None = None

    def recall(self, tenant: str, candidates: int) -> Recall[str]:
        """A recall comes in.

        Args:
            tenant: Whose.
            candidates: How many it scores, at most.
        """
        return self._order.recall(tenant, candidates)

    async def run(self, recall: Recall[str], call: Callable[[], T]) -> T:
        """Makes a call of a recall, when it is its turn.

        Args:
            recall: The recall, which makes no other call meanwhile.
            call: The call. What it raises is raised.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._order.wait(recall)
        self._calls[recall] = call, done
        if self._worker is None or self._worker.done():
            self._worker = beside("engine-turns", self._work())
        try:
            return await done
        finally:
            if self._calls.pop(recall, None) is not None:
                self._order.withdraw(recall)

    async def _work(self) -> None:
        while (recall := self._order.next()) is not None:
            call, done = self._calls.pop(recall)
            if done.cancelled():
                continue
            began = self._monotonic()
            try:
                done.set_result(call())
            except Exception as error:
                # The engine raises bare Exceptions, for a full disk as well as for a query that it cannot plan.
                done.set_exception(error)
            self._order.charge(recall, self._monotonic() - began)
            if recall.goes_on:
                # Long enough for it to ask for its next call, which comes next.
                await asyncio.sleep(0)
            else:
                # Whoever comes in now, over a socket, takes part in the next choice.
                await let_others_run()
