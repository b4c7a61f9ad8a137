"""Communities of a relation graph (CLUSTER) through the events, entities and merging stages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from loadtest.llm_simulator import LLMSimulator
from memory.keys import encode_key
from memory.records import Contribution, Extraction, Memory
from memory.schema import MemorySchema
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.operators.cluster.community_schema import community_schema
from tests.streams.harness import delivered
from tests.streams.simulated_model import WRITTEN, simulated_model
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.timelines_flow import TENANT, USER, Timelines, extraction

Relation = tuple[str, str, str]
ANN: list[Relation] = [("ann", "lives in", "Bergen"), ("ann", "likes", "tea")]
PAUL: list[Relation] = [("Paul", "lives in", "Lyon"), ("Paul", "plays", "chess")]


def flow_of(settings: Settings, schema: MemorySchema | None = None) -> Timelines:
    return Timelines(settings, known_tenants({TENANT: schema or community_schema()}))


@asynccontextmanager
async def asking(settings: Settings) -> AsyncIterator[tuple[Timelines, LLMSimulator]]:
    """The stages before a simulated model."""
    simulator = LLMSimulator(answer=lambda _: WRITTEN)
    async with simulated_model(simulator, settings) as (with_llm, llm):
        yield Timelines(with_llm, known_tenants({TENANT: community_schema()}), llm), simulator


async def state(flow: Timelines, number: int, relations: list[Relation]) -> Extraction:
    """A window with an event for each relation."""
    plain = extraction(number, number, [" ".join(each) for each in relations], "relation")
    events = [
        event.model_copy(update={"properties": dict(zip(("subject", "relation", "object"), each, strict=True))})
        for event, each in zip(plain.events, relations, strict=True)
    ]
    stated = plain.model_copy(update={"events": events, "schema_name": "graph"})
    await flow.deliver_again(delivered("extractions", 0, encode_key(TENANT, USER), stated.to_json()))
    return stated


def communities(flow: Timelines) -> list[Memory]:
    found = (each for each in flow.memories.values() if each.kind == "summary")
    return sorted(found, key=lambda each: str(each.properties["members"]))


def members(flow: Timelines) -> list[set[str]]:
    return [set(each.properties["members"]) for each in communities(flow)]  # type: ignore[arg-type]


def states(flow: Timelines) -> dict[bytes, bytes]:
    """The entities' states, without the log position of each row."""
    return {key: row[8:] for key, row in flow.entities.rows.rows.items()}


async def test_a_community_gains_and_loses_a_member(settings: Settings) -> None:
    flow = flow_of(settings)
    await state(flow, 0, ANN)
    await state(flow, 1, PAUL)
    before = {each.id: each for each in communities(flow)}
    assert members(flow) == [{"Paul", "chess", "Lyon"}, {"ann", "tea", "Bergen"}]
    joined = await state(flow, 2, [("Eva", "is married to", "Paul")])
    assert members(flow) == [{"Paul", "chess", "Lyon", "Eva"}, {"ann", "tea", "Bergen"}]
    assert {each.id for each in communities(flow)} == before.keys()
    assert (await flow.rebuilt()).memories == flow.memories
    await flow.deliver_again(correction_record(correction(joined.events[0], 1, "delete"), 1))
    assert {each.id: each for each in communities(flow)} == before


async def test_a_correction_moves_a_member(settings: Settings) -> None:
    flow = flow_of(settings)
    await state(flow, 0, ANN)
    stated = await state(flow, 1, PAUL)
    change = correction(stated.events[1], 1, properties={"subject": "ann"})
    await flow.deliver_again(correction_record(change, 1))
    assert members(flow) == [{"ann", "tea", "Bergen", "chess"}]
    await state(flow, 0, [])
    await state(flow, 1, [])
    assert flow.memories == {}


async def test_summaries_are_coalesced_and_a_rebuild_asks_nothing(settings: Settings) -> None:
    async with asking(settings) as (flow, simulator):
        await state(flow, 0, ANN)
        assert [each.properties["written_by"] for each in communities(flow)] == ["simulated"]
        assert len(simulator.requests) == 1, "one question for both edges"
        await state(flow, 1, [*PAUL, ("Ivo", "owns", "cat"), ("Ivo", "likes", "rain"), ("Mia", "plays", "go"), ("Mia", "likes", "fog")])
        assert len(simulator.requests) == 3, "two of three, in one batch"
        await state(flow, 2, [("Eva", "is married to", "Paul")])
        assert len(communities(flow)) == 4
        asked = len(simulator.requests)
        rebuilt = await flow.rebuilt()
        assert rebuilt.memories == flow.memories
        assert rebuilt.merged.keys() == flow.merged.keys()
        assert states(rebuilt) == states(flow)
        assert len(simulator.requests) == asked


async def test_a_window_extracted_again_replaces_its_edges(settings: Settings) -> None:
    async with asking(settings) as (flow, _):
        await state(flow, 0, [*ANN, ("ann", "likes", "music")])
        await state(flow, 0, ANN)
        assert members(flow) == [{"ann", "tea", "Bergen"}]
        assert (await flow.rebuilt()).memories == flow.memories


async def test_an_erasure_leaves_no_community(settings: Settings) -> None:
    async with asking(settings) as (flow, _):
        await state(flow, 0, ANN)
        known = {encode_key(TENANT, each.id) for each in communities(flow)}
        erasure = Contribution(
            tenant=TENANT,
            user=USER,
            entity_type="community",
            entity_key=USER,
            source="extractions/0",
            position=90,
            time=flow.now(1),
            schema_name="graph",
            cause="erasure",
        )
        record = delivered("contributions", len(flow.contributions), encode_key(TENANT, "community", USER), erasure.to_json())
        batch = await flow.entities.process([record])
        assert known
        assert known <= {each.key for each in batch.outputs if each.value is None}
        assert flow.merged.keys() <= {each.key for each in batch.outputs if each.value is None}
        assert flow.entities.rows.rows == {}
