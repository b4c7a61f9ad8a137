"""The events stage: an erased user's windows are retracted, forgotten, and never published again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from control import Draft
from control.erasure import subject_of
from control.erasure_changes import begin_erasure, finish_erasure
from control.tenants import TenantDirectory
from memory.headers import ERASURE, KIND, ORIGIN, TICK
from memory.keys import encode_key, entity_key
from memory.records import Change, Contribution, Correction, EntityCorrection, ErasedEntity, ErasedWindow, ErasureCommand, Extraction
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError
from streams.stages.events.ledger import (
    PackedEntry,
    corrected_entity_key,
    corrected_window_key,
    expired_key,
    published_key,
    since_erasure_key,
)
from streams.stages.events.ledger_entries import ExpiredEvents, WindowsSinceErasure
from tests.control_log import known_tenants, now_known
from tests.erased_users import command_record, now_erased, unreadably_erased
from tests.streams.agent_extractions import SCHEMA, START, TENANT, Call, extraction, extraction_record
from tests.streams.harness import PartitionHarness, delivered, plain_settings
from tests.streams.stages.events.batch_outputs import tombstones
from tests.streams.stages.events.corrections import LATER, correction, correction_record
from tests.streams.stages.events.events_stage import assigned, changes, contributions

AGENT, OTHER = "agent", "other"


def of_user(what: Extraction, user: str) -> Extraction:
    """The same extraction, of another user's window."""
    return what.model_copy(update={"user": user, "events": [each.model_copy(update={"user": user}) for each in what.events]})


def command(windows: Sequence[Extraction] = (), entities: Sequence[ErasedEntity] = (), *, user: str = AGENT) -> ErasureCommand:
    named = [ErasedWindow(window_id=each.window_id, generation=each.generation) for each in windows]
    return ErasureCommand(tenant=TENANT, user=user, windows=named, entities=list(entities))


def tool(name: str, *, entity_type: str = "tool_experience") -> ErasedEntity:
    return ErasedEntity(entity_type=entity_type, entity_key=entity_key(name), own=False, schema_name=SCHEMA)


def entity_correction(name: str, number: int, *, entity_type: str, key: str) -> ConsumedRecord:
    """Somebody has corrected a field of an entity by hand."""
    change = Change(op="apply", property=name, value="by hand", source_id=f"c{number}", event_time=LATER)
    entity = EntityCorrection(entity_type=entity_type, entity_key=entity_key(key), changes=[change], schema_name=SCHEMA)
    what = Correction(
        id=f"c{number}", tenant=TENANT, user=AGENT, action="correct", memory_id="e1", entity=entity, by="support (k1)", time=LATER
    )
    return correction_record(what, number)


async def test_results_of_an_erased_window_are_retracted(stage: PartitionHarness) -> None:
    first, second = extraction(0, [("grep", 0), ("curl", 1)]), extraction(1, [("grep", 0)])
    await stage.process([extraction_record(first, 0), extraction_record(second, 1)])
    batch = await stage.process([command_record("extractions", command([first, second]), 2)])
    assert tombstones(batch) == [each.id for each in (*first.events, *second.events)]
    assert changes(batch) == {"grep": ("retract", "retract"), "curl": ("retract",)}
    assert {(each.cause, each.source, each.position, each.user) for each in contributions(batch)} == {
        ("erasure", "extractions/0", 2, AGENT)
    }
    assert stage.rows.rows == {}


async def test_entities_get_the_messages_to_forget(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    entities = [tool(name).model_copy(update={"message_ids": [f"m-{name}"]}) for name in ("grep", "curl")]
    batch = await stage.process([command_record("extractions", command([what], entities), 1)])
    assert {each.entity_key: each.forgotten_messages for each in contributions(batch)} == {"grep": ["m-grep"], "curl": ["m-curl"]}


async def test_published_memories_missing_in_the_ledger_are_retracted(stage: PartitionHarness) -> None:
    """A rebuild has made a ledger without the user, and the change feed kept what it had of them."""
    window = ErasedWindow(window_id="w-0", memory_ids=["m-1", "m-2"])
    entity = tool("grep").model_copy(update={"memory_ids": ["m-3"], "outcomes": [("story", "-")]})
    erasure = ErasureCommand(tenant=TENANT, user=AGENT, windows=[window], entities=[entity])
    batch = await stage.process([command_record("extractions", erasure, 1)])
    assert tombstones(batch) == ["m-1", "m-2"]
    (changes_by_entity,) = contributions(batch)
    assert (changes_by_entity.forgotten_memories, changes_by_entity.forgotten_outcomes) == (["m-3"], [("story", "-")])


async def test_named_memories_of_another_users_window_stay(stage: PartitionHarness) -> None:
    theirs = of_user(extraction(0, [("grep", 0)]), OTHER)
    await stage.process([extraction_record(theirs, 0)])
    window = ErasedWindow(window_id=theirs.window_id, memory_ids=[theirs.events[0].id])
    erasure = ErasureCommand(tenant=TENANT, user=AGENT, windows=[window])
    assert (await stage.process([command_record("extractions", erasure, 1)])).outputs == []


async def test_a_correction_ends_with_an_erasure(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 0)])
    right = correction(what.events[0], 1, properties={"tool_name": "rg"})
    await stage.process([extraction_record(what, 0), correction_record(right, 1)])
    assert stage.rows.rows.keys() == {published_key(what.window_id, ""), corrected_window_key(TENANT, what.window_id)}
    batch = await stage.process([command_record("extractions", command([what]), 2)])
    assert changes(batch) == {"grep": (), "rg": ("retract",), "make": ("retract",)}, "what was in force"
    assert stage.rows.rows == {}


