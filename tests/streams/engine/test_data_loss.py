"""Lost records of a log, and the partition that stops because of them."""

import pytest
from aiokafka import TopicPartition

from streams.engine.failures import data_loss_hold as gap_stop
from streams.engine.failures.data_loss import DataLoss, DataLossError
from streams.engine.failures.data_loss_hold import DataLossHold
from tests.streams.engine.doubles import ScriptedLog
from tests.streams.engine.ordered_harness import ordered_harness
from tests.streams.harness import PausedPartitions, stage_context, until

SOURCE = TopicPartition("source", 0)


def loss(committed: int | None, begin: int, end: int, cut_at: int | None = None) -> DataLoss | None:
    return DataLoss.between(SOURCE, committed, begin=begin, end=end, cut_at=cut_at)


def test_offsets_within_the_log_are_no_gap() -> None:
    assert loss(None, 0, 0) is None
    assert loss(None, 0, 10) is None
    assert loss(5, 5, 10) is None
    assert loss(10, 5, 10) is None


def test_a_beginning_past_the_offset_is_named() -> None:
    for committed, first in ((3, 3), (None, 0)):
        found = loss(committed, 5, 10)
        assert found is not None
        assert (found.first, found.next, found.is_cut) == (first, 5, False)
        assert f"offsets {first} to 4 of source/0 are lost" in str(found)


def test_an_end_before_the_offset_is_named() -> None:
    found = loss(20, 0, 10)
    assert found is not None
    assert (found.first, found.next, found.is_cut) == (10, 20, True)
    assert loss(20, 0, 30, found.end) == found, "the log has grown since"
    assert "offsets 10 to 19 of source/0 are lost" in str(found)


async def test_a_stopped_partition_takes_nothing_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gap_stop, "_POLL_S", 0.001)
    log = ScriptedLog(next_offset=3, loss=loss(3, 5, 10))
    async with ordered_harness(log) as harness:
        harness.processor.start()
        await until(lambda: harness.processor.data_loss == log.loss)
        harness.put(*(harness.record(offset) for offset in range(5, 8)))
        assert (harness.processor.backlog, harness.processor.is_recovered, harness.behaviour.handled) == (0, False, [])
        log.next_offset, log.loss = 5, None
        await until(lambda: harness.processor.is_recovered)
        assert harness.processor.data_loss is None
        harness.put(harness.record(5))
        await harness.finished()
    assert log.next_offset == 6


async def test_stranded_partitions_are_checked_once_idle() -> None:
    log = ScriptedLog(loss=loss(3, 5, 10))
    flow_control = PausedPartitions()
    is_idle = False
    context = stage_context(lambda partition: log.writer(), flow_control=flow_control).task
    stop = DataLossHold(partition=0, writer=log.writer(), context=context, is_idle=lambda: is_idle)
    await stop.check(3)
    flow_control.out_of_range.add(0)
    await stop.check(3)
    assert flow_control.sought == {}
    is_idle = True
    with pytest.raises(DataLossError, match="offsets 3 to 4"):
        await stop.check(3)
    log.loss = None
    await stop.check(3)
    assert (flow_control.sought, flow_control.is_stranded(0)) == ({0: 3}, False)


async def test_a_revoked_partition_is_not_left_paused() -> None:
    log = ScriptedLog(next_offset=3, loss=loss(3, 5, 10))
    async with ordered_harness(log) as harness:
        paused = harness.paused
        harness.processor.start()
        await until(lambda: paused == {0})
        await harness.processor.stop()
        assert paused == set()
