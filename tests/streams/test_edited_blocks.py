"""Memory tools of outside agents on the real service and stages: edits are attributed and undone, and a rebuild gives the same."""

from typing import Any

import pytest
from pydantic import ValidationError

from api.routes.blocks import BlockEditBody
from runtime.settings import Settings
from streams.operations.replay import ReplayStart, replay
from tests.api.block_agent import Agent, applied
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, add_tenant
from tests.streams.agent_remarks import schema
from tests.streams.flow import caught_up, have_workers, serving
from tests.streams.merged_remarks import TENANT
from tests.streams.merging_flow import STAGES, memory_lines, rebuild_and_catch_up

pytestmark = pytest.mark.integration


async def test_edits_are_attributed_and_survive_a_rebuild(flow: Settings) -> None:
    await add_tenant(flow, TENANT, schema=schema(Characters=400))
    planner, writer = await add_key(flow, TENANT, label="planner"), await add_key(flow, TENANT, label="writer")
    async with serving(flow, STAGES), service_of(flow) as http:
        one, other = Agent(http, planner), Agent(http, writer)
        assert (await one.read())["text"] == ""
        await have_workers(flow, STAGES)
        first = applied(await one.edit("append", text="Lives in Oslo.\nHas a cat."))
        second = applied(await other.edit("replace", old="Oslo", text="Bergen", reason="she moved"))
        third = applied(await one.edit("insert", line=2, text="Works at night.", version=2))
        block = await other.read()
        assert block["text"] == "Lives in Bergen.\nWorks at night.\nHas a cat."
        assert (block["version"], block["max_characters"], block["degraded"]) == (3, 400, [])
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
