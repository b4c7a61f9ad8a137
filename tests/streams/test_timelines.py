"""Timelines through the stages: summaries, expiry, recalls that keep events alive, restarts, and rebuilds."""

from collections import Counter

import pytest

from memory.headers import EXPIRY, FEEDBACK, KIND, TICK, TOUCHES
from memory.records import Contribution, Memory
from memory.schema import MemorySchema
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.operators.timeline.diaries import diary_schema
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.timelines_flow import TENANT, Timelines


def timelines(settings: Settings, schema: MemorySchema | None = None) -> Timelines:
    return Timelines(settings, known_tenants({TENANT: schema or diary_schema()}))


@pytest.fixture
def flow(settings: Settings) -> Timelines:
    return timelines(settings)


def texts(flow: Timelines) -> set[str]:
    """The texts of the events that are memories."""
    return set(flow.kinds("event"))


def summary(flow: Timelines) -> Memory:
    """The only summary."""
    (found,) = flow.kinds("summary").values()
    return found


def kinds(flow: Timelines) -> Counter[bytes | None]:
    """How many records of which kind the extractions log holds."""
    return Counter(dict(record.headers).get(KIND) for record in flow.extractions)


async def test_a_summary_takes_the_place_of_its_events(flow: Timelines) -> None:
    what = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(6)
    assert flow.kinds("summary") == {}
    await flow.pass_time(3)
    found = summary(flow)
    assert found.properties["events"] == sorted(each.id for each in what.events)
    assert set(found.message_ids) == {"m0-0", "m0-1"}
    assert texts(flow) == {"Moved to Lyon.", "Met Paul."}
    await flow.pass_time(40)
    assert texts(flow) == set()
    assert set(summary(flow).message_ids) == {"m0-0", "m0-1"}
    (entity,) = flow.kinds("entity").values()
    assert entity.properties["count"] == 2, "what other operators made of the events stays"