async def test_an_expired_window_leaves_no_row(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    stage.rows.rows[expired_key(what.window_id, "")] = PackedEntry.of(ExpiredEvents((what.events[0].id,))).raw
    await assigned_again(stage).process([command_record("extractions", command([what]), 1)])
    assert stage.rows.rows == {}


def assigned_again(stage: PartitionHarness) -> PartitionHarness:
    """The stage as it begins with the rows that it has."""
    return PartitionHarness(stage.handler, stage.state._codec, stage.rows)


async def test_an_entity_without_current_contributions_is_named(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    entities = [tool("grep"), tool("make"), tool("grep", entity_type="slow_calls")]
    batch = await stage.process([command_record("extractions", command([what], entities), 1)])
    changes_by_entity = {(each.entity_type, each.entity_key): len(each.changes) for each in contributions(batch)}
    assert changes_by_entity[("tool_experience", "make")] == changes_by_entity[("slow_calls", "grep")] == 0
    assert changes_by_entity[("tool_experience", "grep")] > 0, "it is sent once, with the retractions"
    assert {(each.cause, each.position) for each in contributions(batch)} == {("erasure", 1)}


async def test_an_entity_with_former_contributions_is_named(stage: PartitionHarness) -> None:
    """A correction fed it, and a revert retracted that: its history still has the words."""
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    await stage.process([correction_record(correction(what.events[0], 1, properties={"tool_name": "rg"}), 1)])
    await stage.process([correction_record(correction(what.events[0], 2, "revert"), 2)])
    batch = await stage.process([command_record("extractions", command([what]), 3)])
    assert changes(batch) == {"grep": ("retract",), "rg": ()}
    assert {each.cause for each in contributions(batch)} == {"erasure"}


async def test_a_repeated_command_finds_nothing_more(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    erasure = command([what], [tool("grep")])
    await stage.process([command_record("extractions", erasure, 1)])
    batch = await stage.process([command_record("extractions", erasure, 2)])
    assert tombstones(batch) == []
    assert [(each.entity_key, each.changes, each.position) for each in contributions(batch)] == [("grep", [], 2)]


async def test_a_crash_before_state_repeats_an_erasure(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    erasure = command_record("extractions", command([what], [tool("make")]), 1)
    lost = await stage.process_uncommitted([erasure])
    assert lost.outputs
    assert (await assigned_again(stage).process([erasure])).outputs == lost.outputs


async def test_another_users_window_is_not_taken_back(stage: PartitionHarness) -> None:
    theirs = of_user(extraction(0, [("grep", 0)]), OTHER)
    await stage.process([extraction_record(theirs, 0)])
    assert (await stage.process([command_record("extractions", command([theirs]), 1)])).outputs == []


async def test_windows_of_other_users_stay_in_the_ledger(stage: PartitionHarness) -> None:
    theirs = of_user(extraction(0, [("grep", 0)]), OTHER)
    await stage.process([extraction_record(theirs, 0)])
    await stage.process([command_record("extractions", command([theirs]), 1)])
    again = await stage.process([extraction_record(of_user(extraction(0, []), OTHER), 2)])
    assert changes(again) == {"grep": ("retract",)}, "the ledger knows it still"


async def test_one_generation_of_a_window_is_erased(stage: PartitionHarness) -> None:
    live, beside = extraction(0, [("grep", 0)]), extraction(0, [("curl", 0)], generation="g2")
    await stage.process([extraction_record(live, 0), extraction_record(beside, 1)])
    batch = await stage.process([command_record("extractions", command([beside]), 2)])
    assert changes(batch) == {"curl": ("retract",)}
    assert {each.generation for each in contributions(batch)} == {"g2"}
    assert stage.rows.rows.keys() == {published_key(live.window_id, "")}


async def test_after_its_end_only_quoting_entities_are_asked(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    """A rebuild reads the command again, after other partitions: what only erased records had changed has nothing to forget."""
    own = tool("grep").model_copy(update={"is_quoted": False})
    again = command_record("extractions", command(entities=[own, tool("curl")]), 3)
    now_erased(tenants, TENANT, AGENT, {"extractions": {0: 3}}, at=again.appended_at)
    assert {each.entity_key for each in contributions(await stage.process([again]))} == {"grep", "curl"}
    end = again.appended_at

    def finish(draft: Draft) -> None:
        finish_erasure(draft, subject_of(TENANT, AGENT), begun_at=end, at=end, gone_by=end, found={}, remains=())

    now_known(tenants, finish)
    assert {each.entity_key for each in contributions(await stage.process([again]))} == {"curl"}


async def test_corrections_of_what_others_share_stay(stage: PartitionHarness) -> None:
    own = ErasedEntity(entity_type="agent_record", entity_key=AGENT, own=True, schema_name=SCHEMA)
    await stage.process(
        [
            entity_correction("suggestions", 1, entity_type="tool_experience", key="grep"),
            entity_correction("procedures", 2, entity_type="agent_record", key=AGENT),
        ]
    )
    shared_key = corrected_entity_key(TENANT, "tool_experience", "grep", "")
    assert stage.rows.rows.keys() == {shared_key, corrected_entity_key(TENANT, "agent_record", AGENT, "")}
    await stage.process([command_record("extractions", command(entities=[own, tool("grep")]), 3)])
    assert stage.rows.rows.keys() == {shared_key}


async def test_records_before_the_erasure_offset_are_skipped(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    now_erased(tenants, TENANT, AGENT, {"extractions": {0: 5}})
    old, new, theirs = extraction(0, [("grep", 0)]), extraction(1, [("curl", 0)]), of_user(extraction(2, [("make", 0)]), OTHER)
    batch = await stage.process([extraction_record(old, 4), extraction_record(theirs, 4), extraction_record(new, 5)])
    assert changes(batch) == {"make": ("apply",), "curl": ("apply",)}
    redriven = extraction_record(old, 9, headers=((ORIGIN, b"varve.extractions/0/4"),))
    assert (await stage.process([redriven])).outputs == [], "its first position is before the reach"
    assert batch.rejections == []


async def test_corrections_and_ticks_are_skipped_too(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    now_erased(tenants, TENANT, AGENT, {"extractions": {0: 3}})
    tick = Contribution(
        tenant=TENANT, user=AGENT, entity_type="tool_experience", entity_key="grep", source="extractions/0", position=0, time=START
    )
    batch = await stage.process(
        [
            correction_record(correction(what.events[0], 1, properties={"tool_name": "rg"}), 1),
            delivered("extractions", 2, encode_key(TENANT, AGENT), tick.to_json(), headers=((KIND, TICK),)),
        ]
    )
    assert (batch.outputs, batch.rejections) == ([], [])


async def test_a_tombstone_is_skipped(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    rows = dict(stage.rows.rows)
    batch = await stage.process(
        [delivered("extractions", 1, extraction_record(what, 0).key, None), delivered("extractions", 2, None, None)]
    )
    assert (batch.outputs, batch.rejections) == ([], [])
    assert stage.rows.rows == rows


async def test_an_unreadable_erasure_holds_the_stage_up(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    unreadably_erased(tenants, TENANT)
    with pytest.raises(TransientError):
        await stage.process_uncommitted([extraction_record(extraction(0, [("grep", 0)]), 0)])


async def test_only_the_unreadable_command_is_refused(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    unreadable = delivered("extractions", 1, encode_key(TENANT, AGENT), b"{", headers=((KIND, ERASURE),))
    batch = await stage.process([extraction_record(what, 0), unreadable, command_record("extractions", command([what]), 2)])
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [(1, "malformed")]
    assert changes(batch) == {"grep": ("retract",)}


@pytest.mark.parametrize("key", [None, b"", b"\xff", b"a b"])
async def test_a_valid_record_needs_no_valid_key(stage: PartitionHarness, key: bytes | None) -> None:
    what = extraction(0, [("grep", 0)])
    batch = await stage.process([delivered("extractions", 0, key, what.to_json())])
    assert batch.rejections == []
    assert changes(batch) == {"grep": ("apply",)}


CALLS = st.lists(st.tuples(st.sampled_from(["grep", "curl"]), st.integers(0, 1)), max_size=3)
LOG = st.lists(st.tuples(st.integers(0, 3), st.booleans(), CALLS), max_size=10)


@examples(max_examples=60, deadline=None)
@given(log=LOG)
async def test_the_ledger_contains_only_remaining_users(log: list[tuple[int, bool, list[Call]]]) -> None:
    """An erasure leaves the ledger as if the user had never been; a window is of one user alone."""
    settings, tenants = plain_settings_of_nowhere(), known_tenants({TENANT: SCHEMA})
    stage, without = assigned(settings, tenants), assigned(settings, tenants)
    erased: dict[str, Extraction] = {}
    for offset, (window, is_erased, calls) in enumerate(log):
        what = extraction(window + (10 if is_erased else 0), calls)
        await stage.process([extraction_record(what if is_erased else of_user(what, OTHER), offset)])
        if is_erased:
            erased[what.window_id] = what
        else:
            await without.process([extraction_record(of_user(what, OTHER), offset)])
    await stage.process([command_record("extractions", command(list(erased.values())), len(log))])
    assert stage.rows.rows == without.rows.rows


def plain_settings_of_nowhere() -> Settings:
    return plain_settings(Path("nowhere"))


async def test_windows_since_the_erasure_are_known_until_its_end(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    old, new, other = extraction(0, [("grep", 0)]), extraction(1, [("grep", 0)]), of_user(extraction(2, [("curl", 0)]), OTHER)
    await stage.process([extraction_record(old, 0)])
    subject = now_known(tenants, lambda draft: begin_erasure(draft, TENANT, AGENT, at=LATER)).subject
    await stage.process([extraction_record(new, 1), extraction_record(new, 2), extraction_record(other, 3)])
    assert since_erasure_key(TENANT, OTHER) not in stage.rows.rows
    batch = await stage.process([command_record("extractions", command([old], [tool("grep")]), 4)])
    of_tool = [(each.cause, each.position) for each in contributions(batch) if each.entity_type == "tool_experience"]
    assert of_tool == [("erasure", 4), ("extraction", 2)], "the new window is not erased"
    assert stage.state.get(since_erasure_key(TENANT, AGENT)) == PackedEntry.of(WindowsSinceErasure(windows=[(new.window_id, "")]))

    await stage.process([command_record("extractions", command([new], [tool("grep")]), 5)])
    assert since_erasure_key(TENANT, AGENT) not in stage.rows.rows, "a later erasure removes these windows, too"
    await stage.process([extraction_record(new, 6)])
    assert since_erasure_key(TENANT, AGENT) in stage.rows.rows
    del stage.rows.rows[published_key(new.window_id, "")]
    batch = await assigned_again(stage).process([command_record("extractions", command(), 7)])
    assert since_erasure_key(TENANT, AGENT) not in stage.rows.rows, "retention has removed the window"
    assert batch.is_erasing
    stage = assigned_again(stage)
    await stage.process([extraction_record(new, 8)])
    times = {"begun_at": LATER, "at": LATER, "gone_by": LATER}
    now_known(tenants, lambda draft: finish_erasure(draft, subject, **times, found={}, remains=()))
    await stage.process([extraction_record(extraction(3, [("make", 0)]), 9)])
    assert since_erasure_key(TENANT, AGENT) not in stage.rows.rows


@pytest.mark.parametrize(("finished", "sent", "counts"), [(None, 1, False), (2, 1, False), (2, 2, False), (2, 3, True)])
async def test_a_correction_from_before_the_end_is_void(
    stage: PartitionHarness, tenants: TenantDirectory, finished: int | None, sent: int, *, counts: bool
) -> None:
    """A request was held up, or its author still saw what the erasure removes."""
    of_agent, of_other = extraction(0, [("grep", 0)]), of_user(extraction(1, [("curl", 0)]), OTHER)

    def at(hour: int) -> datetime:
        return LATER + timedelta(hours=hour)

    def erased(draft: Draft) -> None:
        subject = begin_erasure(draft, TENANT, AGENT, at=at(0)).subject
        if finished is not None:
            finish_erasure(draft, subject, begun_at=at(0), at=at(finished), gone_by=at(9), found={}, remains=())

    now_known(tenants, erased)
    await stage.process([extraction_record(of_agent, 0), extraction_record(of_other, 1)])
    rows = dict(stage.rows.rows)
    event, others = of_agent.events[0], of_other.events[0]
    made = correction(event, 1, properties={"tool_name": "rg"}).model_copy(update={"time": at(sent)})
    assert changes(await stage.process([correction_record(made, 2)])) == ({"grep": ("retract",), "rg": ("apply",)} if counts else {})
    by_hand = Correction.from_json(entity_correction("notes", 3, entity_type="agent_record", key=AGENT).value or b"")
    batch = await stage.process([correction_record(by_hand.model_copy(update={"time": at(sent)}), 3)])
    assert bool(contributions(batch)) == counts
    assert (stage.rows.rows == rows) == (not counts), "no word of it is kept"
    batch = await stage.process([correction_record(correction(others, 4, properties={"tool_name": "wget"}), 4)])
    assert changes(batch) == {"curl": ("retract",), "wget": ("apply",)}, "another user's"
