"""The events stage: a second extraction of a window replaces exactly what the first published, and repetitions are harmless."""

from dataclasses import dataclass, replace

import pytest

from control import ControlState
from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from memory.headers import GENERATION_DROP, KIND, ORIGIN
from memory.keys import decode_key
from memory.records import GenerationDrop, MemoryChange
from memory.schema import scenario
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.errors import TransientError
from streams.stages.events.ledger import Entry, LedgerCodec, PackedEntry
from streams.stages.events.ledger_entries import DroppedGeneration, PublishedWindow
from tests.control_log import now_known
from tests.streams.agent_extractions import SCHEMA, TENANT, extraction, extraction_record
from tests.streams.harness import InMemoryRows, PartitionHarness, delivered
from tests.streams.stages.events.events_stage import assigned, changes, contributions


def memories(batch: Batch) -> list[OutgoingRecord]:
    return [each for each in batch.outputs if each.topic == "varve.memories"]


async def test_a_window_becomes_memories_and_contributions(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("grep", 1), ("curl", 0)])
    batch = await stage.process([extraction_record(what, 5)])
    upserts = [MemoryChange.from_json(each.value or b"") for each in memories(batch)]
    assert [change.memory_id for change in upserts] == [event.id for event in what.events]
    assert [decode_key(each.key or b"") for each in memories(batch)] == [(TENANT, event.id) for event in what.events]
    assert {change.memory.version for change in upserts if change.memory} == {5}
    assert changes(batch) == {"grep": ("apply", "apply"), "curl": ("apply",)}
    assert {(each.source, each.position) for each in contributions(batch)} == {("extractions/0", 5)}


async def test_an_event_has_the_keys_of_its_entities(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("curl -s", 1), ("", 0)])
    batch = await stage.process([extraction_record(what, 5)])
    keys = [change.memory.entity_keys for each in memories(batch) if (change := MemoryChange.from_json(each.value or b"")).memory]
    fed = {(change.source_id, each.entity_key) for each in contributions(batch) for change in each.changes}
    assert [{(event.id, key) for key in of_event or ()} for event, of_event in zip(what.events, keys, strict=True)] == [
        {pair for pair in fed if pair[0] == event.id} for event in what.events
    ]
    assert keys == [["grep"], ["curl%20-s"], None]


async def test_an_earlier_revision_never_replaces_a_later_one(stage: PartitionHarness) -> None:
    edited = extraction(0, [("make", 0)]).model_copy(update={"revision": 1})
    await stage.process([extraction_record(edited, 0)])
    batch = await stage.process([extraction_record(extraction(0, [("grep", 0)]), 1)])
    assert (changes(batch), memories(batch)) == ({}, []), "extracted before the edit, and redriven after it"


async def test_a_second_extraction_retracts_exactly_the_first(stage: PartitionHarness) -> None:
    first, second = extraction(0, [("grep", 0), ("curl", 1)]), extraction(0, [("make", 0)])
    await stage.process([extraction_record(first, 0)])
    batch = await stage.process([extraction_record(second, 1)])
    assert changes(batch) == {"grep": ("retract",), "curl": ("retract",), "make": ("apply",)}
    gone = [decode_key(each.key or b"")[1] for each in memories(batch) if each.value is None]
    assert gone == [first.events[1].id], "the first event's id is published again, with other content"
    again = await stage.process([extraction_record(extraction(0, []), 2)])
    assert changes(again) == {"make": ("retract",)}
    assert [each.value for each in memories(again)] == [None]


async def test_a_record_of_an_unknown_kind_is_refused(stage: PartitionHarness) -> None:
    batch = await stage.process([extraction_record(extraction(0, [("grep", 0)]), 5, headers=((KIND, b"newer"),))])
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [(5, "malformed")]
    assert batch.outputs == []


async def test_another_generation_retracts_nothing(stage: PartitionHarness) -> None:
    await stage.process([extraction_record(extraction(0, [("grep", 0)]), 0)])
    batch = await stage.process([extraction_record(extraction(0, [("grep", 1)], generation="g2"), 1)])
    assert changes(batch) == {"grep": ("apply",)}
    assert {each.generation for each in contributions(batch)} == {"g2"}


