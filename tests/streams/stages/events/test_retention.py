"""The events stage removes results beyond a tenant's retention, and never publishes them again."""

from datetime import datetime, timedelta

from control.erasure import subject_of
from control.tenants import TenantDirectory
from memory.headers import KIND, ORIGIN, RETENTION
from memory.keys import encode_key, entity_key, marked_key
from memory.records import Change, Correction, EntityCorrection, Extraction, RetentionLimits
from memory.retention import without_old_results
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.stages.events.ledger import corrected_entity_key, corrected_window_key, published_key, retained_key
from tests.streams.agent_extractions import START, TENANT, extraction, extraction_record
from tests.streams.harness import PartitionHarness, delivered
from tests.streams.stages.events.batch_outputs import tombstones, upserts
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.stages.events.events_stage import assigned, changes, contributions

LATER = START + timedelta(days=100)
ALL = {"*": LATER - timedelta(days=50)}


def limits_record(limits: dict[str, datetime], offset: int, *, held: list[str] | None = None) -> ConsumedRecord:
    value = RetentionLimits(tenant=TENANT, limits=limits, held=held, time=LATER).to_json()
    return delivered("extractions", offset, marked_key(encode_key(TENANT), "retention"), value, headers=((KIND, RETENTION),))


def rewritten_record(what: Extraction, limits: dict[str, datetime], offset: int, *, original: int) -> ConsumedRecord:
    """The record by which a run replaces an extraction."""
    after = without_old_results(what, limits).model_copy(update={"retained": limits})
    return extraction_record(after, offset, headers=((ORIGIN, f"varve.extractions/0/{original}".encode()),))


def of_day(what: Extraction, day: int, *, first: int = 0) -> Extraction:
    """The extraction with its events from ``first`` on said on another day."""
    time = START + timedelta(days=day)
    moved = [each.model_copy(update={"said_at": time, "event_time": time}) for each in what.events[first:]]
    return what.model_copy(update={"events": [*what.events[:first], *moved], "window_end": max(what.window_end, time)})


async def test_a_window_with_only_old_results_is_removed(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("curl", 1)])
    await stage.process([extraction_record(what, 0), correction_record(correction(what.events[0], 1, properties={"failure": 1}), 1)])
    batch = await stage.process([limits_record(ALL, 2), rewritten_record(what, ALL, 3, original=0)])
    assert tombstones(batch) == [each.id for each in what.events]
    assert changes(batch) == {"grep": ("retract",), "curl": ("retract",)}
    assert {(each.cause, each.position) for each in contributions(batch)} == {("retention", 3)}
    assert stage.rows.rows.keys() == {retained_key(TENANT)}


async def test_young_results_of_a_window_stay(stage: PartitionHarness) -> None:
    what = of_day(extraction(0, [("grep", 0), ("curl", 1)]), 90, first=1)
    await stage.process([extraction_record(what, 0)])
    batch = await stage.process([limits_record(ALL, 1), rewritten_record(what, ALL, 2, original=0)])
    assert tombstones(batch) == [what.events[0].id]
    assert changes(batch) == {"grep": ("retract",)}, "nothing is sent to entities that lose nothing"
    assert {message for each in contributions(batch) for message in each.forgotten_messages or ()} == {"m0-0"}
    again = await stage.process([extraction_record(what.model_copy(update={"events": []}), 5)])
    assert changes(again) == {"curl": ("retract",)}


async def test_a_repeated_rewriting_changes_nothing(stage: PartitionHarness) -> None:
    what = of_day(extraction(0, [("grep", 0), ("curl", 1)]), 90, first=1)
    rewritten = rewritten_record(what, ALL, 2, original=0)
    await stage.process([extraction_record(what, 0), limits_record(ALL, 1), rewritten])
    rows = dict(stage.rows.rows)
    batch = await stage.process([rewritten])
    assert tombstones(batch) == []
    assert changes(batch).get("grep") is None
    assert stage.rows.rows == rows


async def test_a_late_extraction_restores_no_expired_events(stage: PartitionHarness) -> None:
    await stage.process([limits_record(ALL, 0)])
    old, young = extraction(0, [("grep", 0)]), of_day(extraction(1, [("curl", 0)]), 90)
    batch = await stage.process([extraction_record(old, 1), extraction_record(young, 2)])
    assert upserts(batch) == [young.events[0].id]
    assert changes(batch) == {"curl": ("apply",)}


async def test_a_longer_period_restores_no_events(stage: PartitionHarness) -> None:
    await stage.process([limits_record({"tool_use": LATER}, 0), limits_record({"tool_use": START - timedelta(days=1)}, 1)])
    assert upserts(await stage.process([extraction_record(extraction(0, [("grep", 0)]), 2)])) == []


