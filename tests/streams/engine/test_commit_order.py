"""Order of a commit's steps, and the end of a task that has begun work."""

import asyncio

import pytest

from runtime.kafka import OutgoingRecord
from streams.engine.failures.dependency_health import DependencyHealth
from streams.engine.tasks.batch import Batch
from streams.errors import TransientError
from tests.streams.engine.keyed_harness import driver_harness
from tests.streams.engine.ordered_harness import CountingHandler, ordered_harness
from tests.streams.engine.parking_harness import parking_harness
from tests.streams.harness import until


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the attempts after which a task has waited."""
    numbers: list[int] = []

    def interval_s(dependencies: DependencyHealth, failure: TransientError, attempt: int) -> float:
        numbers.append(attempt)
        return 0.0

    monkeypatch.setattr(DependencyHealth, "retry_interval_s", interval_s)
    return numbers


async def test_tables_are_written_after_the_transaction() -> None:
    async with ordered_harness() as harness:
        harness.put(harness.record(0))
        harness.processor.start()
        await harness.finished()
        assert harness.log.steps == ["commit", "write"]


async def test_erasing_batches_mark_the_table_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the commit, for a worker that is killed; after the rows, since a running compaction may have removed the first mark."""
    handle = CountingHandler.handle

    async def erasing(handler: CountingHandler, batch: Batch) -> None:
        batch.is_erasing = True
        await handle(handler, batch)

    monkeypatch.setattr(CountingHandler, "handle", erasing)
    async with ordered_harness() as harness:
        harness.put(harness.record(0))
        harness.processor.start()
        await harness.finished()
        assert harness.log.steps == ["mark", "commit", "write", "mark", "compact"]


async def test_tables_without_parked_records_are_compacted() -> None:
    async with parking_harness() as harness:
        harness.without_budget.add("poor")
        await harness.send("poor/0", "poor/1")
        await harness.acknowledged()
        assert "mark" not in harness.log.steps, "a row was added"
        harness.without_budget.clear()
        await until(lambda: len(harness.done) == 2)
        await until(lambda: harness.log.steps[-5:] == ["mark", "commit", "write", "mark", "compact"])
        assert harness.log.steps.count("mark") == 2
        assert harness.parked == {}


async def test_finish_commits_results_that_wait_for_a_commit() -> None:
    async with driver_harness() as harness:
        harness.log.gate = gate = asyncio.Event()
        await harness.put(0, key=b"first")
        await until(lambda: harness.log.waiting == 1)
        await harness.put(1, key=b"second")
        await until(lambda: harness.driver._scheduler.running == 0)
        finishing = asyncio.create_task(harness.driver.finish())
        gate.set()
        async with asyncio.timeout(60):
            await finishing
        assert harness.log.next_offset == 2


@pytest.mark.parametrize("kind", ["aborted_commits", "lost_answers"])
async def test_failed_commits_are_repaired_while_draining(kind: str) -> None:
    async with driver_harness() as harness:
        harness.log.gate = gate = asyncio.Event()
        setattr(harness.log, kind, 1)
        await harness.put(0)
        await until(lambda: harness.log.waiting == 1)
        finishing = asyncio.create_task(harness.driver.finish())
        gate.set()
        async with asyncio.timeout(60):
            await finishing
        assert harness.log.next_offset == 1
        assert [output.value for output in harness.sent] == [b"0"]
        assert harness.handled == [0]


async def test_waits_start_again_after_a_commit(attempts: list[int]) -> None:
    async with ordered_harness() as harness:
        harness.processor.start()
        for offset in range(2):
            harness.log.aborted_commits = 2
            harness.put(harness.record(offset))
            await harness.finished()
    assert attempts == [1, 2, 1, 2]


async def test_dead_letters_are_counted_once_after_a_lost_response() -> None:
    async with driver_harness() as harness:
        harness.log.lost_answers = 1
        harness.answers[0] = _fail
        await harness.put(0)
        await harness.drained()
        assert len(harness.log.letters) == 1
        assert harness.context.task.metrics.metrics.dead_letters.labels("test", "unexpected")._value.get() == 1


def _fail() -> list[OutgoingRecord]:
    raise ZeroDivisionError
