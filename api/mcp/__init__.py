"""An MCP server over the HTTP API: each tool is a request of the caller's API key. Needs the extra ``mcp``."""
