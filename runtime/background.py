"""Background work that runs as long as its process, and background writes in batches.

Work that raises is logged, counted, reported at ``/readyz``, and restarted after a pause. If it keeps failing, the process stops, because
a new process may recover.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from memory.errors import VarveError
from runtime.interruption import pause
from runtime.logs import logger
from runtime.resilience import Backoff, RestartPolicy

if TYPE_CHECKING:
    from runtime.metrics import Metrics


_log = logger(__name__)
_Result = TypeVar("_Result")

RESTARTS: Final = RestartPolicy(backoff=Backoff(initial_interval_s=1.0, maximum_interval_s=60.0), reset_after_s=120.0)
MOST_FAILURES: Final = 20
"""Limit for failures in a row. With :data:`RESTARTS` it is reached after a quarter of an hour."""

_CANCEL_AGAIN_S: Final = 5.0
"""Longer than cancelled work needs to release its resources."""

Work = Callable[[], Awaitable[object]]


async def set_within(event: asyncio.Event, seconds: float) -> bool:
    """Waits for an event, at most so many seconds; returns whether it is set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


class BackgroundWorkError(VarveError):
    """Background work kept failing and was stopped."""


@dataclass(slots=True, eq=False)
class Background:
    """One piece of work that should never end.

    Attributes:
        name: Name in logs, metrics and checks.
        work: The work. It is called again after each failure and must resume there.
        metrics: Counts the failures. Default: no counting.
        restarts: Pause after a failure, and the run time that resets the failure count.
        most_failures: Limit for failures in a row; None: no limit.
        clock: A monotonic clock, in seconds.
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
        """The last failure; None once the work has run long enough without another."""
        is_over = not self._is_waiting and self.clock() - self._started_at >= self.restarts.reset_after_s
        return None if is_over else self._problem

    async def run(self) -> None:
        """Runs the work until it is cancelled.

        Raises:
            BackgroundWorkError: If it keeps failing.
        """
        while True:
            self._started_at = self.clock()
            try:
                # In a separate task: in Python 3.11, a task whose TaskGroup failed looks cancelled to `pause` from then on.
                await asyncio.ensure_future(self.work())
            except (Exception, asyncio.CancelledError) as error:
                # A client that closes can cancel what the work waits for: nobody has cancelled the work then.
                failure: BaseException = error
            else:
                failure = BackgroundWorkError("the work returned, although it should never end")
            await pause(0)  # ends here if this task was cancelled, also if the work swallowed it
            await self._wait_after(failure)

    async def _wait_after(self, failure: BaseException) -> None:
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
        metrics: Counts the failures. Default: no counting.
    """

    def __init__(self, metrics: "Metrics | None" = None) -> None:
        self._metrics = metrics
        self._all: list[Background] = []
        self._tasks: list[asyncio.Task[None]] | None = None
        self.failure: BaseException | None = None
        """The error of the first work that was stopped."""
        self.on_given_up: Callable[[], None] = lambda: None
        """Called when work is stopped after too many failures; should stop the process."""

    @property
    def all(self) -> Sequence[Background]:
        """All background work that was added."""
        return tuple(self._all)

    @property
    def problem(self) -> str | None:
        """The failing work with its errors; None if none fails."""
        return "; ".join(each.problem for each in self._all if each.problem is not None) or None

    def add(self, name: str, work: Work) -> None:
        """Adds a piece of work; it starts at once if the others run. For ``name`` and ``work`` see :class:`Background`."""
        self._all.append(Background(name, work, metrics=self._metrics))
        if self._tasks is not None:
            self._start(self._tasks, self._all[-1])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Runs all work for the length of a block.

        Raises:
            BackgroundWorkError: At the end of the block, if work was stopped after too many failures.
        """
        tasks = self._tasks = []
        for each in self._all:
            self._start(tasks, each)
        try:
            yield self
        finally:
            self._tasks = None
            await end_tasks(tasks)
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


def start_renewal(name: str, work: Work) -> "asyncio.Task[None]":
    """Starts work that renews something, such as a lease. It is restarted after every failure until the caller cancels the task."""
    return asyncio.create_task(Background(name, work, most_failures=None).run(), name=name)


def run_in_background(name: str, work: Coroutine[Any, Any, _Result]) -> "asyncio.Task[_Result]":
    """Starts a coroutine that ends on its own. An exception is logged at once, even if the task is never awaited."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_log_failure)
    return task


async def run_together(*works: Work) -> None:
    """Runs works that should never end. When one ends, the others are stopped, and its error is raised.

    A ``TaskGroup`` overlooks a task that ends as cancelled although nobody cancelled it, as a client that closes does to a pending call.
    """
    tasks = [asyncio.ensure_future(work()) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        await end_tasks(tasks)


async def end_tasks(tasks: Iterable["asyncio.Future[Any]"]) -> None:
    """Cancels tasks, and returns when they have ended. Their results and exceptions are not read.

    A task that does not end is cancelled again: aiokafka waits by ``asyncio.wait_for``, which can swallow a cancellation in Python 3.11.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_CANCEL_AGAIN_S)


def _log_failure(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled() and (failure := task.exception()) is not None:
        _log.error("background_task_failed", task=task.get_name(), exc_info=failure)


T = TypeVar("T")


class BackgroundBatches(Generic[T]):
    """Writes items in the background: one call for all items since the last one. Belongs to one event loop.

    Args:
        max_pending: Limit for items that are queued or being written, at least 1.
        rest_s: Pause between two calls, in seconds; items that arrive meanwhile share the next call. The first item is written at once.

    Raises:
        ValueError: If ``max_pending`` is below 1, or ``rest_s`` below 0.
    """

    def __init__(self, write: Callable[[Sequence[T]], Awaitable[None]], *, max_pending: int, rest_s: float = 0.0) -> None:
        if max_pending < 1 or rest_s < 0:
            raise ValueError(f"max_pending must be at least 1 and rest_s at least 0, got {max_pending} and {rest_s}")
        self._write = write
        self._max_pending = max_pending
        self._rest_s = rest_s
        self._closing = asyncio.Event()
        self._waiting: list[T] = []
        self._under_way = 0
        self._task: asyncio.Task[None] | None = None

    def add(self, item: T) -> bool:
        """Queues an item; returns False if the queue is full."""
        if len(self._waiting) + self._under_way >= self._max_pending:
            return False
        self._waiting.append(item)
        if self._task is None or self._task.done():
            self._task = run_in_background("background-batches", self._work())
        return True

    async def close(self) -> None:
        """Waits until all items are written, without pauses."""
        self._closing.set()
        while self._task is not None and not self._task.done():
            await asyncio.wait((self._task,))
        self._closing.clear()

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            self._under_way = len(batch)
            try:
                await self._write(batch)
            except Exception as error:
                # One failing batch must not block the next ones.
                _log.error("batch_not_written", exc_info=error)
            finally:
                self._under_way = 0
            await set_within(self._closing, self._rest_s)
