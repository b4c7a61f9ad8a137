"""Work in the background that has to go on for as long as its process does: none of it ends unseen.

Work that raises is logged, counted, reported at ``/readyz``, and started again after a while. If it keeps failing it is given up, and the
process stops: its successor starts without what was wrong with this one.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from memory.errors import VarveError
from runtime.backoff import Backoff, RestartPolicy
from runtime.logs import logger

if TYPE_CHECKING:
    from runtime.metrics import Metrics

_log = logger(__name__)
_Result = TypeVar("_Result")

RESTARTS: Final = RestartPolicy(backoff=Backoff(initial_interval_s=1.0, maximum_interval_s=60.0), reset_after_s=120.0)
MOST_FAILURES: Final = 20
"""In a row. With :data:`RESTARTS` that takes a quarter of an hour."""

Work = Callable[[], Awaitable[object]]


class BackgroundWorkError(VarveError):
    """Work in the background keeps failing, and was given up."""


@dataclass(slots=True, eq=False)
class Background:
    """One piece of work, which is meant never to end.

    Attributes:
        name: What it is called in logs, metrics and checks.
        work: Does it; called again after each failure, and must take up from there.
        metrics: Where its failures are counted; None: nowhere.
        restarts: How long to wait after a failure, and after how long without one the next counts as the first.
        most_failures: So many in a row make it given up; None: it never is.
        clock: A clock that never goes back, in seconds.
    """

    name: str
    work: Work
    metrics: "Metrics | None" = None
    restarts: RestartPolicy = field(default_factory=lambda: RESTARTS)
    most_failures: int | None = MOST_FAILURES
    clock: Callable[[], float] = time.monotonic
    _failures: int = 0
    _problem: str | None = None
    _started_at: float = 0.0
    _is_waiting: bool = False

    @property
    def problem(self) -> str | None:
        """Why it last failed, until it has gone on for long enough without a failure; None: it goes on."""
        is_over = not self._is_waiting and self.clock() - self._started_at >= self.restarts.reset_after_s
        return None if is_over else self._problem

    async def run(self) -> None:
        """Does the work until it is cancelled.

        Raises:
            BackgroundWorkError: If it keeps failing.
        """
        while True:
            self._started_at = self.clock()
            try:
                await self.work()
            except Exception as error:
                failure: Exception = error
            else:
                failure = BackgroundWorkError("it ended of itself")
            await self._wait_after(failure)

    async def _wait_after(self, failure: Exception) -> None:
        self._failures = self.restarts.crashes_in_a_row(self._failures, ran_s=self.clock() - self._started_at)
        if self.metrics is not None:
            self.metrics.background_failures.labels(self.name).inc()
        self._problem = f"{self.name} failed {self._failures} times in a row: {failure!r}"
        if self._failures == self.most_failures:
            _log.error("background_work_given_up", work=self.name, failures=self._failures, exc_info=failure)
            raise BackgroundWorkError(self._problem) from failure
        interval_s = self.restarts.backoff.interval_s(self._failures)
        _log.error("background_work_failed", work=self.name, failures=self._failures, again_in_s=interval_s, exc_info=failure)
        self._is_waiting = True
        try:
            await asyncio.sleep(interval_s)
        finally:
            self._is_waiting = False


class BackgroundWorks:
    """All background work of a process.

    Args:
        metrics: Where failures are counted; None: nowhere.
    """

    def __init__(self, metrics: "Metrics | None" = None) -> None:
        self._metrics = metrics
        self._all: list[Background] = []
        self._tasks: list[asyncio.Task[None]] | None = None
        self.failure: BaseException | None = None
        """Why a piece of work was given up."""
        self.on_given_up: Callable[[], None] = lambda: None
        """Called when one is given up: stops the process."""

    @property
    def all(self) -> Sequence[Background]:
        """The pieces of work."""
        return tuple(self._all)

    @property
    def problem(self) -> str | None:
        """Which of them fail, and why; None: none does."""
        return "; ".join(each.problem for each in self._all if each.problem is not None) or None

    def add(self, name: str, work: Work) -> None:
        """Adds a piece of work, which begins at once if the others run. :class:`Background` says what ``name`` and ``work`` are."""
        self._all.append(Background(name, work, metrics=self._metrics))
        if self._tasks is not None:
            self._start(self._tasks, self._all[-1])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Does all of it for the length of a block.

        Raises:
            BackgroundWorkError: At the end of the block, if a piece of work was given up.
        """
        tasks = self._tasks = []
        for each in self._all:
            self._start(tasks, each)
        try:
            yield self
        finally:
            self._tasks = None
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self.failure is not None:
            raise self.failure

    def _start(self, tasks: "list[asyncio.Task[None]]", work: Background) -> None:
        task = asyncio.create_task(work.run(), name=work.name)
        task.add_done_callback(self._on_done)
        tasks.append(task)

    def _on_done(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (failure := task.exception()) is not None:
            self.failure = self.failure or failure
            self.on_given_up()


def renewed(name: str, work: Work) -> "asyncio.Task[None]":
    """Starts what is done for as long as something is held, and is never given up: the task is cancelled when that is let go."""
    return asyncio.create_task(Background(name, work, most_failures=None).run(), name=name)


def beside(name: str, work: Coroutine[Any, Any, _Result]) -> "asyncio.Task[_Result]":
    """Starts what ends by itself. If it raises, that is logged at once, whether or not anybody waits for it."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_log_failure)
    return task


def _log_failure(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled() and (failure := task.exception()) is not None:
        _log.error("background_task_failed", task=task.get_name(), exc_info=failure)
