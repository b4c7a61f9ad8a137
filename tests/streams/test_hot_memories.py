"""Memories that recalls promote to long-term memory (HEAT), through the recalls, events and entities stages."""

from typing import Any

from memory.records import Memory
from memory.schema import MemorySchema, parse_schema
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.timelines_flow import TENANT, Timelines


def tiers(*further: dict[str, Any]) -> MemorySchema:
    """A schema with mid-term and long-term memory."""
    heat = {"Op": "HEAT", "EventType": "*"}
    properties = [{"PropertyName": "tier_sizes", "PropertyValueType": "string", "AggregateExpression": heat}, *further]
    return parse_schema(
        {
            "Name": "diary",
            "EventTypes": [{"EventType": "life_event", "Description": "What happened."}],
            "EntityTypes": [{"EntityType": "tiers", "Keys": ["user"], "Properties": properties}],
        }
    )


def flow_of(settings: Settings, schema: MemorySchema) -> Timelines:
    return Timelines(settings, known_tenants({TENANT: schema}))


def long_term(flow: Timelines) -> list[Memory]:
    return list(flow.kinds("summary").values())


async def test_three_recalls_promote_a_memory(settings: Settings) -> None:
    flow = flow_of(settings, tiers())
    found = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    for day in (1, 2):
        await flow.recall(found, day, 1)
    assert long_term(flow) == []
    await flow.recall(found, 2.5, 1)
    assert long_term(flow) == [], "the same day"
    await flow.recall(found, 3, 1)
    (promoted,) = long_term(flow)
    assert (promoted.content, promoted.properties["tier"], promoted.message_ids) == ("Met Paul.", "long-term", ["m0-1"])
    (entity,) = flow.kinds("entity").values()
    assert entity.properties["tier_sizes"] == "1 in mid-term memory, 1 in long-term memory"
    assert (await flow.rebuilt()).memories == flow.memories
    before = dict(flow.memories)
    await flow.repeat()
    assert flow.memories == before


async def test_corrections_reach_long_term_memory(settings: Settings) -> None:
    flow = flow_of(settings, tiers())
    found = await flow.extract(0, 0, ["Met Paul."])
    for day in (1, 2, 3):
        await flow.recall(found, day, 0)
    await flow.deliver_again(correction_record(correction(found.events[0], 1, content="Met Pauline."), 1))
    assert [each.content for each in long_term(flow)] == ["Met Pauline."]
    await flow.deliver_again(correction_record(correction(found.events[0], 2, "delete"), 2))
    assert flow.memories == {}


async def test_long_term_memory_outlives_a_faded_event(settings: Settings) -> None:
    strength = {"Op": "STRENGTH", "EventType": "life_event", "Retract": True}
    flow = flow_of(settings, tiers({"PropertyName": "remembered", "PropertyValueType": "int64", "AggregateExpression": strength}))
    found = await flow.extract(0, 0, ["Moved to Lyon.", "Met Paul."])
    for day in (1, 2, 2.9):
        await flow.recall(found, day, 1)
    await flow.recall(found, 3, 1)
    await flow.pass_time(30, step=2)
    assert flow.kinds("event") == {}
    assert [each.content for each in long_term(flow)] == ["Met Paul."]
