"""Windows without personal data, for tenants whose memories must not have it. Pure."""

from collections.abc import Callable
from typing import Any

from memory.records import Message, Window
from memory.redaction import RedactionPolicy
from models.redaction.llm import detector_of
from models.redaction.placeholders import without_personal_data


def redacted_window(window: Window, policy: RedactionPolicy) -> Window:
    """The window with placeholders in the texts, tool calls and results of its messages. Ids, times, speakers and users stay.

    Args:
        window: The window.
        policy: The tenant's policy.
    """
    detector = detector_of(policy)

    def plain(text: str) -> str:
        return without_personal_data(text, detector)

    return window.model_copy(update={"messages": [_redacted(each, plain) for each in window.messages]})


def _redacted(message: Message, plain: Callable[[str], str]) -> Message:
    def call(each: Any) -> Any:
        fields = {"arguments": _in_json(each.arguments, plain), "result": _in_json(each.result, plain)}
        return each.model_copy(update=fields | ({} if each.error is None else {"error": plain(each.error)}))

    return message.model_copy(
        update={
            "text": plain(message.text),
            "tool_call": None if message.tool_call is None else call(message.tool_call),
            "tool_calls": [call(each) for each in message.tool_calls],
            "tool_results": [each.model_copy(update={"content": _in_json(each.content, plain)}) for each in message.tool_results],
        }
    )


def _in_json(value: Any, plain: Callable[[str], str]) -> Any:
    """The value with redacted texts. Numbers in JSON stay: a telephone number may be a price."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_in_json(each, plain) for each in value]
    if isinstance(value, dict):
        return {name: _in_json(each, plain) for name, each in value.items()}
    return value
