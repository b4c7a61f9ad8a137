"""The MCP resources: what is known about a user as a whole, and the timeline of what happened."""

from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError
from pydantic import BaseModel

from api.mcp.connection import Connect, Connection, resource_connection
from api.mcp.results import MemoryResult

_PAGE: Final = 200
_MAX_PAGES: Final = 5
"""A resource contains at most so many pages, so that a read does constant work."""
_JSON: Final = "application/json"
# A user's name is no path: it may contain dots and slashes.
_ANY_NAME: Final = ResourceSecurity(exempt_params={"user"})


class UserMemories(BaseModel):
    """The content of a resource."""

    user: str
    memories: list[MemoryResult]
    complete: bool
    """False if the user has more memories than a resource contains; use the tool ``list``."""


class Resources:
    """The resources of one server.

    Args:
        connect: Opens the connection of a request.
    """

    def __init__(self, connect: Connect) -> None:
        self._connect = connect

    def register(self, server: MCPServer[Any]) -> None:
        """Adds the resources to a server."""
        server.resource(
            "varve://users/{user}/profile",
            name="profile",
            title="Profile of a user",
            description="The entities of a user, such as the profile: current values with their evidence.",
            mime_type=_JSON,
            security=_ANY_NAME,
        )(self.profile)
        server.resource(
            "varve://users/{user}/timeline",
            name="timeline",
            title="Timeline of a user",
            description="What happened, oldest first: summaries of periods and events.",
            mime_type=_JSON,
            security=_ANY_NAME,
        )(self.timeline)

    async def profile(self, user: str, ctx: Context[Any]) -> str:
        """The entities of a user."""
        async with resource_connection(self._connect, ctx) as connection:
            return (await _memories(connection, user, ["entity"])).model_dump_json(exclude_none=True)

    async def timeline(self, user: str, ctx: Context[Any]) -> str:
        """The summaries and events of a user, oldest first."""
        async with resource_connection(self._connect, ctx) as connection:
            found = await _memories(connection, user, ["summary", "event"])
        found.memories.sort(key=lambda each: (each.event_time, each.id))
        return found.model_dump_json(exclude_none=True)


async def _memories(connection: Connection, user: str, kinds: list[str]) -> UserMemories:
    if not user:
        raise ResourceError("name a user: varve://users/{user}/profile")
    found: list[MemoryResult] = []
    after: str | None = None
    for _ in range(_MAX_PAGES):
        page = await connection.varve.memories(user=user, kinds=kinds, after=after, limit=_PAGE)
        found += (MemoryResult.of(each) for each in page.memories)
        after = page.next
        if after is None:
            break
    return UserMemories(user=user, memories=found, complete=after is None)
