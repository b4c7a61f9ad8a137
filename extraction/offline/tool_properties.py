"""The properties of an agent's tool call, from the call's own fields."""

import orjson
from pydantic import JsonValue

from extraction.offline.meanings import Meaning, meaning_of, name_words
from memory.records import ToolCall
from memory.schema import EventType


def tool_properties(event_type: EventType, call: ToolCall, *, goal: str | None) -> dict[str, JsonValue]:
    """The values that a call gives to a type's properties; those it says nothing about are left out.

    Args:
        event_type: The event's type.
        call: The tool call.
        goal: What the agent said right before it.
    """
    text = {
        Meaning.TOOL: call.name,
        Meaning.SUCCESS: call.success,
        Meaning.FAILURE: None if call.success is None else int(not call.success),
        Meaning.ERROR: call.error,
        Meaning.ARGUMENTS: _as_text(call.arguments),
        Meaning.RESULT: _as_text(call.result),
        Meaning.GOAL: goal,
    }
    values: dict[str, JsonValue] = {}
    for each in event_type.properties:
        meaning = meaning_of(each.name)
        value = _duration(call, each.name) if meaning is Meaning.DURATION else text.get(meaning) if meaning else None
        if value is not None:
            values[each.name] = bool(value) if each.value_type == "bool" and isinstance(value, int) else value
    return values


def _duration(call: ToolCall, name: str) -> float | None:
    if call.duration_ms is None:
        return None
    return call.duration_ms / 1000 if name_words(name)[-1] in ("s", "seconds", "sec") else call.duration_ms


def _as_text(value: JsonValue) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
