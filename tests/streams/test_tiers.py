"""Short-, mid- and long-term memory (TIERS) through the recalls, events and entities stages."""

from pathlib import Path

import pytest

from memory.records import Memory
from memory.schema import MemorySchema, parse_schema
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.streams.harness import plain_settings
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.timelines_flow import TENANT
from tests.streams.tree_stages import Trees


def schema() -> MemorySchema:
    """A schema with one memory in tiers for each user."""
    aggregate = {"Op": "TIERS", "EventType": "*", "Fifo": 2, "Topics": True, "Length": 0, "Threshold": 400}
    properties = [{"PropertyName": "tier_sizes", "PropertyValueType": "string", "AggregateExpression": aggregate}]
    return parse_schema(
        {
            "Name": "diary",
            "EventTypes": [{"EventType": "life_event", "Description": "What happened."}],
            "EntityTypes": [{"EntityType": "tiers", "Keys": ["user"], "Properties": properties}],
        }
    )


@pytest.fixture
def flow(tmp_path: Path) -> Trees:
    settings: Settings = plain_settings(tmp_path)
    return Trees(settings, known_tenants({TENANT: schema()}))


def of_tier(flow: Trees, tier: str) -> list[Memory]:
    return [each for each in flow.nodes().values() if each.properties["tier"] == tier]


async def test_a_page_is_promoted_out_of_the_queue(flow: Trees) -> None:
    first = await flow.embed(0, ["The chain came off", "The chain came off"])
    for day in (1, 2, 3):
        await flow.recall(first, day, 0)
    assert flow.nodes() == {}, "both are in short-term memory"
    await flow.embed(1, ["Tea at noon"])
    (topic,) = of_tier(flow, "mid-term")
    assert topic.properties["events"] == [each.id for each in first.events]
    for day in (4, 5, 6):
        await flow.recall(first, day, 0, 1)
    (promoted,) = of_tier(flow, "long-term")
    assert (promoted.id, promoted.properties["visits"]) == (topic.id, 3)
    assert of_tier(flow, "mid-term") == []
    (entity,) = flow.kinds("entity").values()
    assert entity.properties["tier_sizes"] == "short-term memory: 1 messages, mid-term memory: 0 segments, long-term memory: 1"
    assert (await flow.rebuilt()).memories == flow.memories
    before = dict(flow.memories)
    await flow.repeat()
    assert flow.memories == before


async def test_corrections_and_deletions_reach_long_term_memory(flow: Trees) -> None:
    first = await flow.embed(0, ["The chain came off", "The chain came off"])
    await flow.embed(1, ["Tea at noon"])
    for day in (1, 2, 3):
        await flow.recall(first, day, 0)
    await flow.deliver_again(correction_record(correction(first.events[0], 1, content="The belt came off"), 1))
    (promoted,) = of_tier(flow, "long-term")
    assert promoted.content == "The belt came off; The chain came off"
    await flow.embed(0, [])
    assert flow.nodes() == {}
