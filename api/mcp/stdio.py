"""MCP over the standard streams, for a client that starts the server as a process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import Context
from varve_client import AsyncVarveClient

from api.mcp.connection import Connection
from api.mcp.server import build_server


async def serve_stdio(varve: AsyncVarveClient, *, api_key: str, user: str | None, session: str | None) -> None:
    """Answers requests until the standard input ends.

    Args:
        varve: A client of a running service.
        api_key: The key of the client.
        user: The user for requests that name none. Default: the user to whom the key is bound.
        session: The session for messages that name none. Default: one session per user.
    """

    @asynccontextmanager
    async def connect(_: Context[Any]) -> AsyncIterator[Connection]:
        yield Connection(varve=varve, api_key=api_key, user=user, session=session)

    await build_server(connect).run_stdio_async()
