"""Pure functions on messages in the form of OpenAI's chat completions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

_KEPT: Final = ("role", "content", "name")
"""Fields of a message that the service stores."""


def question_of(messages: Sequence[Any]) -> str:
    """The text of the newest user message; empty if there is none."""
    index = _newest_question(messages)
    return "" if index is None else _text_of(messages[index].get("content"))


def with_context(messages: Sequence[Any], context: str) -> list[Any]:
    """The messages with recalled text before the text of the newest user message.

    Recalled text is data: it belongs into the user's part of a prompt, never into the system's.
    """
    index = _newest_question(messages)
    if index is None or not context:
        return list(messages)
    content = messages[index]["content"]
    extended = f"{context}\n\n{content}" if isinstance(content, str) else [{"type": "text", "text": context}, *content]
    return [*messages[:index], {**messages[index], "content": extended}, *messages[index + 1 :]]


def new_messages(messages: Sequence[Any], reply: str) -> list[dict[str, Any]]:
    """Messages that a call adds to a conversation: the user messages since the last reply, and the reply. Earlier calls added the others.

    Args:
        messages: The messages of the call, as the application gave them.
        reply: The text of the reply; empty if it has none, for example if it only calls tools.
    """
    start = max((index + 1 for index, each in enumerate(messages) if _role_of(each) == "assistant"), default=0)
    said = [each for each in messages[start:] if isinstance(each, Mapping) and _role_of(each) == "user" and each.get("content")]
    new = [{name: each[name] for name in _KEPT if each.get(name)} for each in said]
    return [*new, {"role": "assistant", "content": reply}] if reply else new


def turn_of(new: Sequence[Mapping[str, Any]], *, user: str, session: str, now: datetime) -> list[dict[str, Any]]:
    """Messages as the service takes them. Their ids are random, so that the service stores a repeated attempt once."""
    return [{**each, "id": uuid4().hex, "user": user, "session": session, "event_time": now.isoformat()} for each in new]


def _newest_question(messages: Sequence[Any]) -> int | None:
    users = (index for index in reversed(range(len(messages))) if _role_of(messages[index]) == "user")
    return next((index for index in users if isinstance(messages[index], Mapping) and messages[index].get("content")), None)


def _role_of(message: Any) -> Any:
    """The role of a message: applications also pass the objects that OpenAI's client returned."""
    return message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part, Mapping) and part.get("type") == "text")
