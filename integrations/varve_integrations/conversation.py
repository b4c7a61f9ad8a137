"""Pure functions on messages in the form of OpenAI's chat completions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

_KEPT: Final = ("role", "content", "name")
"""Fields of a message that the service stores."""
_CALL: Final = "function_call"
_RESULT: Final = "function_call_output"
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_OWN_FIELDS: Final = frozenset({"id", "user", "session", "event_time"})
"""Fields that ``turn_of`` adds."""


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


def openai_messages(stored: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages of the service, or in OpenAI's form already, as OpenAI's. A message with several tool results becomes several."""
    return [each for message in stored for each in _openai_messages_of(message)]


def _openai_messages_of(stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "content" in stored:
        return [{name: value for name, value in stored.items() if name not in _OWN_FIELDS}]
    calls = [stored["tool_call"]] if stored.get("tool_call") else stored.get("tool_calls") or []
    results = [
        {"role": "tool", "tool_call_id": each.get("call_id") or "", "content": _as_text(each.get("content"))}
        for each in stored.get("tool_results") or ()
    ]
    text = stored.get("text") or ""
    if results and not text:
        return results
    message = {"role": stored.get("role", "user"), "content": text}
    return [*results, {**message, "tool_calls": [_openai_call(each) for each in calls]} if calls else message]


def _openai_call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = _as_text(call.get("arguments") or {})
    return {"id": call.get("id") or "", "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def messages_of_items(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Items of OpenAI's Responses API as messages: words, function calls and their results. Others, such as reasoning, are left out."""
    return [message for item in items if (message := _message_of_item(dict(item))) is not None]


def items_of_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages in OpenAI's form as items of the Responses API."""
    return [item for message in messages for item in _items_of_message(message)]


def complete_items(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items without calls that have no result, and without results that have no call: models refuse both."""
    calls, results = ({each["call_id"] for each in items if each.get("type") == kind} for kind in (_CALL, _RESULT))
    return [each for each in items if "call_id" not in each or each["call_id"] in calls & results]


def _message_of_item(item: Mapping[str, Any]) -> dict[str, Any] | None:
    match item.get("type", "message"):
        case "message" if item.get("content"):
            return {"role": item["role"], "content": _joined(item["content"])}
        case "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            return {"role": "assistant", "content": None, "tool_calls": [{"id": item["call_id"], "type": "function", "function": function}]}
        case "function_call_output":
            return {"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]}
    return None


def _joined(content: Any) -> Any:
    """Parts that are all text as one string, a line each, as the service stores them; other content as it is."""
    parts = [] if isinstance(content, str) else [dict(each) for each in content]
    if parts and all(each.get("type") in _TEXTS for each in parts):
        return "\n".join(each["text"] for each in parts)
    return content


def _items_of_message(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if message["role"] == "tool":
        yield {"type": _RESULT, "call_id": message["tool_call_id"], "output": message["content"]}
        return
    if message.get("content"):
        yield {"role": message["role"], "content": message["content"]}
    for call in message.get("tool_calls") or ():
        yield {"type": _CALL, "call_id": call["id"], **call["function"]}
