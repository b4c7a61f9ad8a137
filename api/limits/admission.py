"""Admission of reads by tenant: each waits for its turn, or is rejected when the queue is full.

An operator's read may read whole topics, so it holds its turn as long as its route runs.
"""

import asyncio
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from typing import Final, Literal

from fastapi import Request
from starlette.requests import ClientDisconnect

from api.limits.fair_admission import FairAdmission, Ticket, TicketState
from api.problems import RETRY_AFTER_S, ProblemError
from control.tenants import Tenant
from runtime.metrics import Metrics
from runtime.pieces import waiting_between_pieces
from runtime.settings import ServiceSettings

RESULTS_IN_UNIT: Final = 128
"""A recall of so many results costs the store and the service about two of ten results: it counts as one more unit."""
TOPIC_RESULTS: Final = 1000
"""Reading a topic from its beginning counts like a recall of so many results."""
OPERATORS: Final = ""
"""Represents all operators as one tenant; no tenant has an empty id."""
PATIENCE_S: Final = 0.2
"""The longest time that a large read may yield in total: it is slow among small reads, but it ends."""
_LEAST_WAIT: Final = 0.5
"""The share of the longest wait that every read may use."""


class Admission:
    """The reads of one process.

    Args:
        metrics: Counts the outcomes and times the waits.
        patience_s: Total time that a large read may yield to small ones, in seconds.
    """

    def __init__(self, *, settings: ServiceSettings, metrics: Metrics, patience_s: float = PATIENCE_S) -> None:
        self._core = FairAdmission(
            units=settings.reads_at_once,
            tenant_share=settings.tenant_share,
            max_queued=settings.max_queued_reads,
            max_queued_of_tenant=settings.max_queued_reads_of_tenant,
        )
        self._max_wait_s = settings.read_queue_timeout_s
        self._patience_s = patience_s
        self._metrics = metrics
        self._turns: dict[Ticket, asyncio.Future[None]] = {}
        self._ended = asyncio.Event()
        """Set for a moment whenever a read ends."""
        metrics.reads_waiting.set_function(lambda: self._core.queued)
        metrics.reads_running.set_function(lambda: self._core.running)

    def reject_if_full(self, tenant: Tenant) -> None:
        """Rejects a read if its queue is full, before more work is done for it.

        Raises:
            ProblemError: 429 if too many wait.
        """
        if self._core.is_full_for(tenant.id):
            raise self._refusal("refused_full", "too many reads wait")

    def turn(self, request: Request, tenant: Tenant, *, results: int = 1, until: float | None = None) -> AbstractAsyncContextManager[None]:
        """Admits a read: the block begins when it is the read's turn.

        Args:
            request: The HTTP request, with its body read. If the client disconnects, the wait ends.
            tenant: The tenant that reads.
            results: Maximum number of results.
            until: The read's deadline, in seconds of the event loop's clock: the longest wait. None: no deadline.

        Raises:
            ProblemError: 429 if too many wait, or its turn did not come in time.
        """
        return self._turn(request, tenant.id, tenant.weight, results, until)

    def turns_of(
        self, request: Request, tenant: Tenant, *, until: float | None = None
    ) -> Callable[[int], AbstractAsyncContextManager[None]]:
        """Makes turns for the reads of one request, by their numbers of results."""
        return lambda results: self.turn(request, tenant, results=results, until=until)

    def admin_admission(self, request: Request, *, results: int = 1) -> AbstractAsyncContextManager[None]:
        """Admits a read of an operator; all operators together count as one tenant.

        Raises:
            ProblemError: 429 if too many wait, or its turn did not come in time.
        """
        return self._turn(request, OPERATORS, 1.0, results, None)

    @asynccontextmanager
    async def _turn(self, request: Request, owner: str, weight: float, results: int, until: float | None) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        came_at = loop.time()
        ticket = self._core.request(owner, units=1 + results // RESULTS_IN_UNIT, weight=weight, now=came_at)
        if ticket.state is TicketState.REFUSED:
            raise self._refusal("refused_full", "too many reads wait")
        self._turns[ticket] = loop.create_future()
        try:
            self._start()
            await self._wait(ticket, request, until)
            self._metrics.read_queue_seconds.observe(loop.time() - came_at)
            self._count("admitted")
            with waiting_between_pieces(self._giving_way(ticket)) if ticket.is_large else nullcontext():
                yield
        finally:
            self._turns.pop(ticket).cancel()
            self._core.end(ticket, loop.time())
            self._ended.set()
            self._ended.clear()
            self._start()

    def _giving_way(self, ticket: Ticket) -> Callable[[], Awaitable[None]]:
        patience_s = self._patience_s

        async def give_way() -> None:
            nonlocal patience_s
            if not self._core.gives_way(ticket) or patience_s <= 0:
                return
            clock = asyncio.get_running_loop().time
            began = clock()
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    while self._core.gives_way(ticket):
                        await self._ended.wait()
            patience_s -= clock() - began

        return give_way

    async def _wait(self, ticket: Ticket, request: Request, until: float | None) -> None:
        turn = self._turns[ticket]
        if turn.done():
            return
        # Spread the rejections of reads that arrived together: if all were repeated at the same moment, they would block the others.
        wait_s = self._max_wait_s * random.uniform(_LEAST_WAIT, 1)
        left_s = math.inf if until is None else until - asyncio.get_running_loop().time()
        in_time = f"within {self._max_wait_s:g} s" if wait_s < left_s else "by the request's deadline"
        hung_up = asyncio.create_task(_hung_up(request))
        try:
            wait_s = max(0.0, min(wait_s, left_s))
            await asyncio.wait((turn, hung_up), timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hung_up.cancel()
        if turn.done():
            return
        if hung_up.done() and not hung_up.cancelled():
            self._count("hung_up")
            raise ClientDisconnect
        raise self._refusal("refused_late", f"the read did not start {in_time}")

    def _start(self) -> None:
        now = asyncio.get_running_loop().time()
        while (ticket := self._core.start_next(now)) is not None:
            self._turns[ticket].set_result(None)

    def _refusal(self, outcome: Literal["refused_full", "refused_late"], what: str) -> ProblemError:
        self._count(outcome)
        return ProblemError(
            429, "too-many-reads", f"{what}; send fewer requests at once, or try again", headers={"Retry-After": str(RETRY_AFTER_S)}
        )

    def _count(self, outcome: str) -> None:
        self._metrics.reads.labels(outcome=outcome).inc()


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
