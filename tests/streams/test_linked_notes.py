"""Notes that find, link and change each other, in the real flow: what a note has changed is undone with it, and a rebuild asks nobody."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.records import Memory
from runtime.kafka import Producer
from runtime.settings import LLMSettings, MergingSettings, Settings
from stores.build import build_store
from stores.port import TenantScope
from tests.control_log import add_tenant
from tests.streams.flow import DEADLINE_S, caught_up, serving
from tests.streams.linked_remarks import linking_answer, note_id, remarks, schema
from tests.streams.merged_remarks import TENANT, extraction_record
from tests.streams.merging_flow import STAGES, memory_lines, process, rebuild_and_catch_up

pytestmark = pytest.mark.integration


@pytest.fixture
async def simulator() -> AsyncIterator[LLMSimulator]:
    async with LLMSimulator(answer=linking_answer) as simulator:
        yield simulator


async def notes(settings: Settings) -> dict[str, Memory]:
    """The notes, by their ids."""
    found = [Memory.from_json(line) for line in await memory_lines(settings)]
    return {each.id: each for each in found if each.kind == "entity"}


def shown(note: Memory) -> dict[str, Any]:
    """A note without the number of its changes."""
    return note.model_dump(exclude={"version"})


async def test_a_neighbour_evolves_until_the_cause_is_retracted(flow: Settings, simulator: LLMSimulator) -> None:
    settings = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
    await add_tenant(settings, TENANT, schema=schema(decide="link"))
    first, other, second = remarks("ann", 0, "I have a cat."), remarks("ben", 0, "I have a cat too."), remarks("ann", 1, "My cat is ill.")
    await process(settings, first, other)
    alone = (await notes(settings))[note_id("ann", first)]
    assert alone.links is None
    assert (alone.properties["context"], alone.properties["tags"]) == ("About: I have a cat.", ["pets"])

    await process(settings, second)
    after = await notes(settings)
    changed, cause = after[note_id("ann", first)], after[note_id("ann", second)]
    assert changed.properties["context"] == "Later: My cat is ill."
    assert changed.properties["note"] == "I have a cat.", "the user's own words stay"
    assert changed.properties["changed_by"] == [second.events[0].id]
    assert changed.event_time == alone.event_time
    assert [(each.id, each.relation) for each in changed.links or ()] == [(cause.id, "the same cat")]
    assert [each.id for each in cause.links or ()] == [changed.id]
    assert after[note_id("ben", other)].links is None, "no lookup finds the notes of another user"

    before, asked = await memory_lines(settings), len(simulator.requests)
    for _ in range(2):
        await rebuild_and_catch_up(settings)
        assert await memory_lines(settings) == before
    assert len(simulator.requests) == asked, "neither the model nor the store was asked again"

    await process(settings, remarks("ann", 1))
    left = await notes(settings)
    assert note_id("ann", second) not in left
    assert shown(left[note_id("ann", first)]) == shown(alone)
    before = await memory_lines(settings)
    await rebuild_and_catch_up(settings)
    assert await memory_lines(settings) == before


async def test_notes_of_one_second_find_each_other(flow: Settings, simulator: LLMSimulator) -> None:
    settings = flow.model_copy(
        update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated"), "merging": MergingSettings(lookup_wait_s=DEADLINE_S)}
    )
    await add_tenant(settings, TENANT, schema=schema(decide="link"))
    burst = [remarks("ann", 0, "I have a cat.", "My cat is ill."), remarks("ann", 1, "The vet saw my cat.")]
    async with Producer(kafka=settings.kafka) as producer, serving(settings, ("events", "entities", "merging")):
        await producer.send_many([extraction_record(settings.topic("extractions"), each) for each in burst])
        await caught_up(settings, ("events", "entities"))
        assert not simulator.requests, "no lookup before the index has the notes"
        async with serving(settings, ("index",)):
            await caught_up(settings, STAGES)
    found = await notes(settings)
    ids = [note_id("ann", burst[0]), note_id("ann", burst[0], 1), note_id("ann", burst[1])]
    assert {name: {each.id for each in found[name].links or ()} for name in ids} == {name: {*ids} - {name} for name in ids}
    assert [found[each].properties["context"] for each in ids[:2]] == ["Later: The vet saw my cat."] * 2
    assert found[ids[2]].properties["context"] == "About: The vet saw my cat."
    assert len(simulator.requests) == 3
    before = await memory_lines(settings)
    await rebuild_and_catch_up(settings)
    assert (await memory_lines(settings), len(simulator.requests)) == (before, 3)


async def test_a_repeated_fact_is_hidden_by_rule(flow: Settings) -> None:
    await add_tenant(flow, TENANT, schema=schema(decide="reconcile"))
    first, second, other = (remarks("ann", 0, "I live in Oslo."), remarks("ann", 1, "I live in Oslo!"), remarks("ann", 2, "I like tea."))
    await process(flow, first, second, other)
    found = await notes(flow)
    hidden = found[note_id("ann", second)]
    assert hidden.expires_at == hidden.event_time, "no recall finds it"
    assert (hidden.properties["hidden_because"], hidden.properties["hidden_by"]) == ("known", first.events[0].id)
    assert [found[note_id("ann", each)].expires_at for each in (first, other)] == [None, None]
    store = build_store(flow)
    assert [each.id for each in await store.get(TenantScope(TENANT, "ann"), [hidden.id])] == [hidden.id]
    await store.close()
    before = await memory_lines(flow)
    await rebuild_and_catch_up(flow)
    assert await memory_lines(flow) == before

    await process(flow, remarks("ann", 0))
    assert (await notes(flow))[hidden.id].expires_at is None, "the fact that it repeated was retracted"
