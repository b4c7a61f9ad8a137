"""The choice of an event type of the schema for a passage."""

from collections.abc import Sequence
from typing import Final

from extraction.offline.property_roles import Meaning, meaning_of, name_words
from extraction.offline.tool_events import stated_type
from extraction.offline.turns import Turn
from memory.records import ToolCall
from memory.schema import EventType
from models.embedding.port import Embedding

_TOOL_FACTS: Final = frozenset({Meaning.SUCCESS, Meaning.FAILURE, Meaning.ERROR, Meaning.DURATION})


def type_text(event_type: EventType) -> str:
    """What an event type is embedded as: its name and description, and those of its properties."""
    parts = [_described(event_type.name, event_type.description)]
    parts += [_described(each.name, each.description) for each in event_type.properties]
    return " ".join(parts)


def _described(name: str, description: str) -> str:
    words = " ".join(name_words(name))
    return f"{words}: {description}" if description else words


def is_for_tool_calls(event_type: EventType) -> bool:
    """Whether a type is made for tool calls: it names the tool, and how the call went."""
    meanings = {meaning_of(each.name) for each in event_type.properties}
    return Meaning.TOOL in meanings and bool(meanings & _TOOL_FACTS)


class TypeChooser:
    """Chooses the type that is nearest to a message. Tool calls go to a type made for them, and nothing else does.

    A type whose events the application states in this window is left to it: talk about them is not counted again.

    Nearness is the cosine of the dense vectors plus the late interaction, the mean over the message's tokens of their best match among the
    type's. Of 89 turns of the conversations that shipped first, types read by hand, this put 63 right; names and descriptions alone 51.

    Args:
        event_types: Of the schema.
        embeddings: Of each type's :func:`type_text`, in the same order.
        turns: Of the window.
    """

    def __init__(self, event_types: Sequence[EventType], embeddings: Sequence[Embedding], turns: Sequence[Turn]) -> None:
        types = list(zip(event_types, embeddings, strict=True))
        self._event_types = event_types
        self._for_tools = [each for each in types if is_for_tool_calls(each[0])]
        words = [each for each in types if not is_for_tool_calls(each[0])]
        stated = {found.name for turn in turns if (found := stated_type(event_types, turn.message.tool_call)) is not None}
        self._for_words = [each for each in words if each[0].name not in stated] or words

    def choose(self, embedding: Embedding, call: ToolCall | None) -> EventType | None:
        """The type for a turn; None if the schema has none that may take it.

        Args:
            embedding: The turn's.
            call: Its tool call, if it bears one.
        """
        if (stated := stated_type(self._event_types, call)) is not None:
            return stated
        allowed = self._for_tools if call is not None and self._for_tools else self._for_words
        return max(allowed, key=lambda each: _similarity(embedding, each[1]))[0] if allowed else None


def _similarity(message: Embedding, event_type: Embedding) -> float:
    similarity = float(message.dense @ event_type.dense)
    if message.late is not None and event_type.late is not None:
        similarity += float((message.late @ event_type.late.T).max(axis=1).mean())
    return similarity