async def test_an_entity_type_has_its_own_limit(stage: PartitionHarness) -> None:
    what, limits = extraction(0, [("grep", 0)]), {"tool_experience": LATER}
    published = await stage.process([extraction_record(what, 0)])
    batch = await stage.process([limits_record(limits, 1), rewritten_record(what, limits, 2, original=0)])
    assert tombstones(batch) == []
    assert {each.entity_type for each in contributions(batch)} == {"tool_experience"}
    others = {each.entity_type for each in contributions(published)} - {"tool_experience"}
    later = await stage.process([extraction_record(what.model_copy(update={"events": []}), 5)])
    assert {each.entity_type for each in contributions(later) if each.changes} == others, "those are in force still"
    assert changes(await stage.process([extraction_record(extraction(1, [("curl", 0)]), 6)])) == {}


async def test_a_newer_extraction_is_not_replaced(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    again = of_day(extraction(0, [("curl", 0)]), 90)
    await stage.process([extraction_record(what, 0), extraction_record(again, 1), limits_record(ALL, 2)])
    batch = await stage.process([rewritten_record(what, ALL, 3, original=0)])
    assert batch.outputs == []
    assert published_key(what.window_id, "") in stage.rows.rows


async def test_nothing_is_removed_under_a_hold(stage: PartitionHarness) -> None:
    await stage.process([limits_record(ALL, 0, held=[subject_of(TENANT, "agent")])])
    what = extraction(0, [("grep", 0)])
    assert upserts(await stage.process([extraction_record(what, 1)])) == [what.events[0].id]
    await stage.process([limits_record(ALL, 2)])
    assert upserts(await stage.process([extraction_record(extraction(1, [("grep", 0)]), 3)])) == []


async def test_corrections_of_remaining_events_stay(stage: PartitionHarness) -> None:
    what = of_day(extraction(0, [("grep", 0), ("curl", 1)]), 90, first=1)
    fixed = correction_record(correction(what.events[1], 1, properties={"tool_name": "wget"}), 1)
    await stage.process([extraction_record(what, 0), fixed, limits_record(ALL, 2), rewritten_record(what, ALL, 3, original=0)])
    assert corrected_window_key(TENANT, what.window_id) in stage.rows.rows
    batch = await stage.process([extraction_record(of_day(extraction(0, [("curl", 1)]), 90), 4)])
    assert changes(batch)["wget"] == ("retract", "apply")


async def test_a_rebuild_without_the_original_gives_the_same(stage: PartitionHarness, settings: Settings, tenants: TenantDirectory) -> None:
    what = of_day(extraction(0, [("grep", 0), ("curl", 1)]), 90, first=1)
    limits, rewritten = limits_record(ALL, 1), rewritten_record(what, ALL, 2, original=0)
    await stage.process([extraction_record(what, 0), limits, rewritten])
    live = await stage.process([rewritten])
    rebuilt = await assigned(settings, tenants).process([limits, rewritten])
    memories = [[each.value for each in batch.outputs if each.topic == "varve.memories"] for batch in (live, rebuilt)]
    assert memories[0] == memories[1], "same content, same version"
    assert len(memories[0]) == 1


def by_hand(name: str, value: str, offset: int, *, retained_offset: int | None = None) -> ConsumedRecord:
    """A correction of a field of a tool's entity."""
    change = Change(op="apply", property=name, value=value, source_id=f"c{offset}", event_time=START)
    entity = EntityCorrection(
        entity_type="tool_experience",
        entity_key=entity_key("grep"),
        changes=[change] if retained_offset is None else [],
        schema_name="agent_tools",
    )
    what = Correction(
        id=f"c{offset if retained_offset is None else retained_offset}",
        tenant=TENANT,
        user="agent",
        action="correct",
        memory_id="e1",
        entity=entity,
        by="support (k1)",
        time=START,
        retained_offset=retained_offset,
    )
    return correction_record(what, offset)


async def test_a_correction_of_an_entity_is_retracted(stage: PartitionHarness) -> None:
    await stage.process([by_hand("suggestions", "Use -r.", 0), by_hand("suggestions", "Use -i.", 1)])
    key = corrected_entity_key(TENANT, "tool_experience", entity_key("grep"), "")
    batch = await stage.process([by_hand("suggestions", "", 2, retained_offset=0)])
    (taken,) = contributions(batch)
    assert (taken.cause, taken.position, [(each.op, each.source_id) for each in taken.changes]) == ("retention", 2, [("retract", "c0")])
    assert (await stage.process([by_hand("suggestions", "", 3, retained_offset=0)])).outputs == [], "once"
    assert key in stage.rows.rows
    await stage.process([by_hand("suggestions", "", 4, retained_offset=1)])
    assert key not in stage.rows.rows
