"""An MCP server over the HTTP API: each tool is a request of the caller's API key. Needs the extra ``mcp``.

Start at :mod:`api.mcp.tools`; :mod:`api.mcp.server` joins the tools for both transports.
"""