def drop_record(generation: str, drops: int, offset: int) -> ConsumedRecord:
    value = GenerationDrop(tenant=TENANT, generation=generation, drops=drops).to_json()
    return delivered("extractions", offset, b"acme/-", value, headers=((KIND, GENERATION_DROP),))


async def test_a_late_extraction_of_a_dropped_generation_counts_nothing(stage: PartitionHarness) -> None:
    first, again, elsewhere = extraction(0, [("grep", 0)]), extraction(0, [("make", 0)]), extraction(1, [("curl", 0)])
    await stage.process([extraction_record(first, 0), drop_record("", 1, 1)])
    retracted = await stage.process([extraction_record(extraction(0, [], drops=1), 2)])
    assert changes(retracted) == {"grep": ("retract",)}
    assert {each.cause for each in contributions(retracted)} == {"drop"}, "nothing else of the generation follows"

    late = await stage.process([extraction_record(again, 3), extraction_record(elsewhere, 4)])
    assert late.outputs == []
    redriven = extraction_record(elsewhere, 5, headers=((ORIGIN, b"varve.extractions/0/0"),))
    assert (await stage.process([redriven])).outputs == []

    other = await stage.process([extraction_record(extraction(1, [("curl", 0)], generation="g2"), 6)])
    assert changes(other) == {"curl": ("apply",)}
    made_anew = await stage.process([extraction_record(extraction(1, [("curl", 0)], drops=1), 7)])
    assert changes(made_anew) == {"curl": ("apply",)}


async def test_a_rebuild_finds_the_same_after_a_drop(stage: PartitionHarness, settings: Settings, tenants: TenantDirectory) -> None:
    log = [
        extraction_record(extraction(0, [("grep", 0)]), 0),
        drop_record("", 1, 1),
        extraction_record(extraction(1, [("late", 0)]), 2),
        extraction_record(extraction(0, [], drops=1), 3),
        drop_record("", 1, 4),
    ]
    one_by_one = [output for record in log for output in (await stage.process([record])).outputs]
    rebuilt = assigned(settings, tenants)
    assert (await rebuilt.process(log)).outputs == one_by_one
    assert rebuilt.rows.rows == stage.rows.rows


async def test_a_redelivery_repeats_its_bytes_and_no_state(stage: PartitionHarness) -> None:
    record = extraction_record(extraction(0, [("grep", 0), ("curl", 0)]), 3)
    first = await stage.process([record])
    rows = dict(stage.rows.rows)
    again = await stage.process([record])
    assert again.outputs == first.outputs
    assert stage.rows.rows == rows


async def test_a_crash_before_state_repeats_the_same_bytes(stage: PartitionHarness, settings: Settings, tenants: TenantDirectory) -> None:
    log = [extraction_record(extraction(0, [("grep", 0)]), 0), extraction_record(extraction(0, [("curl", 0)]), 1)]
    await stage.process(log[:1])
    lost = await stage.process_uncommitted(log[1:])
    after = assigned(settings, tenants, InMemoryRows(stage.rows.rows))
    assert (await after.process(log[1:])).outputs == lost.outputs


async def test_an_extraction_before_its_successor_is_skipped(stage: PartitionHarness) -> None:
    old, new = extraction(0, [("grep", 0)]), extraction(0, [("curl", 0)])
    await stage.process([extraction_record(old, 0), extraction_record(new, 1)])
    assert (await stage.process([extraction_record(old, 0)])).outputs == [], "a replay from the beginning"
    redriven = extraction_record(old, 9, headers=((ORIGIN, b"varve.extractions/0/0"),))
    assert (await stage.process([redriven])).outputs == [], "a dead letter redriven after its successor"


