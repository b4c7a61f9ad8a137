"""Process-wide circuit breaker of a dependency: if it hangs, only the first callers wait for a time-out."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from memory.errors import VarveError
from runtime.background import run_in_background
from runtime.logs import logger
from runtime.resilience import CircuitBreaker

T = TypeVar("T")

_log = logger(__name__)


class Guard:
    """Makes the calls to one dependency.

    A failed or hanging call may itself be the cause, and must not affect other callers. Therefore the guard first sends a probe. Only if
    the probe fails, too, the breaker opens: pending calls fail, and new calls fail at once. The guard repeats the probe and closes the
    breaker at the first success, so no caller's request is used as a trial.

    Belongs to one event loop.

    Args:
        outage: Exception of the dependency's client if it does not answer. Any other error is an answer.
        retry_s: Time between two probes while the breaker is open, in seconds.
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
        self._calls: set[asyncio.Timeout] = set()
        """The time limits of the pending calls."""
        self._withdrawn: set[asyncio.Timeout] = set()
        """Calls that end because the breaker opened."""
        self._inquiry: asyncio.Task[None] | None = None
        self._breaker = CircuitBreaker(failures=1, reset_s=retry_s)

    @property
    def is_open(self) -> bool:
        """Whether calls fail at once."""
        return not self._breaker.is_closed

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes a call.

        Raises:
            VarveError: The error that ``unavailable`` makes, if the dependency is unavailable or hangs; or the call's own error.
        """
        self._require_closed()
        limit, task = asyncio.timeout(self._timeout_s), asyncio.current_task()
        assert task is not None
        cancels = task.cancelling()
        try:
            # In the caller's task: a separate task and a wait for it would take ten times as long.
            async with limit:
                self._calls.add(limit)
                return await call()
        except asyncio.CancelledError:
            if task.cancelling() > cancels:
                raise
            # The dependency's client cancelled what the call waits for.
            raise self._unavailable(f"{self._name} became unavailable while this call was pending") from None
        except TimeoutError:
            if not limit.expired():
                raise
            if limit in self._withdrawn:
                raise self._unavailable(f"{self._name} became unavailable while this call was pending") from None
            self.suspect()
            raise self._unavailable(f"{self._name} did not answer within {self._timeout_s:g} s") from None
        except self._outage:
            self.suspect()
            raise
        finally:
            self._calls.discard(limit)
            self._withdrawn.discard(limit)

    async def check(self) -> None:
        """Sends the probe, for readiness checks. The result also affects the breaker.

        Raises:
            VarveError: If the dependency is unavailable.
        """
        self._require_closed()
        try:
            await self._probe()
        except (self._outage, asyncio.CancelledError):
            # The readiness check cancels a slow probe.
            self.suspect()
            raise

    def suspect(self) -> None:
        """Probes the dependency in the background."""
        if self._inquiry is None:
            self._inquiry = run_in_background(f"inquiry into {self._name}", self._inquire())

    async def close(self) -> None:
        """Stops probing."""
        inquiry, self._inquiry = self._inquiry, None
        if inquiry is not None:
            inquiry.cancel()
            with suppress(asyncio.CancelledError):
                await inquiry

    async def _inquire(self) -> None:
        if not await self._answers():
            self._breaker.record_failure(time.monotonic())
            _log.warning("dependency_lost", dependency=self._name, waiting_calls=len(self._calls))
            self._withdrawn |= self._calls
            for limit in self._calls:
                if not limit.expired():
                    limit.reschedule(asyncio.get_running_loop().time())
            while self.is_open:
                await asyncio.sleep(self._retry_s)
                if await self._answers():
                    self._breaker.record_success()
            _log.info("dependency_recovered", dependency=self._name)
        self._inquiry = None

    def _require_closed(self) -> None:
        if self.is_open:
            raise self._unavailable(f"{self._name} is unavailable; Varve probes it every {self._retry_s:g} s")

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(self._probe_timeout_s):
                await self._probe()
        except (self._outage, TimeoutError):
            return False
        except VarveError:
            return True
        except Exception as error:
            # If this ended the probing, the breaker would keep its state forever.
            _log.error("probe_failed", dependency=self._name, exc_info=error)
            return False
        return True
