"""Access of the MCP tools to the service: the client of one request, and the service's errors as errors of MCP."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from varve_client import AsyncVarveClient, ServiceProblemError, VarveClientError

from memory.ids import user_digest

_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The service, as the caller of one request may access it."""

    varve: AsyncVarveClient
    api_key: str
    user: str | None = None
    """The user for requests that name none. Default: the user to whom the key is bound."""
    session: str | None = None
    """The session for messages that name none. Default: one session per user."""

    async def user_or_default(self, user: str | None) -> str | None:
        """The user of a request: the named one, the default one, or the one to whom the key is bound."""
        return user or self.user or (await self.varve.status()).user

    def session_of(self, session: str | None, user: str) -> str:
        """The session of a message: the named one, the default one, or the one of its user."""
        return session or self.session or f"mcp-{user_digest(user)}"

    async def session_shown(self, session: str | None, user: str | None) -> str | None:
        """The session whose newest messages a reader sees: the named one, or the one in which its user's messages are; None without."""
        if session is not None:
            return session
        whose = await self.user_or_default(user)
        return self.session if whose is None else self.session_of(None, whose)


Connect = Callable[[Context[Any]], AbstractAsyncContextManager[Connection]]
"""Opens the connection of one request."""


@asynccontextmanager
async def tool_connection(connect: Connect, context: Context[Any]) -> AsyncIterator[Connection]:
    """The connection of a tool call.

    Raises:
        ToolError: If an argument is not valid, or the service refuses a request or cannot be reached; the model reads the reason.
    """
    try:
        async with connect(context) as connection:
            yield connection
    except ServiceProblemError as error:
        raise ToolError(_reason(error)) from error
    except VarveClientError as error:
        raise ToolError(str(error)) from error


@asynccontextmanager
async def resource_connection(connect: Connect, context: Context[Any]) -> AsyncIterator[Connection]:
    """The connection of a resource's read.

    Raises:
        ResourceError: If a name is not valid, or the service refuses a request or cannot be reached.
    """
    try:
        async with connect(context) as connection:
            yield connection
    except ServiceProblemError as error:
        kind = ResourceNotFoundError if error.status == _NOT_FOUND else ResourceError
        raise kind(_reason(error)) from error
    except VarveClientError as error:
        raise ResourceError(str(error)) from error


def _reason(error: ServiceProblemError) -> str:
    return f"{error.detail} ({error.status} {error.kind})" if error.kind else f"{error.detail} ({error.status})"