async def test_a_redriven_extraction_is_published_once(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    redriven_twice = [extraction_record(what, offset, headers=((ORIGIN, b"varve.extractions/0/2"),)) for offset in (7, 8)]
    first = await stage.process(redriven_twice[:1])
    second = await stage.process(redriven_twice[1:])
    assert changes(first) == {"grep": ("apply",)}
    assert second.outputs == first.outputs
    assert {each.position for each in contributions(second)} == {7}, "the position under which it was applied"
    replaced = await stage.process([extraction_record(extraction(0, [("curl", 0)]), 9)])
    assert changes(replaced) == {"grep": ("retract",), "curl": ("apply",)}


async def test_only_the_unusable_extraction_is_refused(stage: PartitionHarness) -> None:
    bad = [
        delivered("extractions", 1, b"k", b""),
        delivered("extractions", 2, b"k", b"\xff"),
        extraction_record(extraction(1, [("grep", 0)], tenant="nobody"), 3),
        extraction_record(extraction(1, [("grep", 0)]).model_copy(update={"schema_revision": 7}), 4),
        delivered("extractions", 5, b"k", extraction(1, []).to_json().replace(b'"schema_version":"1.0"', b'"schema_version":"3.0"')),
    ]
    batch = await stage.process(
        [extraction_record(extraction(0, [("grep", 0)]), 0), *bad, extraction_record(extraction(2, [("make", 0)]), 6)]
    )
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [
        (1, "malformed"),
        (2, "malformed"),
        (3, "unknown_tenant"),
        (4, "unknown_schema"),
        (5, "unsupported_version"),
    ]
    assert changes(batch) == {"grep": ("apply",), "make": ("apply",)}


async def test_an_extraction_is_routed_as_it_was_made(settings: Settings, tenants: TenantDirectory) -> None:
    made_under = extraction(0, [("grep", 0)]).model_copy(update={"schema_name": SCHEMA, "schema_revision": 1})
    before = await assigned(settings, tenants).process([extraction_record(made_under, 0)])
    without_tools = replace(scenario(SCHEMA), entity_types=())
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=without_tools))
    stage = assigned(settings, tenants)
    after = await stage.process([extraction_record(made_under, 0)])
    assert changes(before) == {"grep": ("apply",)}
    assert after.outputs == before.outputs
    made_anew = made_under.model_copy(update={"schema_revision": 2})
    assert contributions(await stage.process([extraction_record(made_anew, 1)])) == [], "what the schema has no more stays as it is"
    dropped = await stage.process([extraction_record(extraction(0, [], drops=1).model_copy(update={"schema_revision": 2}), 2)])
    assert changes(dropped) == {"grep": ("retract",)}
    assert {each.schema_revision for each in contributions(dropped)} == {1}, "the new one has no such entities any more"


async def test_an_extraction_of_an_unknown_revision_waits(settings: Settings, tenants: TenantDirectory) -> None:
    knowledge = Outdated(tenants._view.state, confirmed_at=0.0)
    stage = assigned(settings, TenantDirectory(knowledge, monotonic=lambda: 1.0))
    record = extraction_record(extraction(0, [("grep", 0)]).model_copy(update={"schema_name": SCHEMA, "schema_revision": 2}), 0)
    with pytest.raises(TransientError, match="not known yet"):
        await stage.process_uncommitted([record])
    with pytest.raises(TransientError, match="not known yet"):
        await stage.process_uncommitted([extraction_record(extraction(0, [], tenant="new"), 0)])
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=replace(scenario(SCHEMA), description="another")))
    assert changes(await stage.process([record])) == {"grep": ("apply",)}
    knowledge.confirmed_at = 2.0
    letters = (await stage.process([extraction_record(extraction(0, [], tenant="new"), 1)])).rejections
    assert [each.reason for each in letters] == ["unknown_tenant"]


@dataclass
class Outdated:
    """ControlView of the log as it was at a time."""

    state: ControlState
    confirmed_at: float
    is_current: bool = True

    def require_current(self) -> None:
        """It is recent enough."""

    async def wait_for(self, position: int, *, timeout_s: float) -> None:
        raise NotImplementedError("nobody waits here")


async def test_an_extraction_refused_half_way_publishes_nothing(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("curl", 0)])
    nameless = what.model_copy(update={"events": [what.events[0], what.events[1].model_copy(update={"id": ""})]})
    batch = await stage.process([extraction_record(nameless, 0), extraction_record(extraction(1, [("make", 0)]), 1)])
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [(0, "bad_key")]
    assert changes(batch) == {"make": ("apply",)}
    assert len(memories(batch)) == 1


async def test_the_ledger_survives_its_bytes(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("curl", 1)])
    batch = await stage.process([extraction_record(what, 4)])
    entry: Entry = PublishedWindow(4, what, tuple(contributions(batch)), (tuple(contributions(batch)[:1]), ()))
    codec = LedgerCodec()
    for each in (entry, DroppedGeneration(3)):
        assert codec.decode(codec.encode(PackedEntry.of(each))).entry() == each
