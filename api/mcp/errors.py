"""Errors of the MCP server. This module does not need the extra ``mcp``."""

from memory.errors import VarveError


class McpMissingError(VarveError):
    """The packages of the extra ``mcp`` are not installed; the message names the command that installs them."""

    def __init__(self, wanted_by: str) -> None:
        super().__init__(f"{wanted_by} needs the extra `mcp`: pip install 'varve-server[mcp]'")
