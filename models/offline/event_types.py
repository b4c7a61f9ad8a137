"""Which of a schema's event types a turn is told as."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from memory.schema import EventType
from models.embedding.port import Embedding
from models.offline.meanings import Meaning, meaning_of

_TOOL_FACTS: Final = frozenset({Meaning.SUCCESS, Meaning.FAILURE, Meaning.ERROR, Meaning.DURATION})


def type_text(event_type: EventType) -> str:
    """What an event type is embedded as."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_|-", " ", event_type.name).lower()
    return f"{words}: {event_type.description}" if event_type.description else words


def tells_of_tools(event_type: EventType) -> bool:
    """Whether a type is made for tool calls: it names the tool, and how the call went."""
    meanings = {meaning_of(each.name) for each in event_type.properties}
    return Meaning.TOOL in meanings and bool(meanings & _TOOL_FACTS)


class TypeChooser:
    """Chooses the type whose description is nearest to what was said; tool calls go to a type made for them, and nothing else does."""

    def __init__(self, event_types: Sequence[EventType], embeddings: Sequence[Embedding]) -> None:
        """Prepares the choice.

        Args:
            event_types: Of the schema.
            embeddings: Of each type's :func:`type_text`, in the same order.
        """
        self._types = list(event_types)
        self._vectors = np.array([each.dense for each in embeddings], dtype=np.float64)
        self._for_tools = [place for place, each in enumerate(event_types) if tells_of_tools(each)]

    def choose(self, embedding: Embedding, *, is_tool_call: bool) -> EventType | None:
        """The type for a turn; None if the schema has none that may take it."""
        if is_tool_call and self._for_tools:
            allowed = self._for_tools
        else:
            allowed = [place for place in range(len(self._types)) if place not in self._for_tools]
        if not allowed:
            return None
        nearness = self._vectors[allowed] @ embedding.dense.astype(np.float64)
        return self._types[allowed[int(np.argmax(nearness))]]
