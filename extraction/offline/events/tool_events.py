"""Events that an application states itself: a tool call with an event type's name, whose arguments are the event's properties.

A tutor knows which exercise was right, a shop what was bought. Nobody has to guess that from the talk around it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from extraction.offline.turns import Turn
from memory.records import ToolCall
from memory.records.message import STATEMENT
from memory.schema import EventType

FALLBACK: Final = "fact"
"""The type of statements that plainly are of no other type."""


def stated_type(event_types: Sequence[EventType], call: ToolCall | None) -> EventType | None:
    """The type that a tool call states an event of; None where it states none, or has failed.

    A :data:`~memory.records.message.STATEMENT` is a fact, or of the first type of a schema without facts.

    Args:
        event_types: Of the schema.
        call: The tool call of a message, if it has one.
    """
    if call is None or call.success is False:
        return None
    if call.name == STATEMENT:
        return next((each for each in event_types if each.name == FALLBACK), event_types[0] if event_types else None)
    return next((each for each in event_types if each.name == call.name), None)


def stated_properties(call: ToolCall) -> dict[str, JsonValue]:
    """The arguments of a call that states an event, also those that are no properties of its type: they are counted as unknown.

    Args:
        call: The call.
    """
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    return {name: value for name, value in arguments.items() if value is not None}


def nearest_stated(name: str, turns: Sequence[Turn], turn_index: int) -> str | None:
    """The value of the nearest tool call around a turn under a property's name: talk around an exercise is about its knowledge point.

    Args:
        name: The property's.
        turns: Of the window.
        turn_index: The turn's.
    """
    found: tuple[int, str] | None = None
    for index, turn in enumerate(turns):
        call = turn.message.tool_call
        value = call.arguments.get(name) if call is not None and isinstance(call.arguments, Mapping) else None
        if isinstance(value, str) and value and (found is None or abs(index - turn_index) < found[0]):
            found = abs(index - turn_index), value
    return found[1] if found is not None else None
