"""Future dates of one tenant do not advance the event time of another, whether from a correction or from records of an older version."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory.headers import CORRECTION, EXPIRY, KIND, TICK
from memory.keys import encode_key
from memory.records import Contribution, Correction, EntityCorrection, EventRef, Expiry, Extraction
from memory.schema import parse_schema
from memory.schema.model import MemorySchema
from operators.entities.correction import changes_of
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import pack, unpack
from streams.stages.entities.codec import EntityCodec, TimerRow
from tests.control_log import known_tenants
from tests.operators.timeline.diaries import diary_schema
from tests.streams.harness import delivered, plain_settings
from tests.streams.timelines_flow import START, TENANT, USER, Timelines

OTHER = "globex"
AHEAD = datetime(2062, 6, 1, tzinfo=START.tzinfo)


def moody_schema() -> MemorySchema:
    """A timeline with a mood, and a count of one week: a mood that is set can move both ahead."""
    mood = {
        "PropertyName": "mood",
        "PropertyValueType": "string",
        "AggregateExpression": {"Op": "LATEST", "EventType": "life_event", "EventPropertyName": "content"},
    }
    properties = {
        name: {"PropertyName": name, "PropertyValueType": kind, "AggregateExpression": {"Op": op, "EventType": "life_event"}}
        for name, kind, op in (("story", "string", "TIME_COMPRESS"), ("count", "int64", "COUNT"))
    }
    return parse_schema(
        {
            "Name": "diary",
            "EventTypes": [{"EventType": "life_event", "Description": "What happened."}],
            "EntityTypes": [
                {"EntityType": "life", "Keys": ["user"], "Properties": [properties["story"], mood]},
                {"EntityType": "recent", "Keys": ["user"], "WindowDays": 7, "Properties": [properties["count"], mood]},
            ],
        }
    )


SCHEMA = moody_schema()


@pytest.fixture
async def flow(tmp_path: Path) -> Timelines:
    """An event of each of two tenants."""
    made = Timelines(plain_settings(tmp_path), known_tenants({TENANT: SCHEMA, OTHER: diary_schema()}))
    await made.extract(0, 0, ["Moved to Lyon."])
    await made.extract(0, 0, ["Met Paul."], tenant=OTHER)
    return made


def set_ahead(entity_type: str, number: int = 0, action: str = "correct") -> ConsumedRecord:
    """A logged correction of Ann's mood since the year 2062."""
    found = SCHEMA.entity_type(entity_type)
    assert found is not None
    changes = changes_of(found, {"mood": "great"}, source_id=f"c{number}", newest=START, since=AHEAD)
    correction = Correction.model_validate(
        {
            "id": f"c{number}-{action}",
            "tenant": TENANT,
            "user": USER,
            "action": action,
            "memory_id": entity_type,
            "entity": EntityCorrection(
                entity_type=entity_type, entity_key=USER, changes=changes if action == "correct" else [], schema_name="diary"
            ),
            "by": "support (k1)",
            "time": START,
        }
    )
    return delivered("extractions", 0, encode_key(TENANT, USER), correction.to_json(), headers=((KIND, CORRECTION),))


def moods(flow: Timelines) -> dict[str, object]:
    return {each.type: each.properties.get("mood") for each in flow.kinds("entity").values() if each.tenant == TENANT}


async def test_a_correction_with_a_future_time_ages_no_timeline(flow: Timelines) -> None:
    for number, entity_type in enumerate(("life", "recent")):
        await flow.deliver_again(set_ahead(entity_type, number))
    assert moods(flow) == {"life": "great", "recent": "great"}
    await flow.pass_time(0.1, step=0.01)
    assert set(flow.kinds("event")) == {"Moved to Lyon.", "Met Paul."}
    assert flow.kinds("summary") == {}
    recent = next(each for each in flow.kinds("entity").values() if each.type == "recent")
    assert recent.properties["count"] == 1, "nothing has fallen out of its window"
    assert (await flow.rebuilt()).memories == flow.memories
    await flow.deliver_again(set_ahead("life", action="revert"))
    assert moods(flow)["life"] == "Moved to Lyon."


async def test_a_tick_from_before_is_held_back(flow: Timelines) -> None:
    await flow.extract(1, 1, ["Met Rita."], tenant=OTHER)
    tick = Contribution(
        tenant=OTHER,
        user=USER,
        entity_type="life",
        entity_key=USER,
        kind="tick",
        source="contributions/0",
        position=0,
        time=AHEAD,
        schema_name="diary",
    )
    await flow.deliver_again(delivered("extractions", 0, encode_key(OTHER, USER), tick.to_json(), headers=((KIND, TICK),)))
    await flow.pass_time(0.1, step=0.01)
    assert flow.kinds("summary") == {}
    assert len(flow.kinds("event")) == 3


async def test_an_expiry_from_before_lets_nothing_go(flow: Timelines) -> None:
    met = Extraction.from_json(flow.extractions[1].value or b"").events[0]
    expiry = Expiry(
        tenant=OTHER,
        user=USER,
        entity_type="life",
        entity_key=USER,
        property="story",
        events=[EventRef(id=met.id, window_id=met.window_id)],
        retract=False,
        known={"extractions/0": 1},
        time=AHEAD,
    )
    record = delivered("extractions", 0, encode_key(OTHER, USER), expiry.to_json(), headers=((KIND, EXPIRY),))
    await flow.deliver_again(record)
    assert "Met Paul." in flow.kinds("event")
    await flow.deliver_again(replace(record, value=expiry.model_copy(update={"time": START}).to_json()))
    assert "Met Paul." not in flow.kinds("event")


async def test_a_contribution_from_before_leads_no_clock_ahead(flow: Timelines) -> None:
    last = next(each for each in reversed(flow.contributions) if b'"life"' in (each.value or b"") and TENANT.encode() in (each.key or b""))
    contribution = Contribution.from_json(last.value or b"")
    ahead = [
        each.model_copy(update={"event_time": AHEAD, "source_id": "ahead"}) for each in contribution.changes if each.property == "mood"
    ]
    record = replace(
        last, offset=len(flow.contributions), value=contribution.model_copy(update={"position": 9, "changes": ahead}).to_json()
    )
    await flow.entities.process([record])
    for _ in range(2):
        watermark = flow.entities.handler.watermark(START)
        assert watermark is not None
        assert watermark < START + timedelta(hours=1)
        flow.restart_entities()
        await flow.entities.recover()


async def test_a_timer_from_before_leads_no_clock_ahead(flow: Timelines) -> None:
    codec = EntityCodec()
    for key, value in flow.entities.rows.rows.items():
        position, raw = unpack(value)
        row = codec.decode(raw)
        if isinstance(row, TimerRow):
            late = replace(row, seen_ms=int(AHEAD.timestamp() * 1000))
            flow.entities.rows.rows[key] = pack(position, codec.encode(late))
    flow.restart_entities()
    await flow.entities.recover()
    watermark = flow.entities.handler.watermark(START)
    assert watermark is not None
    assert watermark < START + timedelta(hours=1)
