"""Memory tools of outside agents on the real service and stages: edits are attributed and undone, and a rebuild gives the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from api.routes.blocks import BlockEditBody
from memory.schema import MemorySchema
from runtime.kafka import Producer
from runtime.settings import Settings
from streams.operations.replay import ReplayStart, replay
from tests.api.block_agent import Agent, applied
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, add_tenant
from tests.streams.agent_remarks import schema
from tests.streams.flow import caught_up, serving
from tests.streams.linked_remarks import remarks
from tests.streams.merged_remarks import TENANT, extraction_record
from tests.streams.merging_flow import STAGES, memory_lines, rebuild_and_catch_up

pytestmark = pytest.mark.integration


def with_block(**parameters: Any) -> MemorySchema:
    return schema(Characters=400, **parameters)


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The stages and the service."""
    async with serving(settings, STAGES), service_of(settings) as http:
        yield http


@pytest.fixture
async def tenant_key(flow: Settings) -> str:
    return await add_tenant(flow, TENANT, schema=with_block())


async def test_edits_are_attributed_and_survive_a_rebuild(flow: Settings, tenant_key: str) -> None:
    planner, writer = await add_key(flow, TENANT, label="planner"), await add_key(flow, TENANT, label="writer")
    async with running(flow) as http:
        one, other = Agent(http, planner), Agent(http, writer)
        assert (await one.read())["text"] == ""
        first = applied(await one.edit("append", text="Lives in Oslo.\nHas a cat."))
        second = applied(await other.edit("replace", old="Oslo", text="Bergen", reason="she moved"))
        third = applied(await one.edit("insert", line=2, text="Works at night.", version=2))
        block = await other.read()
        assert block["text"] == "Lives in Bergen.\nWorks at night.\nHas a cat."
        assert (block["version"], block["max_characters"]) == (3, 400)
        assert [(each["id"], each["by"].split(" (")[0], each["status"]) for each in block["edits"]] == [
            (third, "planner", "applied"),
            (second, "writer", "applied"),
            (first, "planner", "applied"),
        ]
        assert all(each["time"] for each in block["edits"])
        undone = await one.undo(second)
        assert (undone.status_code, undone.json()["status"]) == (200, "undone")
        assert undone.json()["block"]["text"] == "Lives in Oslo.\nWorks at night.\nHas a cat."
        (shown,) = (each for each in undone.json()["block"]["edits"] if each["id"] == second)
        assert shown["undone_by"].startswith("planner (")
        assert (await other.undo(second)).status_code == 409
        assert (await other.undo("unknown")).status_code == 404
        await caught_up(flow, STAGES)
        history = await http.get("/v1/entities/core_memory/ann/history", headers=bearer(planner))
        assert history.status_code == 200, history.text
        assert "Lives in Oslo." in history.text
    before = await memory_lines(flow)
    assert before
    await rebuild_and_catch_up(flow)
    assert await memory_lines(flow) == before
    for stage in ("events", "entities"):
        assert await replay(flow, stage, ReplayStart())
        async with serving(flow, STAGES):
            await caught_up(flow, STAGES)
        assert await memory_lines(flow) == before


async def test_of_two_replacements_of_a_text_one_conflicts(flow: Settings, tenant_key: str) -> None:
    keys = [await add_key(flow, TENANT, label=f"agent-{number}") for number in range(6)]
    async with running(flow) as http:
        agents = [Agent(http, key) for key in keys]
        applied(await agents[0].edit("append", text="Lives in Oslo."))
        answers = await asyncio.gather(*(each.edit("replace", old="Oslo", text=f"City {number}") for number, each in enumerate(agents)))
        assert sorted(each.status_code for each in answers) == [200, 409, 409, 409, 409, 409]
        for answer in answers:
            if answer.status_code == 409:
                problem = answer.json()
                assert problem["type"].endswith("edit-conflict")
                assert "is not in the block" in problem["detail"]
                assert "City" in problem["block"]["text"]
        appended = await asyncio.gather(*(each.edit("append", text=f"Fact {number}.") for number, each in enumerate(agents)))
        assert {each.status_code for each in appended} == {200}
        text = (await agents[0].read())["text"]
        assert sorted(text.splitlines()[1:]) == [f"Fact {number}." for number in range(6)], "no edit is lost, and none counts twice"
        full = await agents[0].edit("append", text="x" * 390)
        assert (full.status_code, "its limit is 400" in full.json()["detail"]) == (409, True)
        late = await agents[0].edit("append", text="y", version=1)
        assert (late.status_code, "has changed" in late.json()["detail"]) == (409, True)


async def test_edits_stay_within_tenants_and_users(flow: Settings, tenant_key: str) -> None:
    rival = await add_tenant(flow, "rival", schema=with_block())
    bens, reader = await add_key(flow, TENANT, user="ben"), await add_key(flow, TENANT, scopes=["recall"])
    async with Producer(kafka=flow.kafka) as producer:
        await producer.send_many([extraction_record(flow.topic("extractions"), remarks("ann", 0, "I live in Oslo."))])
    async with running(flow) as http:
        ann, ben, other = Agent(http, tenant_key), Agent(http, bens, None), Agent(http, rival)
        edit = applied(await ann.edit("append", text="Lives in Oslo."))
        applied(await ben.edit("append", text="Lives in Rome."))
        applied(await other.edit("append", text="Another Ann."))
        texts = [(await each.read())["text"] for each in (ann, ben, other)]
        assert texts == ["Lives in Oslo.", "Lives in Rome.", "Another Ann."]
        assert (await other.undo(edit)).status_code == 404
        assert (await ben.undo(edit)).status_code == 404
        refused = await Agent(http, bens).edit("append", text="Not Ben's.")
        assert refused.status_code == 403
        assert (await Agent(http, reader).edit("append", text="x")).status_code == 403
        unnamed = await Agent(http, tenant_key, None).edit("append", text="x")
        assert (unnamed.status_code, "name the user" in unnamed.json()["detail"]) == (422, True)
        await caught_up(flow, STAGES)
        assert [each["says"] for each in (await ann.search("Where do I live?"))["results"]] == ["I live in Oslo."]
        for stranger in (ben, other):
            assert (await stranger.search("Where do I live?"))["results"] == []


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"tool": "append"}, "text must not be blank"),
        ({"tool": "append", "text": "x", "line": 1}, "takes no line"),
        ({"tool": "replace", "text": "x"}, "needs old"),
        ({"tool": "insert", "text": "x", "line": 0}, "line"),
        ({"tool": "append", "text": "x" * 2001}, "2000"),
        ({"tool": "drop"}, "tool"),
    ],
)
def test_calls_with_wrong_arguments_are_named(body: dict[str, Any], detail: str) -> None:
    with pytest.raises(ValidationError, match=detail):
        BlockEditBody.model_validate(body)
