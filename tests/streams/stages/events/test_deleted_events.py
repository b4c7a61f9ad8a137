"""The events stage: a deleted event leaves the feed permanently, whatever is corrected, reverted or extracted afterwards."""

import pytest

from streams.engine.tasks.batch import Batch
from tests.streams.agent_extractions import extraction, extraction_record
from tests.streams.harness import PartitionHarness
from tests.streams.stages.events.batch_outputs import memories
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.stages.events.events_stage import changes


def texts(batch: Batch) -> bytes:
    return b"".join(each.value or b"" for each in batch.outputs)


async def test_a_deleted_event_gets_a_tombstone(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 1)])
    gone = what.events[0]
    await stage.process([extraction_record(what, 0)])
    record = correction_record(correction(gone, 1, "delete"), 1)
    batch = await stage.process([record])
    assert memories(batch) == {gone.id: None}
    assert changes(batch) == {"grep": ("retract",)}
    assert memories(await stage.process([record])) == {gone.id: None}, "a repetition for repair emits the same"


@pytest.mark.parametrize("action", ["revert", "correct", "invalidate", "delete"])
async def test_nothing_restores_a_deleted_event(stage: PartitionHarness, action: str) -> None:
    what = extraction(0, [("grep", 0)])
    gone = what.events[0]
    await stage.process([extraction_record(what, 0), correction_record(correction(gone, 1, "delete"), 1)])
    fields = {"content": "used ripgrep"} if action == "correct" else {}
    batch = await stage.process([correction_record(correction(gone, 2, action, **fields), 2)])
    assert (memories(batch), changes(batch)) == ({}, {})
    again = await stage.process([extraction_record(what, 3)])
    assert memories(again) == {gone.id: None}
    assert "apply" not in {op for ops in changes(again).values() for op in ops}


async def test_a_deletion_keeps_no_corrected_text(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    gone = what.events[0]
    await stage.process([extraction_record(what, 0)])
    await stage.process([correction_record(correction(gone, 1, content="used a secret tool"), 1)])
    batch = await stage.process([correction_record(correction(gone, 2, "delete", seen="used a secret tool"), 2)])
    assert memories(batch) == {gone.id: None}
    assert b"secret" not in texts(batch)
    assert b"secret" not in texts(await stage.process([extraction_record(what, 3)]))


async def test_the_other_events_of_the_window_stay(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 1)])
    await stage.process([extraction_record(what, 0), correction_record(correction(what.events[0], 1, "delete"), 1)])
    again = memories(await stage.process([extraction_record(what, 2)]))
    assert {memory_id: memory is None for memory_id, memory in again.items()} == {what.events[0].id: True, what.events[1].id: False}
