"""Nodes of a temporal knowledge graph (EDGE), through the events and entities stages."""

from pathlib import Path

import pytest

from memory.ids import entity_id, event_id, window_id
from memory.keys import encode_key, entity_key
from memory.records import Contribution, Event, Extraction, Memory
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.operators.edge_schema import edge_schema
from tests.streams.harness import delivered, plain_settings
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.timelines_flow import TENANT, USER, Timelines, extraction


@pytest.fixture
def flow(tmp_path: Path) -> Timelines:
    settings: Settings = plain_settings(tmp_path)
    return Timelines(settings, known_tenants({TENANT: edge_schema()}))


async def state(flow: Timelines, number: int, day: float, *relations: tuple[str, str, str]) -> Extraction:
    """A window of a day with an event for each relation."""
    plain = extraction(number, day, [" ".join(each) for each in relations], "relation")
    events = [
        event.model_copy(update={"properties": dict(zip(("subject", "relation", "object"), each, strict=True))})
        for event, each in zip(plain.events, relations, strict=True)
    ]
    stated = plain.model_copy(update={"events": events, "schema_name": "graph"})
    await flow.deliver_again(delivered("extractions", 0, encode_key(TENANT, USER), stated.to_json()))
    return stated


def node(flow: Timelines, name: str) -> Memory:
    return next(each for each in flow.kinds("entity").values() if each.properties["nodes"] == name)


def lines(flow: Timelines, name: str) -> list[str]:
    return str(node(flow, name).properties["edges"]).splitlines()


def named(flow: Timelines) -> set[str]:
    return {str(each.properties["nodes"]) for each in flow.kinds("entity").values()}


def links(flow: Timelines, name: str) -> set[str]:
    return {each.id for each in node(flow, name).links or []}


def id_of(name: str) -> str:
    return entity_id(TENANT, "node", entity_key(USER, name))


async def test_nodes_are_linked_memories(flow: Timelines) -> None:
    await state(flow, 0, 0, ("ann", "lives in", "Oslo"), ("Paul", "is the brother of", "Ann"))
    await state(flow, 1, 30, ("ann", "lives in", "Bergen"))
    assert named(flow) == {"ann", "oslo", "paul", "bergen"}
    assert lines(flow, "ann") == [
        "ann lives in Bergen (since 2026-02-04)",
        "Paul is the brother of Ann (stated 2026-01-05)",
        "formerly: ann lives in Oslo (2026-01-05 until 2026-02-04)",
    ]
    assert links(flow, "ann") == {id_of("oslo"), id_of("bergen"), id_of("paul")}
    assert links(flow, "paul") == {id_of("ann")}
    assert {each.id for each in flow.kinds("entity").values()} == {id_of(each) for each in named(flow)}
    assert (await flow.rebuilt()).memories == flow.memories


async def test_a_correction_moves_an_edge(flow: Timelines) -> None:
    stated = await state(flow, 0, 0, ("ann", "lives in", "Oslo"))
    change = correction(stated.events[0], 1, properties={"object": "Bergen"})
    await flow.deliver_again(correction_record(change, 1))
    assert named(flow) == {"ann", "bergen"}
    assert lines(flow, "ann") == ["ann lives in Bergen (since 2026-01-05)"]
    await flow.deliver_again(correction_record(correction(stated.events[0], 2, "revert"), 2))
    assert named(flow) == {"ann", "oslo"}
    assert links(flow, "ann") == {id_of("oslo")}


async def test_an_invalidated_edge_gives_the_former_back(flow: Timelines) -> None:
    await state(flow, 0, 0, ("ann", "lives in", "Oslo"))
    before = dict(flow.memories)
    later = await state(flow, 1, 30, ("ann", "lives in", "Bergen"))
    await flow.deliver_again(correction_record(correction(later.events[0], 1, "invalidate"), 1))
    assert lines(flow, "ann") == ["ann lives in Oslo (since 2026-01-05)"]
    assert named(flow) == {"ann", "oslo"}
    await flow.deliver_again(correction_record(correction(later.events[0], 2, "delete"), 2))
    assert {each.content for each in flow.memories.values()} == {each.content for each in before.values()}


async def test_a_repeated_extraction_replaces_edges(flow: Timelines) -> None:
    await state(flow, 0, 0, ("ann", "lives in", "Oslo"), ("ann", "knows", "Paul"))
    await state(flow, 0, 0, ("ann", "lives in", "Oslo"))
    assert named(flow) == {"ann", "oslo"}
    await flow.repeat()
    assert lines(flow, "ann") == ["ann lives in Oslo (since 2026-01-05)"]


async def test_an_erasure_leaves_no_node(flow: Timelines) -> None:
    stated = await state(flow, 0, 0, ("ann", "lives in", "Oslo"))
    for name in ("ann", "oslo"):
        key = entity_key(USER, name)
        erasure = Contribution(
            tenant=TENANT,
            user=USER,
            entity_type="node",
            entity_key=key,
            source="extractions/0",
            position=90,
            time=stated.window_end,
            schema_name="graph",
            cause="erasure",
        )
        record = delivered("contributions", len(flow.contributions), encode_key(TENANT, "node", key), erasure.to_json())
        batch = await flow.entities.process([record])
        assert (encode_key(TENANT, id_of(name)), None) in {(each.key, each.value) for each in batch.outputs}
    left = b"".join(value for key, value in flow.entities.rows.rows.items())
    assert b"oslo" not in left.lower()
    assert flow.entities.rows.rows == {}


async def test_no_relation_makes_no_node(flow: Timelines) -> None:
    name = window_id(TENANT, "s1", 0)
    plain = extraction(0, 0, ["Hello."], "relation")
    assert plain.events[0].id == event_id(name, 0)
    half: Event = plain.events[0].model_copy(update={"properties": {"subject": "ann"}})
    await flow.deliver_again(
        delivered("extractions", 0, encode_key(TENANT, USER), plain.model_copy(update={"events": [half], "schema_name": "graph"}).to_json())
    )
    assert flow.kinds("entity") == {}
