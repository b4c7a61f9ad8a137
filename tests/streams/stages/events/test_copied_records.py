"""Records that growth has copied count under their earlier positions."""

from dataclasses import replace

from memory.headers import PLACE
from memory.keys import PADDING
from memory.records import MemoryChange
from streams.engine.records import ConsumedRecord
from tests.streams.agent_extractions import extraction, extraction_record
from tests.streams.harness import PartitionHarness, delivered
from tests.streams.stages.events.events_stage import changes, contributions


def _copied(record: ConsumedRecord, offset: int, *, place: int, partition: int = 3) -> ConsumedRecord:
    headers = (*record.headers, (PLACE, f"varve.extractions/{partition}/{place}".encode()))
    return replace(record, offset=offset, headers=headers)


async def test_a_copied_record_gives_the_original_output(stage: PartitionHarness) -> None:
    record = _copied(extraction_record(extraction(0, [("grep", 0), ("curl", 1)]), 5), 0, place=41)
    batch = await stage.process([record])
    upserts = [MemoryChange.from_json(each.value or b"") for each in batch.outputs if each.topic == "varve.memories"]
    assert {each.memory.version for each in upserts if each.memory} == {41}
    assert {(each.source, each.position) for each in contributions(batch)} == {("extractions/3|0", 41)}


async def test_a_new_extraction_replaces_a_copied_one(stage: PartitionHarness) -> None:
    await stage.process([_copied(extraction_record(extraction(0, [("grep", 0)]), 5), 0, place=41)])
    batch = await stage.process([extraction_record(extraction(0, [("make", 0)]), 60)])
    assert changes(batch) == {"grep": ("retract",), "make": ("apply",)}
    assert {(each.source, each.position) for each in contributions(batch)} == {("extractions/0", 60)}
    # The copy is read again: it is older than what replaced it.
    assert contributions(await stage.process([_copied(extraction_record(extraction(0, [("grep", 0)]), 5), 61, place=41)])) == []


async def test_padding_is_no_record(stage: PartitionHarness) -> None:
    batch = await stage.process([delivered("extractions", 0, PADDING, None), extraction_record(extraction(0, [("grep", 0)]), 1)])
    assert batch.rejections == []
    assert changes(batch) == {"grep": ("apply",)}
