"""A block that a scripted model edits over two windows, in the real flow: each step is recorded and paid, and a rebuild calls no model."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.records import Contribution, Memory, Usage
from runtime.kafka import read_topic
from runtime.settings import LLMSettings, Settings
from tests.control_log import add_tenant
from tests.streams.agent_remarks import BLOCK, asked, editing_answer, schema
from tests.streams.linked_remarks import remarks
from tests.streams.merged_remarks import TENANT
from tests.streams.merging_flow import memory_lines, process, rebuild_and_catch_up

pytestmark = pytest.mark.integration


@pytest.fixture
async def simulator() -> AsyncIterator[LLMSimulator]:
    async with LLMSimulator(answer=editing_answer) as simulator:
        yield simulator


async def blocks(settings: Settings) -> dict[str | None, Memory]:
    """The users' blocks."""
    return {each.user: each for line in await memory_lines(settings) if (each := Memory.from_json(line)).kind == "entity"}


async def test_a_block_is_edited_over_two_windows(flow: Settings, simulator: LLMSimulator) -> None:
    settings = flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
    await add_tenant(settings, TENANT, schema=schema(Steps=3))
    first = remarks("ann", 0, "I live in Oslo.", "I have a cat.")
    await process(settings, first, remarks("ben", 0, "I live in Rome."))
    found = await blocks(settings)
    assert {user: each.properties[BLOCK] for user, each in found.items()} == {"ann": "Lives in Oslo\nHas a cat", "ben": "Lives in Rome"}
    assert found["ann"].message_ids == ["ann-0-0", "ann-0-1"]

    second = remarks("ann", 1, "I live in Bergen.")
    await process(settings, second)
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

    before = await memory_lines(settings)
    for _ in range(2):
        await rebuild_and_catch_up(settings)
        assert await memory_lines(settings) == before
    assert len(simulator.requests) == 6, "neither the model nor the store was asked again"

    await process(settings, remarks("ann", 1))
    assert (await blocks(settings))["ann"].properties[BLOCK] == "Lives in Oslo\nHas a cat", "the retracted window leaves no trace"
    before = await memory_lines(settings)
    await rebuild_and_catch_up(settings)
    assert await memory_lines(settings) == before


def asked_last(simulator: LLMSimulator) -> dict[str, list[dict[str, Any]]]:
    """The question of the last step."""
    return asked(simulator.requests[-1])
