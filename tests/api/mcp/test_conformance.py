"""The suite ``@modelcontextprotocol/conformance`` against ``/mcp``; ``make test-mcp`` installs it, with Node.js 22 or newer.

The suite is written for a sample server: most scenarios call its own tools, prompts and resources, or features that Varve does not offer.
"""

import asyncio
import os
import re
import shlex
from typing import Final

import pytest

from tests.api.mcp.served import mcp_service
from tests.api.running_service import RunningService

pytestmark = [pytest.mark.external, pytest.mark.asyncio(loop_scope="module")]

OFFERED: Final = frozenset(
    {
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "server-sse-multiple-streams",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    }
)
"""The scenarios that need no sample server."""


async def test_the_offered_features_conform(service: RunningService) -> None:
    suite = os.environ.get("VARVE_TEST_MCP_CONFORMANCE")
    if suite is None:
        pytest.skip("no conformance suite: make test-mcp, with Node.js 22 or newer")
    async with mcp_service(service.settings, always_key=service.keys["acme"]) as url:
        process = await asyncio.create_subprocess_exec(
            *(*shlex.split(suite), "server", "--url", f"{url}/mcp"), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        printed = (await process.communicate())[0].decode()
    outcomes = {name: int(failed) for name, failed in re.findall(r"^\S ([\w-]+): \d+ passed, (\d+) failed$", printed, re.MULTILINE)}
    assert outcomes.keys() >= OFFERED, printed[-2000:]
    assert {name for name, failed in outcomes.items() if not failed} >= OFFERED, printed[-3000:]
