"""Which endpoint answers: by priority, past those that fail, and past one that is silent for too long."""

import asyncio
from collections import deque
from collections.abc import Callable

from models.errors import BudgetExceededError, ModelError, TransientModelError
from models.llm.guarded_endpoint import GuardedEndpoint, LiveCall
from runtime.logs import logger

_LOG = logger(__name__)

Dial = Callable[[GuardedEndpoint], LiveCall]
"""Makes a call to a guarded, not yet begun."""


async def first_to_speak(dial: Dial, untried: deque[GuardedEndpoint], *, hedge_after_s: float | None) -> LiveCall:
    """Asks the endpoints in their order until one gives a first token.

    The next one is asked when one fails, or beside it when it has been silent for ``hedge_after_s`` since it was asked; whoever speaks
    first wins, the others are hung up on.

    Args:
        dial: Makes a call.
        untried: The endpoints, by priority; those asked are taken out, so that the caller may go on with the rest.
        hedge_after_s: Seconds of silence; None: never two at once.

    Returns:
        The call that spoke first. The caller closes it.

    Raises:
        BudgetExceededError: If all failed, and the tenant's budget did not allow one of the calls.
        TransientModelError: If all failed, and one of them may yet answer later.
        ModelConfigurationError: If all refused.
    """
    race = _Race(dial, untried, hedge_after_s)
    try:
        return await race.run()
    finally:
        await race.hang_up()


class _Race:
    def __init__(self, dial: Dial, untried: deque[GuardedEndpoint], hedge_after_s: float | None) -> None:
        self._dial = dial
        self._untried = untried
        self._hedge_after_s = hedge_after_s
        self._runners: dict[asyncio.Task[None], LiveCall] = {}
        self._silence: asyncio.Task[None] | None = None
        self._faults: list[ModelError] = []

    async def run(self) -> LiveCall:
        self._start_next()
        while self._runners:
            waited = {*self._runners, *([self._silence] if self._silence else [])}
            done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            for task in [each for each in self._runners if each in done]:
                fault = task.exception()
                if fault is None:
                    return self._runners.pop(task)
                del self._runners[task]
                self._note(fault)
            if not self._runners or self._silence in done:
                self._start_next()
        raise _worst_of(self._faults)

    async def hang_up(self) -> None:
        tasks = [*self._runners, *([self._silence] if self._silence else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for call in self._runners.values():
            await call.close()

    def _start_next(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None
        now = asyncio.get_running_loop().time()
        while self._untried:
            guarded = self._untried.popleft()
            if not guarded.breaker.permits(now):
                wait = guarded.breaker.retry_after(now)
                self._faults.append(TransientModelError(f"{guarded.endpoint.name} is held back by its circuit breaker", retry_after=wait))
                continue
            call = self._dial(guarded)
            self._runners[asyncio.create_task(call.begin())] = call
            if self._hedge_after_s is not None and self._untried:
                self._silence = asyncio.create_task(_silence(call, self._hedge_after_s))
            return

    def _note(self, fault: BaseException) -> None:
        if not isinstance(fault, ModelError):
            raise fault
        _LOG.warning("llm_call_failed", error=str(fault), endpoints_left=len(self._untried))
        self._faults.append(fault)


async def _silence(call: LiveCall, seconds: float) -> None:
    await call.sent.wait()
    await asyncio.sleep(seconds)


def _worst_of(faults: list[ModelError]) -> ModelError:
    """What all faults together mean. Where a budget refused one call, the tenant waits: no other fault makes that a failure."""
    refusals = [each for each in faults if isinstance(each, BudgetExceededError)]
    transient = [each for each in faults if isinstance(each, TransientModelError)]
    if len(faults) == 1 or not (refusals or transient):
        return faults[0]
    said = "; ".join(map(str, faults))
    waits = [each.retry_after for each in transient if each.retry_after is not None]
    if not refusals:
        return TransientModelError(said, retry_after=min(waits, default=None))
    preferred = faults[0]
    return BudgetExceededError(
        said,
        retry_after=min([*waits, *(each.retry_after for each in refusals)]),
        soft=any(each.soft for each in refusals),
        offline=isinstance(preferred, BudgetExceededError) and preferred.offline,
    )
