"""Pydantic AI: tools with which an agent searches its long-term memory, and the messages of its runs as memories."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import uuid4

from pydantic_ai import FunctionToolset, ModelRetry, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from varve_client import AsyncVarveClient, Memory, ServiceProblemError

from varve_integrations.recalled import recalled_memories

Tool = Literal["recall_memory", "remember", "forget_memory"]

_NAMES: Final = ("recall_memory", "remember", "forget_memory")
_NOT_FOUND: Final = 404
_REFUSED: Final = 422
_INSTRUCTIONS: Final = "You have a long-term memory of earlier conversations with the user. Search it where that may help."


class VarveToolset(FunctionToolset[Any]):  # type: ignore[misc]
    """Gives an agent tools for its long-term memory.

    - ``recall_memory``: finds memories of the user, with their dates, ids and source messages.
    - ``remember``: sends a message of the user, in their own words. Leave it out if the application sends the messages itself, with
      ``remember_messages``: then nothing depends on the model.
    - ``forget_memory``: deletes an event. It is not among the tools by default, and a person has to approve each call (Pydantic AI's
      deferred tools).

    Args:
        client: The client to read and write with. ``forget_memory`` needs a key with the scope ``correct``.
        user: The user whose memory it is, or a function that finds the user in the dependencies of a run. A model never names the user.
        session: The conversation of what ``remember`` sends, or a function of the run. Default: the conversation of the run.
        tools: The tools of the agent. Default: ``recall_memory``.
        k: Most memories of a search.
        options: Further fields of the recall request, such as ``kinds`` or ``min_confidence``.
        id: The id of the toolset.
    """

    def __init__(
        self,
        client: AsyncVarveClient,
        *,
        user: str | Callable[[RunContext[Any]], str],
        session: str | Callable[[RunContext[Any]], str] | None = None,
        tools: Sequence[Tool] = ("recall_memory",),
        k: int = 5,
        options: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> None:
        unknown = [each for each in tools if each not in _NAMES]
        if unknown or not tools:
            raise ValueError(f"tools: expected some of {', '.join(_NAMES)}, got {list(tools)}")
        super().__init__(id=id, instructions=_INSTRUCTIONS if "recall_memory" in tools else None)
        self._client, self._user, self._session = client, user, session
        self._k, self._options = k, dict(options or {})
        for name in dict.fromkeys(tools):
            self.add_function(getattr(self, f"_{name}"), takes_ctx=True, name=name, requires_approval=name == "forget_memory")

    async def remember_messages(self, messages: Sequence[ModelMessage], *, user: str, session: str) -> None:
        """Sends the messages of a run; they are durable when it returns.

        Words of the user and of the model, tool calls and their results are sent. Instructions, thoughts, files, and calls of this
        toolset's tools with their results are not.

        Args:
            messages: The ``new_messages()`` of a run's result.
            user: The user to whose memory they belong.
            session: The id of the conversation.
        """
        sent = [{**each, "id": uuid4().hex, "user": user, "session": session} for each in _messages_of(messages)]
        if sent:
            await self._client.send(sent)

    async def _recall_memory(self, ctx: RunContext[Any], query: str) -> list[dict[str, Any]]:
        """Searches what is known from earlier conversations with the user.

        Args:
            ctx: The run.
            query: A question or a topic, in plain words.
        """
        if not query.strip():
            raise ModelRetry("query: expected a question or a topic")
        options = {"user": _of(self._user, ctx), "limit": self._k, **self._options}
        found, limit = await self._client.recall(query, **options), int(options["limit"])
        return [_fields(each) for each in recalled_memories(found, limit)]

    async def _remember(self, ctx: RunContext[Any], text: str) -> str:
        """Remembers something that the user has said.

        Args:
            ctx: The run.
            text: What the user said, in the user's own words. Do not rephrase it.
        """
        if not text.strip():
            raise ModelRetry("text: expected what the user said")
        session = ctx.conversation_id or "pydantic-ai" if self._session is None else _of(self._session, ctx)
        message = {"id": uuid4().hex, "user": _of(self._user, ctx), "session": session, "role": "user", "text": text}
        await self._client.send([{**message, "event_time": datetime.now(UTC).isoformat()}])
        return "Remembered."

    async def _forget_memory(self, ctx: RunContext[Any], memory_id: str) -> str:
        """Deletes a memory permanently.

        Args:
            ctx: The run.
            memory_id: The id of a memory that a search has returned.
        """
        try:
            memory = await self._client.memory(memory_id)
            if memory.user != _of(self._user, ctx):
                raise ModelRetry(f"memory_id: there is no memory {memory_id}")
            await self._client.delete_memory(memory_id)
        except ServiceProblemError as error:
            if error.status in (_NOT_FOUND, _REFUSED):
                raise ModelRetry(f"memory_id: {error.detail}") from error
            raise
        return "Forgotten."


def _of(given: str | Callable[[RunContext[Any]], str], ctx: RunContext[Any]) -> str:
    return given if isinstance(given, str) else given(ctx)


def _fields(memory: Memory) -> dict[str, Any]:
    """A memory for a model: what was said, by whom and when."""
    fields: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content,
        "speaker": memory.speaker,
        "said_at": (memory.said_at or memory.event_time).isoformat(),
        "date": memory.date,
        "evidence": memory.evidence,
        "superseded_by": getattr(memory, "superseded_by", None),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _messages_of(messages: Sequence[ModelMessage]) -> list[dict[str, Any]]:
    return [message for each in messages for message in (_of_response(each) if isinstance(each, ModelResponse) else _of_request(each))]


def _of_request(request: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    for part in request.parts:
        if isinstance(part, UserPromptPart) and (text := _text_of(part.content)):
            sent.append({"role": "user", "content": text, "event_time": part.timestamp.isoformat()})
        elif isinstance(part, ToolReturnPart) and part.tool_name not in _NAMES:
            content = part.model_response_str()
            sent.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": content, "event_time": part.timestamp.isoformat()})
    return sent


def _of_response(response: ModelResponse) -> list[dict[str, Any]]:
    text = "".join(each.content for each in response.parts if isinstance(each, TextPart))
    calls = [
        {"id": part.tool_call_id, "type": "function", "function": {"name": part.tool_name, "arguments": json.dumps(part.args_as_dict())}}
        for part in response.parts
        if isinstance(part, ToolCallPart) and part.tool_name not in _NAMES
    ]
    if not text and not calls:
        return []
    message = {"role": "assistant", "content": text, "event_time": response.timestamp.isoformat()}
    return [{**message, "tool_calls": calls} if calls else message]


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text for each in content if (text := each if isinstance(each, str) else getattr(each, "content", "")))
