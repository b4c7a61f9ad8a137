"""A batch with a record that has to wait has no effect, and is retried soon, whatever else in it has to wait."""

import pytest

from streams.engine.failures.dependency_health import DependencyHealth
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch
from streams.errors import PoisonRecordError, TransientError
from tests.streams.engine.ordered_harness import Counts, ordered_harness
from tests.streams.harness import APPENDED_AT, InMemoryRows, delivered

UNKNOWN = TransientError("not known yet", dependency="control", counts_as_attempt=False)
AWAY = TransientError("away", dependency="store")


def batch_of(count: int) -> Batch:
    records = [delivered("source", offset, b"k", b"%d" % offset) for offset in range(count)]
    return Batch(0, records, PartitionState(InMemoryRows(), Counts(), cache_bytes=1000), APPENDED_AT)


async def test_all_records_are_asked_before_a_batch_waits() -> None:
    batch, asked = batch_of(4), []

    def handle(record: ConsumedRecord) -> None:
        asked.append(record.offset)
        if record.offset == 1:
            raise PoisonRecordError("bad", "a poison record")
        if record.offset in (0, 2):
            raise TransientError(f"{record.offset} has to wait", dependency="control", counts_as_attempt=False)

    with pytest.raises(TransientError, match="0 has to wait"):
        await batch.each(handle)
    assert asked == [0, 1, 2, 3]
    assert batch.awaited is not None


async def test_a_failure_that_counts_ends_the_batch() -> None:
    batch, asked = batch_of(4), []

    def handle(record: ConsumedRecord) -> None:
        asked.append(record.offset)
        raise (UNKNOWN, AWAY)[record.offset]

    with pytest.raises(TransientError, match="away"):
        await batch.each(handle)
    assert asked == [0, 1]


async def test_a_waiting_batch_has_no_effect() -> None:
    async with ordered_harness() as harness:
        harness.behaviour.waits = {1: 3}
        harness.put(harness.record(0), harness.record(1), harness.record(2, b"poison"))
        harness.processor.start()
        await harness.finished()
        assert harness.behaviour.handled == [[0, 1, 2]] * 4
        (commit,) = harness.log.commits
        assert [output.value for output in commit.outputs if output.topic == "varve.out"] == [b"1", b"2"]
        assert len(commit.outputs) == 3, "and one dead letter"
        assert harness.counts() == {b"k": 2}


async def test_waiting_lengthens_no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[int] = []

    def interval_s(dependencies: DependencyHealth, failure: TransientError, attempt: int) -> float:
        attempts.append(attempt)
        return 0.0

    monkeypatch.setattr(DependencyHealth, "retry_interval_s", interval_s)
    async with ordered_harness() as harness:
        harness.behaviour.waits = {0: 5}
        harness.behaviour.transient_failures = 2
        harness.put(harness.record(0))
        harness.processor.start()
        await harness.finished()
        assert attempts == [1, 1, 1, 1, 1, 1, 2]
