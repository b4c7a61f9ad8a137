"""A dependency behind one breaker for the whole process: a hanging one costs its first caller a time-out, and nobody else."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from memory.errors import VarveError
from runtime.background import beside
from runtime.logs import logger

T = TypeVar("T")

_log = logger(__name__)


class Guard:
    """Makes the calls to one dependency.

    A call that fails or hangs may be at fault itself: another caller's request must not suffer for it. So the dependency is asked a
    question of the guard's own first. Only if that is not answered either, the breaker opens: the calls that wait fail, and new ones fail
    at once. The guard goes on asking, and closes the breaker with the first answer, so that no caller's request is spent on a trial.

    Belongs to one event loop.

    Args:
        name: The dependency's, for logs and messages.
        probe: The question: a cheap request.
        outage: What the dependency's client raises when it does not answer. Any other error is an answer.
        unavailable: Makes the error that callers get, of a message.
        timeout_s: Longest wait for a call, in seconds.
        probe_timeout_s: The same for the question.
        retry_s: Time between two questions while the breaker is open, in seconds.
    """

    def __init__(
        self,
        *,
        name: str,
        probe: Callable[[], Awaitable[object]],
        outage: type[VarveError],
        unavailable: Callable[[str], VarveError],
        timeout_s: float,
        probe_timeout_s: float,
        retry_s: float,
    ) -> None:
        self._name = name
        self._probe = probe
        self._outage = outage
        self._unavailable = unavailable
        self._timeout_s = timeout_s
        self._probe_timeout_s = probe_timeout_s
        self._retry_s = retry_s
        self._calls: set[asyncio.Task[Any]] = set()
        self._inquiry: asyncio.Task[None] | None = None
        self.is_open = False
        """Whether calls fail at once."""

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes a call.

        Raises:
            VarveError: What ``unavailable`` makes, if the dependency is away or hangs; and what the call raises.
        """
        if self.is_open:
            raise self._unavailable(f"{self._name} is away; it is asked every {self._retry_s:g} s")
        task = asyncio.ensure_future(_awaited(call()))
        self._calls.add(task)
        try:
            await asyncio.wait((task,), timeout=self._timeout_s)
        finally:
            self._calls.discard(task)
            is_late = not task.done()
            task.cancel()
        if is_late:
            self.suspect()
            raise self._unavailable(f"{self._name} did not answer within {self._timeout_s:g} s")
        try:
            return task.result()
        except asyncio.CancelledError:
            raise self._unavailable(f"{self._name} is away; it went while this call waited") from None
        except self._outage:
            self.suspect()
            raise

    async def check(self) -> None:
        """Asks the question, for readiness. Whether it is answered decides over the breaker, too.

        Raises:
            VarveError: If the dependency is away.
        """
        if self.is_open:
            raise self._unavailable(f"{self._name} is away; it is asked every {self._retry_s:g} s")
        try:
            await self._probe()
        except (self._outage, asyncio.CancelledError):
            # Whoever asks for readiness cancels the question when it takes too long.
            self.suspect()
            raise

    def suspect(self) -> None:
        """Finds out whether the dependency answers, in the background."""
        if self._inquiry is None:
            self._inquiry = beside(f"inquiry into {self._name}", self._inquire())

    async def close(self) -> None:
        """Asks no more."""
        inquiry, self._inquiry = self._inquiry, None
        if inquiry is not None:
            inquiry.cancel()
            with suppress(asyncio.CancelledError):
                await inquiry

    async def _inquire(self) -> None:
        if not await self._answers():
            self.is_open = True
            _log.warning("dependency_away", dependency=self._name, waiting_calls=len(self._calls))
            for call in self._calls:
                call.cancel()
            while self.is_open:
                await asyncio.sleep(self._retry_s)
                self.is_open = not await self._answers()
            _log.info("dependency_back", dependency=self._name)
        self._inquiry = None

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(self._probe_timeout_s):
                await self._probe()
        except (self._outage, TimeoutError):
            return False
        except VarveError:
            return True
        except Exception as error:
            # An inquiry that ended by it would leave the breaker as it is for ever.
            _log.error("probe_failed", dependency=self._name, exc_info=error)
            return False
        return True


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable
