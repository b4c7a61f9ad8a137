"""The query service with MCP on a real port, and the SDK's own client of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from starlette.types import Receive, Scope, Send

from api.app import create_app
from api.composition import OpenDependencies, open_dependencies
from runtime.settings import McpSettings, Settings
from varve.embedded.ports import HOST, free_port

DEADLINE_S = 60.0


class _Server(uvicorn.Server):
    def install_signal_handlers(self) -> None:
        """The tests handle signals themselves."""


@asynccontextmanager
async def mcp_service(
    settings: Settings, *, open_dependencies: OpenDependencies = open_dependencies, always_key: str | None = None
) -> AsyncIterator[str]:
    """The address of a running service that serves MCP.

    Args:
        settings: Its settings.
        open_dependencies: Opens its dependencies.
        always_key: An API key for every request, in place of a proxy that adds it.
    """
    with_mcp = settings.model_copy(update={"mcp": McpSettings(enabled=True, allowed_origins=("https://app.example",))})
    service = create_app(with_mcp, open_dependencies=open_dependencies)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if always_key is not None and scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"x-api-key", always_key.encode())]
        await service(scope, receive, send)

    port = free_port()
    server = _Server(uvicorn.Config(app, host=HOST, port=port, log_config=None, access_log=False, ws="none", lifespan="on"))
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not server.started:
                assert not serving.done(), "the service did not start"
                await asyncio.sleep(0.02)
        yield f"http://{HOST}:{port}"
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def mcp_client(url: str, api_key: str, *, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    """The SDK's client. ``mode``: ``auto``, ``legacy`` for the handshake, or a protocol version."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {api_key}", **headers}, timeout=DEADLINE_S) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a tool that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    """The message of a tool that fails."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error, result.structured_content
    (content,) = result.content
    return str(getattr(content, "text", ""))
