"""``varve mcp``: the SDK's client starts the command, which calls a running service."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from memory.ids import user_digest
from tests.api.mcp.served import call, failure, mcp_service
from tests.api.running_service import OSLO, RunningService
from varve.embedded.ports import free_port

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]


def command(data: Path, *arguments: str, **variables: str) -> StdioServerParameters:
    environment = {**os.environ, "VARVE_DATA": str(data), **variables}
    return StdioServerParameters(command=sys.executable, args=["-m", "varve", "mcp", *arguments], env=environment)


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_the_command_serves_a_running_service(service: RunningService, tmp_path: Path, era: str) -> None:
    async with mcp_service(service.settings) as url:
        started = command(tmp_path, "--user", "ann", VARVE_CLIENT__URL=url, VARVE_CLIENT__API_KEY=service.keys["acme"])
        async with Client(started, mode=era) as client:
            assert {each.name for each in (await client.list_tools()).tools} >= {"remember", "recall", "forget", "block_replace"}
            found = await call(client, "recall", query="Where did Ann move to?")
            assert found["results"][0]["content"] == OSLO.content
            assert {each["user"] for each in (await call(client, "list"))["memories"]} == {"ann"}
            assert (await call(client, "remember", text="I like tea."))["session"] == f"mcp-{user_digest('ann')}"
            assert "no memory" in await failure(client, "get", memory_id="00000000-0000-0000-0000-000000000000")


async def test_lines_that_are_no_messages_are_answered(tmp_path: Path) -> None:
    started = command(tmp_path, VARVE_CLIENT__URL=f"http://127.0.0.1:{free_port()}", VARVE_CLIENT__API_KEY="k")
    process = await asyncio.create_subprocess_exec(started.command, *started.args, env=started.env, stdin=PIPE, stdout=PIPE)

    def line(**members: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        line(id=0, method="initialize", params=hello),
        line(method="notifications/initialized"),
        line(method="notifications/cancelled", params={"requestId": "unknown"}),
        line(id=1, method="tools/call", params={"name": "recall", "arguments": {"query": "half of a character: \ud83d"}}),
        line(id="two", method="tools/call", params=[]),
        b"{nope\n",
        line(id=None, method="tools/list"),
        line(id=3, method="ping"),
    ]
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"".join(lines))
    # The end of the input stops the server, also while it answers.
    async with asyncio.timeout(60):
        output = [await process.stdout.readline() for _ in range(6)]
    process.stdin.close()
    await process.wait()
    answers = [(each["id"], each.get("error", {}).get("code")) for each in map(json.loads, output)]
    assert sorted(answers, key=str) == sorted([(0, None), (1, -32700), ("two", -32600), (None, -32700), (None, -32600), (3, None)], key=str)


async def test_an_unreachable_service_is_named(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    async with Client(command(tmp_path, VARVE_CLIENT__URL=url, VARVE_CLIENT__API_KEY="k")) as client:
        assert url in await failure(client, "recall", query="x")
