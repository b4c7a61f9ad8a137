"""The choice of an event type of the schema for a passage."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from extraction.offline.events.property_roles import Meaning, meaning_of, name_words
from extraction.offline.events.tool_events import FALLBACK, stated_type
from extraction.offline.events.type_forms import VERDICT, form_of, is_of_tastes, open_form_of, sure_form_of
from extraction.offline.turns import Passage, Turn
from memory.records import ToolCall
from memory.records.message import STATEMENT
from memory.schema import EventType
from memory.texts.prefiltered_patterns import compiled
from models.embedding.port import Embedding

_AHEAD_OF_FACT: Final = 0.45
_AHEAD_OF_NEXT: Final = 0.2
_AHEAD_WITH_FORM: Final = -0.12
_AHEAD_WITH_SURE_FORM: Final = -0.35
_AHEAD_WITH_OPEN_FORM: Final = 0.2
_MOVE: Final = compiled(r"\b(?:moved|relocated|shifted|migrated|switched)\b.{0,30}\bto\b", re.IGNORECASE)
_TOOL_FACTS: Final = frozenset({Meaning.SUCCESS, Meaning.FAILURE, Meaning.ERROR, Meaning.DURATION})


def type_text(event_type: EventType) -> str:
    """The text that is embedded for an event type: its name and description, and those of its properties."""
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
    """Chooses the type of an event; in doubt the schema's ``fact``.

    A statement gets another type only if it is plain and far nearer to that type than to ``fact`` and to any other, and if it has the
    form that the type's name demands: a preference a verb of taste, a plan a future, a workout a past. Each sentence is looked at by
    itself. Of an open form, any word may fill the slot ("I feel ..."), and the type must be the nearest. A taste that the profile takes
    is a preference in any words. Nearness is the cosine of the dense vectors plus the late interaction, the mean over the message's
    tokens of their best match among the type's.

    Tool calls go to a type made for them, and nothing else does; without such a type they are facts. A type whose events the application
    states in this window is left to it: talk about them is not counted again. A schema without ``fact`` has no type for doubt: the nearest
    is taken.

    Args:
        event_types: Of the schema.
        embeddings: Of each type's :func:`type_text`, in the same order.
        turns: Of the window.
    """

    def __init__(self, event_types: Sequence[EventType], embeddings: Sequence[Embedding], turns: Sequence[Turn]) -> None:
        types = list(zip(event_types, embeddings, strict=True))
        self._event_types = event_types
        self._for_tools = _Candidates([each for each in types if is_for_tool_calls(each[0])])
        words = [each for each in types if not is_for_tool_calls(each[0])]
        calls = [turn.message.tool_call for turn in turns if turn.message.tool_call is not None]
        stated = {found.name for call in calls if call.name != STATEMENT and (found := stated_type(event_types, call)) is not None}
        self._for_words = _Candidates([each for each in words if each[0].name not in stated] or words)

    def choose(
        self, passage: Passage, embedding: Embedding, call: ToolCall | None, *, states_home: bool = False, states_taste: bool = False
    ) -> EventType | None:
        """The type for a passage; None if the schema has none that may take it.

        Args:
            passage: The passage.
            embedding: Its vectors.
            call: The tool call of its message, if there is one.
            states_home: Whether its message states where the user lives. Otherwise "I moved to" may be about a tool.
            states_taste: Whether it states what the user likes, avoids or cannot eat, in whatever words.
        """
        if (stated := stated_type(self._event_types, call)) is not None:
            return stated
        is_for_tools = call is not None and bool(self._for_tools.event_types)
        ranked = (self._for_tools if is_for_tools else self._for_words).ranked(embedding)
        if not ranked:
            return None
        nearest = ranked[0][1]
        fallback = next(((score, each) for score, each in ranked if each.name == FALLBACK), None)
        if fallback is None or is_for_tools:
            return nearest
        if call is not None:
            return fallback[1]
        if _MOVE.search(passage.text) and not states_home:
            return fallback[1]
        for score, event_type in ranked:
            form = form_of(event_type.name)
            ahead = score - fallback[0]
            ahead_of_next = score - next((other for other, each in ranked if each.name not in (event_type.name, FALLBACK)), -1.0)
            is_ahead = ahead >= _AHEAD_OF_FACT and ahead_of_next >= _AHEAD_OF_NEXT
            if form is None and passage.is_plain and is_ahead and event_type.name != FALLBACK:
                return event_type
            if form is not None and ahead >= _AHEAD_WITH_FORM and has_form(passage, form):
                return event_type
        for score, event_type in ranked:
            form = sure_form_of(event_type.name)
            ahead = score - fallback[0]
            if form is not None and _AHEAD_WITH_SURE_FORM <= ahead < _AHEAD_WITH_FORM and has_form(passage, form):
                return event_type
        nearest_words = next((each for each in ranked if each[1].name != FALLBACK), None)
        if nearest_words is not None and nearest_words[0] - fallback[0] >= _AHEAD_WITH_OPEN_FORM:
            open_form = open_form_of(nearest_words[1].name)
            if open_form is not None and has_form(passage, open_form):
                return nearest_words[1]
        if states_taste:
            return next((each for _, each in ranked if is_of_tastes(each.name)), fallback[1])
        return fallback[1]


def has_form(passage: Passage, form: re.Pattern[str]) -> bool:
    """Whether a statement of a passage has a form. A lone judgement has one only if somebody asked how the speaker is.

    Args:
        passage: The passage.
        form: Of an event type.
    """
    return any(form.search(each) and (passage.follows_how or VERDICT.match(each) is None) for each in passage.statements)


class _Candidates:
    """Event types with their vectors in two matrices: one product for all types costs half as much as one for each.

    Args:
        types: Each with the vectors of its text.
    """

    def __init__(self, types: Sequence[tuple[EventType, Embedding]]) -> None:
        self.event_types = [each for each, _ in types]
        late = [vectors.late for _, vectors in types if vectors.late is not None]
        self._dense = np.array([vectors.dense for _, vectors in types])
        self._late = np.concatenate(late) if late and len(late) == len(types) else None
        self._starts = np.cumsum([0, *(len(each) for each in late)])[:-1]

    def ranked(self, message: Embedding) -> list[tuple[float, EventType]]:
        """The types with their similarity to a message, the nearest first."""
        if not self.event_types:
            return []
        scores = self._dense @ message.dense
        if self._late is not None and message.late is not None:
            scores = scores + np.maximum.reduceat(self._late @ message.late.T, self._starts, axis=0).mean(axis=1)
        return sorted(zip(scores.tolist(), self.event_types, strict=True), key=lambda pair: -pair[0])