async def test_a_timer_fires_once(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    await flow.pass_time(80, step=2)
    await flow.pass_time(100, step=5)
    assert kinds(flow)[EXPIRY] == 1
    assert kinds(flow)[TICK] == 3, "summarised, let go, become part of a month"


async def test_a_recalled_event_is_kept_longer(flow: Timelines) -> None:
    what = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(20)
    await flow.recall(what, 20, 1)
    await flow.pass_time(25)
    assert texts(flow) == {"Met Paul."}
    assert "Moved to Lyon" in summary(flow).content
    await flow.pass_time(30)
    assert texts(flow) == set()


async def test_a_recall_touches_an_event_once_a_day(flow: Timelines) -> None:
    what = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    assert len(await flow.recall(what, 0.1, 0)) == 1
    assert await flow.recall(what, 0.2, 0) == []
    assert len(await flow.recall(what, 0.3, 0, 1)) == 1
    assert len(await flow.recall(what, 1.1, 0, 1)) == 1
    assert await flow.recall(what, 0.4, 0) == [], "late"
    assert kinds(flow)[TOUCHES] == 3


async def test_feedback_touches_nothing(flow: Timelines) -> None:
    what = await flow.extract(0, 0, ["Moved to Lyon."])
    assert await flow.recall(what, 0.1, 0, headers=((KIND, FEEDBACK),)) == []
    assert len(await flow.recall(what, 0.2, 0)) == 1


async def test_timers_outlive_a_restart(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    flow.restart_entities()
    await flow.pass_time(60, step=5)
    assert texts(flow) == set()
    assert "Moved to Lyon" in summary(flow).content


async def test_a_successor_knows_the_time_of_its_predecessor(settings: Settings) -> None:
    # An entity that does not age had an event with a much later time.
    flow = timelines(settings, diary_schema(with_notes=True))
    await flow.extract(0, 60, ["Buy milk."], event_type="note")
    await flow.extract(1, 0, ["Moved to Lyon."])
    assert {each.type for each in flow.kinds("entity").values()} == {"life", "notes"}
    assert flow.entities.handler.due(flow.now(60.1)) == [], "the time of a note is in no timer, and moves no clock"
    flow.restart_entities()
    await flow.entities.recover()
    assert flow.entities.handler.due(flow.now(60.2)) == []


async def test_silence_outlives_a_restart(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    for _ in range(4):
        # Shorter each than the week for which nothing may have happened.
        await flow.pass_time(3, step=1)
        flow.restart_entities()
    assert "Moved to Lyon" in summary(flow).content


async def test_a_tick_is_sent_again_by_a_successor(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    handler = flow.entities.handler
    assert [len(handler.due(flow.now(days))) for days in (20, 21, 40)] == [1, 0, 0]
    flow.restart_entities()
    await flow.pass_time(20)
    assert kinds(flow)[TICK] == 1
    assert "Moved to Lyon" in summary(flow).content


async def test_a_rebuild_gives_the_same_memories(flow: Timelines) -> None:
    await _a_few_weeks(flow)
    rebuilt = await flow.rebuilt()
    await rebuilt.pass_time(1)
    await flow.pass_time(1)
    assert rebuilt.memories == flow.memories
    assert {each.kind for each in flow.memories.values()} == {"event", "entity", "summary"}


async def test_a_repeated_log_resurrects_nothing(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    await flow.pass_time(60)
    before = dict(flow.memories)
    await flow.repeat()
    assert flow.memories == before


async def test_a_repeated_extraction_publishes_no_expired_memory(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(60)
    batch = await flow.events.process(flow.extractions[:1])
    assert [each for each in batch.outputs if each.topic.endswith("memories") and each.value is not None] == []


async def test_a_window_extracted_again_expires_again(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    await flow.pass_time(60)
    await flow.extract(0, 0, ["Moved to Nice."])
    assert texts(flow) == {"Moved to Nice."}
    await flow.pass_time(7)
    assert texts(flow) == set()
    assert "Nice" in summary(flow).content
    assert "Lyon" not in summary(flow).content


async def test_a_successor_lets_a_window_extracted_again_go(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    await flow.pass_time(60)
    await flow.extract(0, 0, ["Moved to Nice."])
    # The timeline has only this event again, and it alone shows how far event time has advanced.
    flow.restart_entities()
    await flow.pass_time(7, step=3)
    assert texts(flow) == set()
    assert "Nice" in summary(flow).content


async def test_an_expiry_means_no_later_extraction(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    await flow.pass_time(60)
    expiry = next(record for record in flow.extractions if (KIND, EXPIRY) in record.headers)
    await flow.extract(0, 0, ["Moved to Nice."])
    await flow.deliver_again(expiry)
    assert texts(flow) == {"Moved to Nice."}


async def test_an_expiry_skips_events_invalidated_before_it(settings: Settings, flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    await flow.pass_time(60)
    expiry = next(record for record in flow.extractions if (KIND, EXPIRY) in record.headers)
    other = timelines(settings)
    what = await other.extract(0, 0, ["Moved to Lyon."])
    await other.deliver_again(correction_record(correction(what.events[0], 1, "invalidate"), 1))
    await other.deliver_again(expiry)
    assert texts(other) == {"Moved to Lyon."}, "it can still be read and retracted"
    await other.deliver_again(correction_record(correction(what.events[0], 2, "revert"), 3))
    await other.pass_time(60)
    assert texts(other) == set()


async def test_a_correction_after_expiry_restores_its_event(settings: Settings) -> None:
    flow = timelines(settings, diary_schema(Retract=True))
    what = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(60)
    assert texts(flow) == set()
    await flow.deliver_again(correction_record(correction(what.events[0], 1, content="Moved to Nice."), 1))
    assert texts(flow) == {"Moved to Nice."}
    assert summary(flow).properties["event_count"] == 2
    assert "Nice" in summary(flow).content
    assert (await flow.rebuilt()).memories == flow.memories, "an expiry that was asked before the correction does not mean it"
    await flow.pass_time(60)
    assert texts(flow) == set()
    assert [each.properties.get("count") for each in flow.kinds("entity").values()] == [None], "retracted again"
    await flow.repeat()
    assert texts(flow) == set()


async def test_a_repetition_restores_no_expired_event(flow: Timelines) -> None:
    what = await flow.extract(0, 0, ["Moved to Lyon."])
    record = correction_record(correction(what.events[0], 1, content="Moved to Nice."), 1)
    await flow.deliver_again(record)
    await flow.pass_time(60)
    assert texts(flow) == set()
    await flow.deliver_again(record)
    assert texts(flow) == set()
    batch = await flow.events.process([flow.extractions[0]])
    assert [each for each in batch.outputs if each.topic.endswith("memories") and each.value is not None] == []


@pytest.mark.parametrize(("retract", "count"), [(False, 2), (True, None)])
async def test_entities_drop_events_only_on_the_schemas_request(settings: Settings, retract: bool, count: int | None) -> None:
    flow = timelines(settings, diary_schema(Retract=retract))
    await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(60)
    (entity,) = flow.kinds("entity").values()
    assert entity.properties.get("count") == count
    assert summary(flow).properties["event_count"] == 2
    rebuilt = await flow.rebuilt()
    await rebuilt.pass_time(1)
    assert rebuilt.memories == flow.memories
    await flow.extract(0, 0, [])
    assert flow.memories == {}, "a later extraction retracts what is left"
    await flow.extract(1, 80, ["Met Rita."])
    (entity,) = flow.kinds("entity").values()
    assert entity.properties["count"] == 1, "and nothing twice"


async def test_a_repeated_expiry_retracts_nothing_twice(settings: Settings) -> None:
    flow = timelines(settings, diary_schema(Retract=True))
    what = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    await flow.pass_time(60)
    once = Counter({each.id: 1 for each in what.events})
    assert _changed(flow, "release") == once, "the timeline receives their removal"
    assert _changed(flow, "retract") == once, "and so does their count"
    await flow.deliver_again(next(record for record in flow.extractions if (KIND, EXPIRY) in record.headers))
    assert _changed(flow, "release") == once + once
    assert _changed(flow, "retract") == once


async def test_a_tick_without_a_user_is_dropped(flow: Timelines, settings: Settings) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    nobody = Timelines(settings, known_tenants({"others": diary_schema()}))
    nobody.contributions = list(flow.contributions)
    await flow.pass_time(20)
    tick = next(record for record in flow.contributions if b'"kind":"tick"' in (record.value or b""))
    batch = await nobody.entities.process([tick])
    assert (batch.rejections, batch.outputs) == ([], [])


def _changed(flow: Timelines, op: str) -> Counter[str]:
    """The number of such changes in the contributions, by event."""
    found = (Contribution.from_json(record.value or b"") for record in flow.contributions)
    return Counter(change.source_id for each in found for change in each.changes if change.op == op)


async def _a_few_weeks(flow: Timelines) -> None:
    """Windows, recalls, a late window and one extracted again, with time between them."""
    windows = []
    for number in range(10):
        windows.append(await flow.extract(number, number * 6, [f"Event {number} of the {place}." for place in ("town", "sea")]))
        await flow.tick()
    await flow.recall(windows[1], 58, 0)
    await flow.extract(20, 3, ["A late one."])
    await flow.extract(2, 12, ["Event 2, told anew."])
    await flow.pass_time(20)


async def test_details_stay_when_their_time_is_over(settings: Settings) -> None:
    flow = timelines(settings, diary_schema(Details=1))
    what = await flow.extract(0, 0, ["Moved to Lyon."])
    await flow.extract(1, 3, ["Met Paul."])
    await flow.pass_time(9)
    assert flow.kinds("summary") == {}, "both events are separate memories"
    await flow.pass_time(60)
    assert texts(flow) == {"Met Paul."}
    assert "Moved to Lyon" in summary(flow).content
    rebuilt = await flow.rebuilt()
    await rebuilt.pass_time(1)
    await flow.pass_time(1)
    assert rebuilt.memories == flow.memories
    await flow.deliver_again(correction_record(correction(what.events[0], 1, content="Moved to Nice."), 1))
    await flow.extract(1, 3, [])
    await flow.pass_time(60)
    assert texts(flow) == {"Moved to Nice."}
    assert flow.kinds("summary") == {}, "the only event is a separate memory again"
    assert kinds(flow)[EXPIRY] == 1
    assert (await flow.rebuilt()).memories == flow.memories
