"""Chooses the endpoint: falls back by priority after failures, and makes a hedged call if an endpoint is silent for too long."""

import asyncio
from collections import deque
from collections.abc import Callable

from models.errors import BudgetExceededError, ModelError, NotProcessedError, TransientModelError
from models.llm.guarded_endpoint import GuardedEndpoint, StreamingCall
from runtime.logs import logger

_LOG = logger(__name__)

CallFactory = Callable[[GuardedEndpoint], StreamingCall]
"""Makes a call to an endpoint, not yet started."""


async def hedged_call(make_call: CallFactory, untried: deque[GuardedEndpoint], *, hedge_after_s: float | None) -> StreamingCall:
    """Asks the endpoints in their order until one gives a first token.

    The next endpoint is called when one fails, or in parallel when one has been silent for ``hedge_after_s`` since its call; the first
    token wins, and the other calls are cancelled.

    Args:
        make_call: Makes a call.
        untried: The endpoints, by priority; those asked are removed, so that the caller may continue with the rest.
        hedge_after_s: Seconds of silence; None: no hedging.

    Returns:
        The call that gave the first token. The caller closes it.

    Raises:
        BudgetExceededError: If all failed, and the tenant's budget did not allow one of the calls.
        NotProcessedError: If all failed, and none of them has looked at the call.
        TransientModelError: If all failed, and one of them may yet answer later.
        ModelConfigurationError: If all refused.
    """
    calls = _HedgedCalls(make_call, untried, hedge_after_s)
    try:
        return await calls.first_to_answer()
    finally:
        await calls.cancel()


class _HedgedCalls:
    def __init__(self, make_call: CallFactory, untried: deque[GuardedEndpoint], hedge_after_s: float | None) -> None:
        self._make_call = make_call
        self._untried = untried
        self._hedge_after_s = hedge_after_s
        self._pending: dict[asyncio.Task[None], StreamingCall] = {}
        self._hedge_timer: asyncio.Task[None] | None = None
        self._errors: list[ModelError] = []

    async def first_to_answer(self) -> StreamingCall:
        self._start_next()
        while self._pending:
            done, _ = await asyncio.wait(self._tasks(), return_when=asyncio.FIRST_COMPLETED)
            for task in [each for each in self._pending if each in done]:
                error = task.exception()
                if error is None:
                    self._note_lost_races(task)
                    return self._pending.pop(task)
                del self._pending[task]
                self._record(error)
            if not self._pending or self._hedge_timer in done:
                self._start_next()
        raise _combined_error(self._errors)

    async def cancel(self) -> None:
        tasks = self._tasks()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for call in self._pending.values():
            await call.close()

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [*self._pending, *([self._hedge_timer] if self._hedge_timer else [])]

    def _start_next(self) -> None:
        if self._hedge_timer is not None:
            self._hedge_timer.cancel()
            self._hedge_timer = None
        now = asyncio.get_running_loop().time()
        while self._untried:
            target = self._untried.popleft()
            if not target.breaker.permits(now):
                error = f"{target.endpoint.name} is held back by its circuit breaker"
                self._errors.append(NotProcessedError(error, retry_after_s=target.breaker.retry_after_s(now)))
                continue
            target.breaker.start_trial(now)
            call = self._make_call(target)
            self._pending[asyncio.create_task(call.start())] = call
            if self._hedge_after_s is not None and self._untried:
                self._hedge_timer = asyncio.create_task(_silence(call, self._hedge_after_s))
            return

    def _note_lost_races(self, winner: asyncio.Task[None]) -> None:
        """Marks calls made before the winner's as too slow; later calls had no time yet."""
        for task, call in self._pending.items():
            if task is winner:
                return
            call.lost_race = True

    def _record(self, error: BaseException) -> None:
        if not isinstance(error, ModelError):
            raise error
        if not isinstance(error, BudgetExceededError):  # then no call was made, and the caller's wait is logged
            _LOG.warning("llm_call_failed", error=str(error), endpoints_left=len(self._untried))
        self._errors.append(error)


async def _silence(call: StreamingCall, seconds: float) -> None:
    await call.sent.wait()
    await asyncio.sleep(seconds)


def _combined_error(errors: list[ModelError]) -> ModelError:
    """The error that represents all. If a budget refused one call, the tenant waits, whatever the other errors are."""
    refusals = [each for each in errors if isinstance(each, BudgetExceededError)]
    transient = [each for each in errors if isinstance(each, TransientModelError)]
    if len(errors) == 1 or not (refusals or transient):
        return errors[0]
    message = "; ".join(map(str, errors))
    waits = [each.retry_after_s for each in transient if each.retry_after_s is not None]
    if not refusals:
        kind = NotProcessedError if all(isinstance(each, NotProcessedError) for each in errors) else TransientModelError
        return kind(message, retry_after_s=min(waits, default=None))
    preferred = errors[0]
    return BudgetExceededError(
        message,
        retry_after_s=min([*waits, *(each.retry_after_s for each in refusals)]),
        kind=next((each.kind for each in refusals if each.kind != "hard"), "hard"),
        offline=isinstance(preferred, BudgetExceededError) and preferred.offline,
    )
