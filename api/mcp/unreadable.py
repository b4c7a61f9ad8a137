"""Answers to lines on the standard input that are no messages, and to requests without a usable id.

The SDK ignores the lines, and takes the requests for notifications. A client would wait for the answer.
"""

import json
from types import TracebackType
from typing import Any, Final, Self

from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification
from pydantic import ValidationError

_NOTIFICATIONS: Final = "notifications/"
"""How the method of each of MCP's notifications begins."""
_WITHOUT_ID: Final = "a request needs an id that is a string or an integer, not null"


class AnsweringServer(MCPServer[Any]):
    """A server that also answers unreadable lines."""

    async def run_stdio_async(self) -> None:
        """Answers requests until the standard input ends."""
        server = self._lowlevel_server
        async with stdio_server() as (reads, writes):
            await server.run(_Messages(reads, writes), writes, server.create_initialization_options())


class _Messages:
    """The messages that the standard input has.

    Args:
        reads: Messages, and the exceptions of lines that are none.
        writes: Takes the answers to these lines.
    """

    def __init__(self, reads: Any, writes: Any) -> None:
        self._reads, self._writes = reads, writes

    @property
    def last_context(self) -> Any:
        """The context in which the latest message was sent."""
        return getattr(self._reads, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return await anext(self)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while (answer := _answer_to_item(item := await anext(self._reads))) is not None:
            await self._writes.send(SessionMessage(answer))
        found: SessionMessage | Exception = item
        return found

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._reads.aclose()

    async def __aenter__(self) -> Self:
        await self._reads.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool | None:
        suppressed: bool | None = await self._reads.__aexit__(kind, error, trace)
        return suppressed


def answer_to_body(body: bytes) -> JSONRPCError | None:
    """The answer to the body of an HTTP request that is a request without a usable id; None for any other body."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return None  # The SDK answers it.
    method = sent.get("method") if isinstance(sent, dict) else None
    return _refused_without_id(method) if isinstance(method, str) and _id_of(sent) is None else None


def _answer_to_item(item: SessionMessage | Exception) -> JSONRPCError | None:
    if isinstance(item, ValidationError):
        return answer_to(item)
    message = item.message if isinstance(item, SessionMessage) else None
    return _refused_without_id(message.method) if isinstance(message, JSONRPCNotification) else None


def _refused_without_id(method: str) -> JSONRPCError | None:
    return None if method.startswith(_NOTIFICATIONS) else _refusal({}, INVALID_REQUEST, _WITHOUT_ID)


def answer_to(error: ValidationError) -> JSONRPCError:
    """The answer to a line that is no message. It has the id of the request, as far as the line has one."""
    problems = error.errors(include_url=False, include_context=False)
    if problems[0]["type"] != "json_invalid":
        parts = (each["input"] for each in problems if isinstance(each["input"], dict) and "method" in each["input"])
        return _refusal(next(parts, {}), INVALID_REQUEST, "the line is not a JSON-RPC message")
    try:
        # More lenient: an application that cuts a text in the middle of a character sends half of it, which is no Unicode text.
        sent = json.loads(problems[0]["input"])
    except (ValueError, RecursionError):
        sent = {}
    return _refusal(sent, PARSE_ERROR, f"the line is not valid JSON in UTF-8: {problems[0]['msg'].removeprefix('Invalid JSON: ')}")


def _refusal(sent: Any, code: int, message: str) -> JSONRPCError:
    id_ = _id_of(sent) if isinstance(sent, dict) and "method" in sent else None
    return JSONRPCError(jsonrpc="2.0", id=id_, error=ErrorData(code=code, message=message))


def _id_of(sent: dict[str, Any]) -> str | int | None:
    id_ = sent.get("id")
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
