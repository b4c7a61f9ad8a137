"""A block that a scripted model edits over two windows, in the real flow: each step is recorded and paid, and a rebuild calls no model."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.records import Contribution, Extraction, Memory, Usage
from runtime.kafka import Producer, read_topic
from runtime.redis import open_redis
from runtime.settings import LLMSettings, Settings
from stores.build import build_store
from streams.operations.rebuild import rebuild, snapshot
from tests.control_log import add_tenant
from tests.streams.agent_remarks import BLOCK, asked, editing_answer, schema
from tests.streams.flow import caught_up, serving
from tests.streams.linked_remarks import remarks
from tests.streams.merged_remarks import TENANT, extraction_record

pytestmark = pytest.mark.integration

STAGES = ("events", "entities", "merging", "index")


@pytest.fixture
async def simulator() -> AsyncIterator[LLMSimulator]:
    async with LLMSimulator(answer=editing_answer) as simulator:
        yield simulator


async def said(settings: Settings, *given: Extraction) -> None:
    """Brings extractions, one after the other, through all stages."""
    async with Producer(kafka=settings.kafka) as producer, serving(settings, STAGES):
        for each in given:
            await producer.send_many([extraction_record(settings.topic("extractions"), each)])
            await caught_up(settings, STAGES)


async def memories(settings: Settings) -> list[bytes]:
    store = build_store(settings)
    try:
        return [line async for line in snapshot(store, TENANT)]
    finally:
        await store.close()


async def blocks(settings: Settings) -> dict[str | None, Memory]:
    """The users' blocks."""
    return {each.user: each for line in await memories(settings) if (each := Memory.from_json(line)).kind == "entity"}


async def rebuilt(settings: Settings) -> None:
    store = build_store(settings)
    async with open_redis(settings.redis) as redis:
        await rebuild(settings, store=store, redis=redis)
    await store.close()
    async with serving(settings, STAGES):
        await caught_up(settings, STAGES)


async def test_a_block_is_edited_over_two_windows(flow: Settings, simulator: LLMSimulator) -> None:
    settings = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
    await add_tenant(settings, TENANT, schema=schema(Steps=3))
    first = remarks("ann", 0, "I live in Oslo.", "I have a cat.")
    await said(settings, first, remarks("ben", 0, "I live in Rome."))
    found = await blocks(settings)
    assert {user: each.properties[BLOCK] for user, each in found.items()} == {"ann": "Lives in Oslo\nHas a cat", "ben": "Lives in Rome"}
    assert found["ann"].message_ids == ["ann-0-0", "ann-0-1"]

    second = remarks("ann", 1, "I live in Bergen.")
    await said(settings, second)
    block = (await blocks(settings))["ann"]
    assert block.properties[BLOCK] == "Lives in Bergen\nHas a cat"
    last = asked_last(simulator)
    assert [each["tool"] for each in last["calls"]] == ["", "search", "replace"]
    assert "there is no tool 'forget_all'" in last["calls"][0]["error"]
    texts = [each["says"] for each in last["calls"][1]["result"]]
    assert {"I live in Oslo.", "I have a cat."} <= {*texts}
    assert "I live in Rome." not in texts, "no search finds another user's events"

    outcomes = [Contribution.from_json(each.value) async for each in read_topic(settings.topic("merged"), settings.kafka) if each.value]
    found_outcomes: list[Any] = [each.merged.outcome for each in outcomes if each.merged is not None]
    (outcome,) = (each for each in found_outcomes if "search" in [call["tool"] for call in each["calls"]])
    recorded = orjson.dumps(outcome["calls"]).decode()
    assert first.events[0].id in recorded
    assert "I live in Oslo." not in recorded, "the log names found memories only by id, version and score"
    assert (outcome["steps"], outcome["ended"]) == (2, "finished")
    usages = [Usage.from_json(each.value or b"") async for each in read_topic(settings.topic("usage"), settings.kafka)]
    assert len(usages) == len(simulator.requests) == 6, "each step is paid for"
    assert {(each.tenant, each.stage) for each in usages} == {(TENANT, "merging")}

    before = await memories(settings)
    for _ in range(2):
        await rebuilt(settings)
        assert await memories(settings) == before
    assert len(simulator.requests) == 6, "neither the model nor the store was asked again"

    await said(settings, remarks("ann", 1))
    assert (await blocks(settings))["ann"].properties[BLOCK] == "Lives in Oslo\nHas a cat", "the retracted window leaves no trace"
    before = await memories(settings)
    await rebuilt(settings)
    assert await memories(settings) == before


def asked_last(simulator: LLMSimulator) -> dict[str, list[dict[str, Any]]]:
    """The question of the last step."""
    return asked(simulator.requests[-1])
