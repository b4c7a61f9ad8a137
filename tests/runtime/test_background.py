"""Background work continues after any exception, and repeated failures are reported."""

import asyncio
from contextlib import suppress

import pytest
import structlog

from runtime.background import Background, BackgroundWorkError, BackgroundWorks, run_in_background, run_together, start_renewal
from runtime.metrics import Metrics
from runtime.probe import Check
from runtime.resilience import Backoff, RestartPolicy
from tests.streams.harness import until

AT_ONCE = RestartPolicy(backoff=Backoff(initial_interval_s=0.001, maximum_interval_s=0.001), reset_after_s=60.0)


class Failing:
    """Work that fails a number of times, and then succeeds."""

    def __init__(self, failures: int, error: type[BaseException] = KeyError) -> None:
        self.failures = failures
        self.error = error
        self.begun = 0

    async def run(self) -> None:
        self.begun += 1
        if self.begun <= self.failures:
            raise self.error("unforeseen")
        await asyncio.Event().wait()


def works(failing: Failing, *, restarts: RestartPolicy = AT_ONCE, most_failures: int = 5) -> BackgroundWorks:
    all_works = BackgroundWorks(Metrics())
    all_works.add("watch", failing.run)
    (work,) = all_works.all
    work.restarts, work.most_failures = restarts, most_failures
    return all_works


async def test_failed_work_is_restarted_logged_counted_and_reported() -> None:
    metrics, failing = Metrics(), Failing(2)
    with structlog.testing.capture_logs() as logs:
        async with works(failing).running() as running:
            (work,) = running.all
            work.metrics = metrics
            await until(lambda: failing.begun == 3, deadline_s=20)
            (check,) = Check.of_background(running).values()
            assert (check.ok, check.needed) == (False, False)
            assert check.problem == "watch failed 2 times in a row: KeyError('unforeseen')"
    assert [(each["event"], each["work"], each["failures"]) for each in logs] == [
        ("background_work_failed", "watch", number) for number in (1, 2)
    ]
    assert b'varve_background_failures_total{work="watch"} 2.0' in metrics.render()


async def test_failed_work_with_a_task_group_is_restarted() -> None:
    failing = Failing(1)

    async def grouped() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(failing.run())

    task = asyncio.create_task(Background("watch", grouped, restarts=AT_ONCE).run())
    await until(lambda: failing.begun == 2 or task.done())
    assert failing.begun == 2
    task.cancel()


async def test_work_whose_awaited_call_was_cancelled_is_restarted() -> None:
    failing = Failing(1, asyncio.CancelledError)
    task = asyncio.create_task(Background("watch", failing.run, restarts=AT_ONCE).run())
    await until(lambda: failing.begun == 2 or task.done())
    assert failing.begun == 2
    task.cancel()


@pytest.mark.parametrize("error", [KeyError, asyncio.CancelledError])
async def test_works_that_run_together_end_together(error: type[BaseException]) -> None:
    failing, other = Failing(1, error), Failing(0)
    with pytest.raises(error):
        await run_together(other.run, failing.run)
    assert len(asyncio.all_tasks()) == 1


async def test_work_recovers_after_a_long_run() -> None:
    now, failing = 0.0, Failing(1)
    work = Background("watch", failing.run, restarts=AT_ONCE, clock=lambda: now)
    task = asyncio.create_task(work.run())
    await until(lambda: failing.begun == 2)
    now = 59.0
    assert work.problem is not None
    now = 61.0
    assert work.problem is None
    task.cancel()


async def test_failures_far_apart_are_not_in_a_row() -> None:
    now, failing = 0.0, Failing(100)

    async def late() -> None:
        nonlocal now
        now += 100.0
        await failing.run()

    work = Background("watch", late, restarts=AT_ONCE, most_failures=2, clock=lambda: now)
    task = asyncio.create_task(work.run())
    await until(lambda: failing.begun == 10)
    task.cancel()


async def test_repeatedly_failing_work_is_abandoned() -> None:
    failing, given_up = Failing(100), asyncio.Event()
    all_works = works(failing)
    other = Failing(0)
    all_works.add("other", other.run)
    all_works.on_given_up = given_up.set
    with pytest.raises(BackgroundWorkError, match="watch failed 5 times in a row: KeyError"):
        async with all_works.running(), asyncio.timeout(60):
            await given_up.wait()
    assert (failing.begun, other.begun) == (5, 1)


async def test_work_that_ends_has_failed() -> None:
    async def ending() -> None:
        pass

    work = Background("watch", ending, restarts=AT_ONCE, most_failures=3)
    with pytest.raises(BackgroundWorkError, match="the work returned"):
        await work.run()


async def test_work_added_later_ends_with_the_block() -> None:
    first, second = Failing(0), Failing(0)
    async with works(first).running() as running:
        running.add("second", second.run)
        await until(lambda: (first.begun, second.begun) == (1, 1))
    assert not {"watch", "second"} & {task.get_name() for task in asyncio.all_tasks()}


async def test_work_that_swallows_its_cancellation_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.background._CANCEL_AGAIN_S", 0.01)
    cancelled, begun = 0, asyncio.Event()

    async def deaf() -> None:
        nonlocal cancelled
        begun.set()
        while cancelled < 2:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled += 1

    all_works = BackgroundWorks()
    all_works.add("deaf", deaf)
    with structlog.testing.capture_logs() as logs:
        async with asyncio.timeout(30), all_works.running():
            await begun.wait()
    assert (cancelled, logs) == (2, [])


async def test_work_without_a_limit_is_never_abandoned() -> None:
    failing = Failing(50)
    task = asyncio.create_task(Background("lease", failing.run, restarts=AT_ONCE, most_failures=None).run())
    await until(lambda: failing.begun == 51)
    task.cancel()


async def test_renewal_continues_after_a_failure() -> None:
    failing = Failing(1)
    task = start_renewal("lease", failing.run)
    await until(lambda: failing.begun == 2)
    task.cancel()


async def test_unexpectedly_ended_work_is_logged() -> None:
    with structlog.testing.capture_logs() as logs:
        task = run_in_background("uses", Failing(1).run())
        with suppress(KeyError):
            await task
        await asyncio.sleep(0)
    assert [(each["event"], each["task"]) for each in logs] == [("background_task_failed", "uses")]
