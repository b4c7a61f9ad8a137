"""Trees through the events, entities and merging stages: nodes become memories, a model writes them, and a rebuild gives the same."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.schema import parse_schema
from memory.schema.model import MemorySchema
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.streams.simulated_model import WRITTEN, simulated_model
from tests.streams.timelines_flow import TENANT, USER
from tests.streams.tree_stages import Trees

WINDOWS = (
    ["The chain came off", "The chain fell off near the lake"],
    ["Tea at noon", "Tea at five"],
    ["The chain is off again", "Coffee at noon"],
    ["Tea with milk at five", "The lake is near the town"],
)


def schema(**parameters: int) -> MemorySchema:
    """A schema with one tree for each user, fed by all events."""
    aggregate = {"Op": "TREE", "EventType": "*", **parameters}
    properties = [{"PropertyName": "topics", "PropertyValueType": "string", "AggregateExpression": aggregate}]
    return parse_schema(
        {
            "Name": "diary",
            "EventTypes": [{"EventType": "life_event", "Description": "What happened."}],
            "EntityTypes": [{"EntityType": "talk", "Description": "Talks.", "Keys": ["user"], "Properties": properties}],
        }
    )


@asynccontextmanager
async def running(settings: Settings, **parameters: int) -> AsyncIterator[tuple[Trees, LLMSimulator]]:
    """The stages before a simulated model."""
    simulator = LLMSimulator(answer=lambda _: WRITTEN)
    async with simulated_model(simulator, settings) as (asking, llm):
        yield Trees(asking, known_tenants({TENANT: schema(**parameters)}), llm), simulator


async def test_nodes_are_published_without_a_model(settings: Settings) -> None:
    flow = Trees(settings, known_tenants({TENANT: schema()}))
    windows = [await flow.embed(number, texts) for number, texts in enumerate(WINDOWS)]
    nodes = flow.nodes()
    assert nodes
    assert {each.user for each in nodes.values()} == {USER}
    assert {each.parent for each in nodes.values()} <= {None, *nodes}
    events = {event.id for what in windows for event in what.events}
    assert {leaf for each in nodes.values() for leaf in each.properties["leaves"]} <= events  # type: ignore[union-attr]
    assert all(each.depth == 0 if each.parent is None else each.depth == (nodes[each.parent].depth or 0) + 1 for each in nodes.values())


async def test_an_empty_window_removes_its_nodes(settings: Settings) -> None:
    flow = Trees(settings, known_tenants({TENANT: schema()}))
    await flow.embed(0, ["The chain came off", "The chain came off"])
    (node,) = flow.nodes().values()
    assert node.properties["event_count"] == 2
    await flow.embed(0, [])
    assert flow.memories == {}


async def test_a_model_writes_each_node(settings: Settings) -> None:
    async with running(settings) as (flow, simulator):
        await flow.embed(0, ["The chain came off", "The chain fell off"])
        (node,) = flow.nodes().values()
        assert (node.content, node.properties["written_by"]) == ("Written by the model.", "simulated")
        assert len(simulator.requests) == 1


@pytest.mark.parametrize("parameters", [{}, {"Nodes": 16, "Base": 800}, {"Fifo": 4}])
async def test_a_rebuild_asks_nothing_and_gives_the_same(settings: Settings, parameters: dict[str, int]) -> None:
    async with running(settings, **parameters) as (flow, simulator):
        for number in range(12):
            await flow.embed(number, [f"{text} {number}" for text in WINDOWS[number % 4]])
        await flow.embed(2, ["The chain was never off"])
        await flow.embed(5, [])
        await flow.embed(12, WINDOWS[0])
        asked = len(simulator.requests)
        assert asked
        assert flow.nodes()
        rebuilt = await flow.rebuilt()
        assert rebuilt.memories == flow.memories
        assert rebuilt.merged.keys() == flow.merged.keys()
        assert len(simulator.requests) == asked
        await flow.repeat()
        assert rebuilt.memories == flow.memories
