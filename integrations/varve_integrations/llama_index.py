"""LlamaIndex: a memory block that remembers what a conversation has said and recalls it in later ones."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer
from pydantic import Field
from varve_client import AsyncVarveClient

from varve_integrations.conversation import question_of, turn_of

_SESSION = "session_id"
"""The key under which LlamaIndex's ``Memory`` gives a block the id of the conversation."""


class VarveMemoryBlock(BaseMemoryBlock[str]):  # type: ignore[misc]
    """Implements ``llama_index.core.memory.BaseMemoryBlock``.

    ``Memory`` gives a block only the messages for which its own queue has no space any more, so that they are remembered late, or never
    if the process ends before. With ``accept_short_term_memory=False``, the application gives the block each turn itself, with ``aput``.

    The block contains recalled text. Use ``Memory`` with ``insert_method=InsertMethod.USER``: recalled text is data and belongs into the
    user's part of a prompt, not into the system's, which is the default of ``Memory``.

    Differences from LlamaIndex's ``VectorMemoryBlock``: it recalls from all conversations of the user, not only from that of the
    ``session_id``; it returns memories with their dates, not the messages themselves; images and files are not stored. The time of a
    message is ``additional_kwargs["event_time"]`` (ISO 8601 with a UTC offset); without it, the time of ``aput``.
    """

    name: str = "LongTermMemory"
    client: AsyncVarveClient = Field(exclude=True)
    """The client to read and write with."""
    user: str
    """The user to whose memory the conversations belong."""
    session: str = "llama-index"
    """The conversation of messages that are put without a ``session_id``."""
    tokens: int = 800
    """Most tokens of recalled text."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request, such as ``kinds`` or ``min_confidence``."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        question = question_of([_openai_message(each) for each in messages or ()])
        if not question.strip():
            return ""
        return (await self.client.context(question, user=self.user, **{"tokens": self.tokens, **self.options})).context

    async def _aput(self, messages: list[ChatMessage]) -> None:
        now = datetime.now(UTC)
        sent: list[dict[str, Any]] = []
        for chat_message in messages:
            message = _openai_message(chat_message)
            if not message["content"] and not message.get("tool_calls"):
                continue
            session = str(chat_message.additional_kwargs.get(_SESSION) or self.session)
            [turn] = turn_of([message], user=self.user, session=session, now=now)
            sent.append({**turn, "event_time": chat_message.additional_kwargs.get("event_time") or turn["event_time"]})
        if sent:
            await self.client.send(sent)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Removes lines at the end, at least so many tokens. Returns None if nothing is left.

        Args:
            content: The recalled text.
            tokens_to_truncate: The tokens that are too many.
        """
        count = get_tokenizer()
        lines = content.splitlines()
        removed = 0
        while lines and removed < tokens_to_truncate:
            removed += len(count(lines.pop() + "\n"))
        return "\n".join(lines) or None


def _openai_message(message: ChatMessage) -> dict[str, Any]:
    """A message in the form of OpenAI's chat completions: words, tool calls and their results."""
    fields: dict[str, Any] = {"role": _role_of(message), "content": message.content or ""}
    if fields["role"] == "tool":
        return {**fields, "tool_call_id": message.additional_kwargs.get("tool_call_id") or ""}
    calls = [_call_of(each) for each in message.blocks if isinstance(each, ToolCallBlock)]
    calls = calls or [_plain(each) for each in message.additional_kwargs.get("tool_calls") or ()]
    return {**fields, "tool_calls": calls} if calls else fields


def _role_of(message: ChatMessage) -> str:
    role: str = message.role.value
    return {"chatbot": "assistant", "model": "assistant", "function": "tool", "developer": "system"}.get(role, role)


def _call_of(block: ToolCallBlock) -> dict[str, Any]:
    arguments = block.tool_kwargs if isinstance(block.tool_kwargs, str) else json.dumps(block.tool_kwargs)
    return {"id": block.tool_call_id or "", "type": "function", "function": {"name": block.tool_name, "arguments": arguments}}


def _plain(call: Any) -> dict[str, Any]:
    return dict(call) if isinstance(call, Mapping) else call.model_dump(include={"id", "type", "function"})
