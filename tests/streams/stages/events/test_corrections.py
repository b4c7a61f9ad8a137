"""The events stage: manual corrections survive every new extraction, and a revert restores the original."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from control.tenants import TenantDirectory
from memory.records import Change, Correction, EntityCorrection
from runtime.settings import Settings
from streams.stages.events.ledger import LedgerCodec
from streams.stages.events.ledger_entries import MAX_CORRECTIONS
from tests.streams.agent_extractions import START, TENANT, extraction, extraction_record
from tests.streams.harness import InMemoryRows, PartitionHarness
from tests.streams.stages.events.batch_outputs import memories
from tests.streams.stages.events.corrections import LATER, correction, correction_record
from tests.streams.stages.events.events_stage import assigned, changes, contributions


async def test_a_correction_moves_the_contributions_of_its_event(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 0)])
    await stage.process([extraction_record(what, 3)])
    wrong = what.events[0]
    right = correction(wrong, 1, content="used ripgrep", properties={"tool_name": "ripgrep"})
    batch = await stage.process([correction_record(right, 7)])
    assert changes(batch) == {"grep": ("retract",), "ripgrep": ("apply",)}
    assert {(each.source, each.position) for each in contributions(batch)} == {("extractions/0", 7)}
    (memory,) = memories(batch).values()
    assert memory is not None
    assert (memory.id, memory.content, memory.properties["tool_name"], memory.version) == (wrong.id, "used ripgrep", "ripgrep", 7)
    note = memory.correction
    assert note is not None
    assert (note.by, note.reason, note.time, note.action, note.standing) == ("support (k1)", "the user said so", LATER, "correct", 1)
    assert (note.before.content, note.before.properties) == ("used grep", {"tool_name": "grep"})


async def test_a_corrected_event_has_its_new_keys(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 0)])
    wrong = what.events[0]
    extracted = memories(await stage.process([extraction_record(what, 3)]))[wrong.id]
    right = correction_record(correction(wrong, 1, properties={"tool_name": "ripgrep"}), 7)
    corrected = memories(await stage.process([right]))[wrong.id]
    repeated = memories(await stage.process([right]))[wrong.id]
    made_again = memories(await stage.process([extraction_record(what, 8)]))[wrong.id]
    invalid = memories(await stage.process([correction_record(correction(wrong, 2, "invalidate"), 9)]))[wrong.id]
    states = (extracted, corrected, repeated, made_again, invalid)
    assert [each and each.entity_keys for each in states] == [["grep"], ["ripgrep"], ["ripgrep"], ["ripgrep"], None]


async def test_an_invalidated_event_is_retracted_and_hidden(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("grep", 1)])
    first = memories(await stage.process([extraction_record(what, 0)]))
    batch = await stage.process([correction_record(correction(what.events[1], 1, "invalidate"), 1)])
    assert changes(batch) == {"grep": ("retract",)}
    (memory,) = memories(batch).values()
    assert memory is not None
    assert memory.expires_at == LATER, "no recall finds it any more"
    assert memory.correction is not None
    assert memory.correction.action == "invalidate"

    batch = await stage.process([correction_record(correction(what.events[1], 2, "revert"), 2)])
    assert changes(batch) == {"grep": ("apply",)}
    (memory,) = memories(batch).values()
    assert memory is not None
    before = first[memory.id]
    assert before is not None
    assert memory == before.model_copy(update={"version": 2})


async def test_a_corrected_event_is_not_found_by_its_message(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    what = what.model_copy(update={"events": [what.events[0].model_copy(update={"said": "The tool (1 May 2024): grep was used."})]})
    (event,) = what.events
    await stage.process([extraction_record(what, 0)])
    right = memories(await stage.process([correction_record(correction(event, 1, content="used rg"), 1)]))[event.id]
    again = memories(await stage.process([extraction_record(what, 2)]))[event.id]
    back = memories(await stage.process([correction_record(correction(event, 2, "revert"), 3)]))[event.id]
    assert [each and each.said for each in (right, again, back)] == [None, None, event.said]


async def test_a_corrected_text_has_no_speaker(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    quoted = {"content": "I used grep.", "speaker": "Ann", "search_text": "Ann (1 May 2024): Ann used grep."}
    what = what.model_copy(update={"events": [what.events[0].model_copy(update=quoted)]})
    (event,) = what.events
    await stage.process([extraction_record(what, 0)])
    dated = memories(await stage.process([correction_record(correction(event, 1, date="2024-04"), 1)]))[event.id]
    reworded = memories(await stage.process([correction_record(correction(event, 2, content="Ann used rg."), 2)]))[event.id]
    assert [each and (each.content, each.speaker, each.search_text) for each in (dated, reworded)] == [
        ("I used grep.", "Ann", None),
        ("Ann used rg.", None, None),
    ]


async def test_keywords_follow_a_corrected_content(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    found_by = {"content": "I adopted a beagle, Otto.", "speaker": "Otto", "keywords": ["beagle", "adopted"]}
    what = what.model_copy(update={"events": [what.events[0].model_copy(update=found_by)]})
    (event,) = what.events
    await stage.process([extraction_record(what, 0)])

    async def keywords(number: int, action: str = "correct", **fields: Any) -> list[str]:
        (memory,) = memories(await stage.process([correction_record(correction(event, number, action, **fields), number)])).values()
        assert memory is not None
        return memory.keywords

    assert await keywords(1, importance=0.9) == ["beagle", "adopted"], "its words are right"
    assert sorted(await keywords(2, content="I adopted a tortoise, Otto.")) == ["adopted", "tortoise"], "not the speaker's name"
    memory = memories(await stage.process([extraction_record(what, 3)]))[event.id]
    assert memory is not None
    assert memory.correction is not None
    assert memory.correction.before.keywords == ["beagle", "adopted"]
    assert await keywords(4, keywords=["reptile"]) == ["reptile"]
    assert await keywords(5, content="I adopted a turtle.") == ["reptile"], "those that somebody set stay"
    for number in (6, 7, 8):
        last = await keywords(number, "revert")
    assert last == ["beagle", "adopted"]


async def test_an_event_without_keywords_gets_none_by_a_correction(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    (memory,) = memories(await stage.process([correction_record(correction(what.events[0], 1, content="used ripgrep"), 1)])).values()
    assert memory is not None
    assert (memory.content, memory.keywords) == ("used ripgrep", [])


async def test_reverts_take_corrections_back_one_by_one(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    event = what.events[0]
    await stage.process([extraction_record(what, 0)])
    await stage.process([correction_record(correction(event, 1, properties={"tool_name": "rg"}), 1)])
    await stage.process([correction_record(correction(event, 2, content="used rg"), 2)])
    seen = "used rg"
    await stage.process([correction_record(correction(event, 3, "invalidate", seen=seen), 3)])
    steps = [await stage.process([correction_record(correction(event, 10 + n, "revert", seen=seen), 10 + n)]) for n in range(4)]
    states = [next(iter(memories(step).values()), None) for step in steps]
    assert [(each.content, each.properties["tool_name"]) for each in states if each] == [
        ("used rg", "rg"),
        ("used grep", "rg"),
        ("used grep", "grep"),
    ]
    assert [changes(step) for step in steps] == [
        {"rg": ("apply",)},
        {"rg": ("retract", "apply")},
        {"rg": ("retract",), "grep": ("apply",)},
        {},
    ]
    assert steps[-1].outputs == [], "there is nothing left to revert"


async def test_a_correction_made_already_is_not_another(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    event = what.events[0]
    await stage.process([extraction_record(what, 0)])
    made: list[tuple[str, dict[str, Any]]] = [
        ("correct", {"content": "used rg", "properties": {"tool_name": "rg"}}),
        ("correct", {"content": "used rg", "properties": {"tool_name": "rg"}}),
        ("correct", {"properties": {"tool_name": "rg"}}),
        ("invalidate", {}),
        ("invalidate", {}),
    ]
    steps = [
        await stage.process([correction_record(correction(event, n, action, seen="used rg" if n > 1 else None, **fields), n)])
        for n, (action, fields) in enumerate(made, start=1)
    ]
    assert [bool(each.outputs) for each in steps] == [True, False, False, True, False]
    (hidden,) = memories(steps[3]).values()
    assert hidden is not None
    assert hidden.correction is not None
    assert hidden.correction.standing == 2, "so many can be reverted"
    for number in (6, 7):
        back = await stage.process([correction_record(correction(event, number, "revert", seen="used rg"), number)])
    (memory,) = memories(back).values()
    assert memory is not None
    assert (memory.content, memory.correction) == (event.content, None)


async def test_a_correction_after_an_invalidation_makes_valid(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    event = what.events[0]
    await stage.process([extraction_record(what, 0), correction_record(correction(event, 1, content="used rg"), 1)])
    await stage.process([correction_record(correction(event, 2, "invalidate", seen="used rg"), 2)])
    (memory,) = memories(await stage.process([correction_record(correction(event, 3, seen="used rg", content="used rg"), 3)])).values()
    assert memory is not None
    assert (memory.content, memory.expires_at) == ("used rg", None)


async def test_the_later_correction_of_a_date_applies(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    event = what.events[0].model_copy(update={"date": "2023-05"})
    await stage.process([extraction_record(what.model_copy(update={"events": [event]}), 0)])

    async def when(number: int, action: str = "correct", **fields: Any) -> tuple[datetime, str | None]:
        (memory,) = memories(await stage.process([correction_record(correction(event, number, action, **fields), number)])).values()
        assert memory is not None
        return memory.event_time, memory.date

    moment = START.replace(month=3)
    assert await when(1, event_time=moment) == (moment, None)
    assert await when(2, date="2022-06/2022-08") == (
        START.replace(year=2022, month=6, day=1, hour=0, minute=0, second=0),
        "2022-06/2022-08",
    )
    assert await when(3, date="unknown") == (event.said_at, "unknown")
    assert (await when(4, event_time=moment))[1] is None
    for number, date in ((5, "unknown"), (6, "2022-06/2022-08"), (7, None), (8, "2023-05")):
        assert (await when(number, "revert"))[1] == date


async def test_a_correction_outlives_every_extraction_made_again(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 1)])
    await stage.process([extraction_record(what, 0), correction_record(correction(what.events[0], 1, "invalidate"), 1)])
    await stage.process([correction_record(correction(what.events[1], 2, properties={"failure": 0}), 2)])

    turned = what.model_copy(
        update={
            "events": [
                what.events[1].model_copy(update={"id": what.events[0].id, "content": "it used make"}),
                what.events[0].model_copy(update={"id": what.events[1].id, "content": "had used grep", "message_ids": ["m0-0", "m0-1"]}),
            ]
        }
    )
    batch = await stage.process([extraction_record(turned, 3)])
    make, grep = (memories(batch)[event.id] for event in turned.events)
    assert make is not None
    assert grep is not None
    assert (make.properties["failure"], make.expires_at, make.content) == (0, None, "it used make")
    assert grep.expires_at == LATER
    assert changes(batch) == {"make": ("retract", "apply")}, "the invalidated event comes back under another id, and counts nothing"

    without = await stage.process([extraction_record(what.model_copy(update={"events": turned.events[:1]}), 4)])
    assert changes(without) == {"make": ("retract", "apply")}
    again = await stage.process([extraction_record(what, 5)])
    assert changes(again) == {"make": ("retract", "apply")}, "it waited for the extraction that brings it back"
    reverted = await stage.process([correction_record(correction(what.events[0], 6, "revert"), 6)])
    assert changes(reverted) == {"grep": ("apply",)}


async def test_another_statement_is_not_held_back(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0), correction_record(correction(what.events[0], 1, "invalidate"), 1)])
    other = what.events[0].model_copy(update={"content": "used grep 12 times"})
    batch = await stage.process([extraction_record(what.model_copy(update={"events": [other]}), 2)])
    assert changes(batch) == {"grep": ("apply",)}
    (memory,) = memories(batch).values()
    assert memory is not None
    assert memory.correction is None


async def test_a_correction_holds_in_every_generation(stage: PartitionHarness) -> None:
    live, beside = extraction(0, [("grep", 0)]), extraction(0, [("curl", 0), ("grep", 0)], generation="g2")
    beside = beside.model_copy(update={"events": [each.model_copy(update={"message_ids": ["m0-0"]}) for each in beside.events]})
    later = extraction(0, [("grep", 0)], generation="g3")
    await stage.process([extraction_record(live, 0), extraction_record(beside, 1)])
    what = correction(live.events[0], 1, "invalidate").model_copy(update={"generations": ["g2", "g3"]})
    batch = await stage.process([correction_record(what, 2)])
    assert {each.generation for each in contributions(batch)} == {"", "g2"}
    assert set(memories(batch)) == {live.events[0].id, beside.events[1].id}
    assert changes(await stage.process([extraction_record(later, 3)])) == {}


async def test_a_correction_seen_late_finds_its_event(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 0)])
    turned = what.model_copy(
        update={
            "events": [
                what.events[1].model_copy(update={"id": what.events[0].id}),
                what.events[0].model_copy(update={"id": what.events[1].id}),
            ]
        }
    )
    await stage.process([extraction_record(what, 0), extraction_record(turned, 1)])
    batch = await stage.process([correction_record(correction(what.events[0], 1, "invalidate"), 2)])
    assert list(memories(batch)) == [what.events[1].id], "the event of that content, not the one that has its id now"
    assert changes(batch) == {"grep": ("retract",)}


async def test_a_correction_sent_again_counts_once(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    record = correction_record(correction(what.events[0], 1, properties={"tool_name": "rg"}), 1)
    first = await stage.process([record])
    rows = dict(stage.rows.rows)
    assert (await stage.process([record])).outputs == first.outputs, "a redelivery repeats its bytes"
    sent_again = correction_record(correction(what.events[0], 1, properties={"tool_name": "rg"}), 2)
    assert contributions(await stage.process([sent_again])) == []
    assert stage.rows.rows == rows


async def test_a_rebuild_finds_the_same_corrections(stage: PartitionHarness, settings: Settings, tenants: TenantDirectory) -> None:
    what = extraction(0, [("grep", 0), ("make", 1)])
    log = [extraction_record(what, 0)]
    log += [correction_record(correction(what.events[n % 2], n, importance=n / 100), n) for n in range(1, MAX_CORRECTIONS + 4)]
    log += [extraction_record(what, 30), correction_record(correction(what.events[1], 90, "revert"), 31)]
    one_by_one = [output for record in log for output in (await stage.process([record])).outputs]
    rebuilt = assigned(settings, tenants)
    assert (await rebuilt.process(log)).outputs == one_by_one
    assert rebuilt.rows.rows == stage.rows.rows
    on_cold_rows = PartitionHarness(stage.handler, LedgerCodec(), InMemoryRows(), cache_bytes=1)
    assert [output for record in log for output in (await on_cold_rows.process([record])).outputs] == one_by_one


def entity_correction(number: int, value: str, action: str = "correct") -> Correction:
    change = Change(op="apply", property="lessons", source_id=f"c{number}", value={"search": None, "replace": value}, event_time=START)
    return Correction.model_validate(
        {
            "id": f"c{number}",
            "tenant": TENANT,
            "action": action,
            "memory_id": "e",
            "entity": EntityCorrection(entity_type="tool_experience", entity_key="grep", changes=[change] if action == "correct" else []),
            "by": "k1",
            "time": LATER,
        }
    )


async def test_an_entitys_field_is_set_and_reverted(stage: PartitionHarness) -> None:
    set_once = await stage.process([correction_record(entity_correction(1, "quote the pattern"), 0)])
    set_twice = await stage.process([correction_record(entity_correction(2, "use -F"), 1)])
    reverted = await stage.process([correction_record(entity_correction(3, "", "revert"), 2)])
    assert [(each.position, [change.op for change in each.changes]) for step in (set_once, set_twice) for each in contributions(step)] == [
        (0, ["apply"]),
        (1, ["apply"]),
    ]
    (back,) = contributions(reverted)
    assert (back.position, [(each.op, each.source_id) for each in back.changes]) == (2, [("retract", "c2")])
    await stage.process([correction_record(entity_correction(4, "", "revert"), 3)])
    assert (await stage.process([correction_record(entity_correction(5, "", "revert"), 4)])).outputs == []


async def test_a_correction_outranks_extracted_values(stage: PartitionHarness) -> None:
    extracted = contributions(await stage.process([extraction_record(extraction(0, [("grep", 0)]), 0)]))
    first = contributions(await stage.process([correction_record(entity_correction(1, "quote the pattern"), 1)]))
    second = contributions(await stage.process([correction_record(entity_correction(2, "use -F"), 2)]))
    back = contributions(await stage.process([correction_record(entity_correction(3, "", "revert"), 3)]))
    extracted_orders, once, twice, taken_back = (
        {change.order for each in step for change in each.changes} for step in (extracted, first, second, back)
    )
    assert 0 < max(extracted_orders) < max(once) < max(twice)
    assert taken_back == twice


async def test_a_corrected_event_keeps_its_place(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 0)])
    extracted = contributions(await stage.process([extraction_record(what, 0)]))
    await stage.process([correction_record(correction(what.events[0], 1, "invalidate"), 1)])
    corrected = contributions(await stage.process([correction_record(correction(what.events[1], 2, properties={"failure": 1}), 2)]))
    again = contributions(await stage.process([extraction_record(what, 3)]))
    wanted = {change.order for each in extracted for change in each.changes if change.source_id == what.events[1].id}
    for step in (corrected, again):
        assert {change.order for each in step for change in each.changes if change.source_id == what.events[1].id} == wanted


async def test_a_correction_of_nothing_known_waits(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    early = await stage.process([correction_record(correction(what.events[0], 1, "invalidate"), 0)])
    assert early.outputs == []
    assert changes(await stage.process([extraction_record(what, 1)])) == {}


async def test_a_late_correction_hits_no_other_statement(stage: PartitionHarness) -> None:
    # Somebody saw grep under the id that make has by now, and that was corrected already.
    before, now = extraction(0, [("grep", 0)]), extraction(0, [("make", 0)])
    await stage.process([extraction_record(now, 0)])
    await stage.process([correction_record(correction(now.events[0], 1, content="used gmake"), 1)])
    late = await stage.process([correction_record(correction(before.events[0], 2, "invalidate"), 2)])
    assert late.outputs == [], "make stands"
    again = memories(await stage.process([extraction_record(extraction(0, [("make", 0), ("grep", 0)]), 3)]))
    assert [each.expires_at for each in again.values() if each is not None] == [None, LATER], "and grep is wrong wherever it comes back"


async def test_a_correction_of_reverted_words_finds_their_event(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0)])
    await stage.process([extraction_record(what, 0)])
    await stage.process([correction_record(correction(what.events[0], 1, content="ran ripgrep twice"), 1)])
    await stage.process([correction_record(correction(what.events[0], 2, "revert"), 2)])
    late = await stage.process([correction_record(correction(what.events[0], 3, "invalidate", seen="ran ripgrep twice"), 3)])
    assert [each.expires_at for each in memories(late).values() if each is not None] == [LATER]


async def test_a_corrected_time_counts_in_the_messages_zone(stage: PartitionHarness) -> None:
    what = extraction(0, [("grep", 0), ("make", 0)])
    tokyo = timezone(timedelta(hours=9))
    events = [
        event.model_copy(update={"event_time": event.event_time.astimezone(tokyo), "said_at": event.said_at.astimezone(tokyo)})
        for event in what.events
    ]
    await stage.process([extraction_record(what.model_copy(update={"events": events}), 3)])
    right = correction(events[0], 1, event_time=datetime(2024, 5, 12, 20, tzinfo=UTC))
    (memory,) = memories(await stage.process([correction_record(right, 7)])).values()
    assert memory is not None
    assert memory.event_time == datetime(2024, 5, 12, 20, tzinfo=UTC)
    assert memory.event_time.utcoffset() == timedelta(hours=9), "so its week begins there, too"
