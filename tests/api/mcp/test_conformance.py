"""The suite ``@modelcontextprotocol/conformance`` against ``/mcp``; ``make test-mcp`` installs it, and the Node.js that it needs.

The suite is written for a sample server: most scenarios call its own tools, prompts and resources, or features that Varve does not offer.
"""

import asyncio
import os
import re
import shlex
import shutil
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


async def printed_by(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
    return (await process.communicate())[0].decode()


async def test_the_offered_features_conform(service: RunningService) -> None:
    suite = os.environ.get("VARVE_TEST_MCP_CONFORMANCE")
    if suite is None:
        pytest.skip("no conformance suite: make test-mcp, with npm")
    if shutil.which("npx") is None:
        pytest.skip("npm is not installed: it comes with Node.js")
    async with mcp_service(service.settings, always_key=service.keys["acme"]) as url:
        printed = await printed_by(*shlex.split(suite), "server", "--url", f"{url}/mcp")
    outcomes = {name: int(failed) for name, failed in re.findall(r"^\S ([\w-]+): \d+ passed, (\d+) failed$", printed, re.MULTILINE)}
    assert outcomes.keys() >= OFFERED, printed[-2000:]
    assert {name for name, failed in outcomes.items() if not failed} >= OFFERED, printed[-3000:]
