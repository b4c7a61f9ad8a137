"""Joins events that a session states twice (VikingMem 3.2), by their words and by embedding; a model decides doubtful pairs.

Two events that differ in the day, a number, a name, a negation or a property are both retained, and no model is asked
(:mod:`extraction.statements`). So are two equal events with a changed state between them: a door that is open, closed, and open was opened
again. Words that may describe two occasions are never joined without asking (:mod:`extraction.recurrence`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from extraction.bounds import MAX_EVIDENCE
from extraction.drafts import DropCounter, EventDraft
from extraction.recurrence import may_be_distinct
from extraction.statements import Statement, differ_in_fact, either_says_all, says_all_of, share_frame
from memory.dates.event_date import UNKNOWN_DATE
from memory.records import Message, NotedEvent
from memory.records.wording import indexed_text
from models.embedding.port import Vector
from runtime.settings import ExtractionSettings

MAX_DOUBTFUL_PAIRS: Final = 20
_SAME_EVIDENCE_SIMILARITY: Final = 0.75
"""Cosine from which two events of the same messages are doubtful: a model that states a message once gives no such pair."""
_CHANGED_STATE_SIMILARITY: Final = 0.7
"""Cosine from which a statement in the same frame of words may be the other's changed state: "is in Oslo", "is in Bergen"."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines: from ``duplicate`` two events whose words agree are one; from ``doubtful`` an LLM is asked."""

    duplicate: float
    doubtful: float

    @classmethod
    def of(cls, settings: ExtractionSettings) -> Self:
        """The thresholds of the settings.

        Raises:
            ValueError: If they contradict each other.
        """
        return cls(duplicate=settings.duplicate_similarity, doubtful=settings.doubtful_similarity)

    def __post_init__(self) -> None:
        if not 0 < self.doubtful <= self.duplicate <= 1:
            raise ValueError(f"similarities must be 0 < doubtful <= duplicate <= 1, got {self.doubtful} and {self.duplicate}")


@dataclass(frozen=True, slots=True)
class EventPair:
    """Two events that are or may be one, by their indices among the candidates."""

    earlier: int
    later: int


class Comparison(NamedTuple):
    """The pairs that a comparison found, in order."""

    same: list[EventPair]
    doubtful: list[EventPair]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An event to compare: one of this window, or one of an earlier window of the session."""

    type: str
    statement: Statement
    is_from_earlier_window: bool
    tool_messages: frozenset[int] = frozenset()
    """Indices of the tools' own messages in its evidence."""
    messages: tuple[int, ...] = ()
    """Indices of the window's messages in its evidence."""
    said_at: datetime | None = None
    """Not known of an event of an earlier window."""


def candidates_of(events: Sequence[EventDraft], session_events: Sequence[NotedEvent], messages: Sequence[Message] = ()) -> list[Candidate]:
    """The events to compare: the session's, then the window's, in order.

    Args:
        events: The window's events.
        session_events: Those of earlier windows.
        messages: The window's messages.
    """
    tools = frozenset(index for index, message in enumerate(messages) if message.role == "tool")
    earlier = [
        Candidate(event.type, Statement(event.content, event.properties, event.event_time, event.date != UNKNOWN_DATE.text), True)
        for event in session_events
    ]
    return earlier + [
        Candidate(
            type=event.type,
            statement=Statement(indexed_text(event), event.properties, event.event_time, event.date != UNKNOWN_DATE),
            is_from_earlier_window=False,
            tool_messages=tools.intersection(event.messages),
            messages=event.messages,
            said_at=event.said_at,
        )
        for event in events
    ]


def compare(candidates: Sequence[Candidate], vectors: Sequence[Vector], thresholds: Thresholds) -> Comparison:
    """Finds the pairs that are one, and the first 20 that may be.

    A pair with a changed state between is neither: its later event is news.

    Args:
        candidates: The events.
        vectors: Their dense vectors, of unit length, in the same order.
        thresholds: The cosines to go by.
    """
    same: list[EventPair] = []
    doubtful: list[EventPair] = []
    similarity = np.asarray(vectors) @ np.asarray(vectors).T if vectors else np.zeros((0, 0))
    changes = _StateChanges(candidates, similarity, thresholds.doubtful)
    for later, candidate in enumerate(candidates):
        for earlier, other in enumerate(candidates[:later]):
            if candidate.is_from_earlier_window or candidate.type != other.type:
                continue
            if similarity[earlier, later] < _least_similarity(candidate, other, thresholds):
                continue
            if candidate.tool_messages - other.tool_messages:
                continue  # a tool that answers twice was called twice; what people say twice happened once
            if differ_in_fact(candidate.statement, other.statement):
                continue
            pairs = same if _are_one(candidate, other) and similarity[earlier, later] >= thresholds.duplicate else doubtful
            if (pairs is same or len(doubtful) < MAX_DOUBTFUL_PAIRS) and not changes.any_between(earlier, later):
                pairs.append(EventPair(earlier, later))
    return Comparison(same, doubtful)


def may_be_two_occasions(one: Candidate, other: Candidate) -> bool:
    """Whether two events that differ in no fact may still be two occasions."""
    return may_be_distinct(one.statement, other.statement, is_said_apart=_is_said_apart(one, other))


def merge(
    events: Sequence[EventDraft], same: Sequence[EventPair], tally: DropCounter, *, from_earlier_windows: int
) -> tuple[EventDraft, ...]:
    """The window's events without repetitions: each is merged into the earliest event that it repeats.

    Args:
        events: The window's events.
        same: The pairs that are one.
        tally: Counts the repetitions.
        from_earlier_windows: How many of the candidates, the first ones, are of earlier windows: what repeats one of them is left out.
    """
    remaining: dict[int, EventDraft] = dict(enumerate(events, start=from_earlier_windows))
    merged_into: dict[int, int] = {}
    for pair in sorted(same, key=lambda each: (each.later, each.earlier)):
        if pair.later not in remaining:
            continue
        target = merged_into.get(pair.earlier, pair.earlier)
        tally.drop("event", "duplicate" if target in remaining else "stored_before")
        repetition = remaining.pop(pair.later)
        merged_into[pair.later] = target
        if target in remaining:
            remaining[target] = _merged(remaining[target], repetition)
    return tuple(remaining[index] for index in sorted(remaining))


class _StateChanges:
    """The candidates that state something else about the same matter.

    Args:
        candidates: The events.
        similarity: The cosines of all pairs.
        doubtful: The cosine from which two events may be one.
    """

    def __init__(self, candidates: Sequence[Candidate], similarity: NDArray[np.floating[Any]], doubtful: float) -> None:
        self._candidates = candidates
        self._similarity = similarity
        self._doubtful = doubtful
        self._least_similarity = min(_CHANGED_STATE_SIMILARITY, doubtful)
        count = len(candidates)
        # Events of earlier windows come first. In a window the messages give the order, since answers go by topic.
        self._first = np.array([min(each.messages, default=-1) * count + index for index, each in enumerate(candidates)])
        self._last = np.array([max(each.messages, default=-1) * count + index for index, each in enumerate(candidates)])
        self._changes = lru_cache(maxsize=None)(self._changes_of)

    def any_between(self, one: int, other: int) -> bool:
        """Whether a candidate between two others states something else than either."""
        begin, end = min(self._first[one], self._first[other]), max(self._last[one], self._last[other])
        between = (self._last > begin) & (self._first < end)
        return bool(np.any(between & self._changes(one) & self._changes(other)))

    def _changes_of(self, index: int) -> NDArray[np.bool_]:
        candidate = self._candidates[index]
        changes = np.zeros(len(self._candidates), dtype=np.bool_)
        for similar in np.flatnonzero(self._similarity[index] >= self._least_similarity).tolist():
            other = self._candidates[similar]
            if other.type == candidate.type and not _agree(candidate.statement, other.statement):
                changes[similar] = self._similarity[index, similar] >= self._doubtful or share_frame(candidate.statement, other.statement)
        return changes


def _least_similarity(one: Candidate, other: Candidate, thresholds: Thresholds) -> float:
    """The cosine from which two events may be one."""
    has_same_evidence = set(one.messages) == set(other.messages) != set()
    return min(_SAME_EVIDENCE_SIMILARITY, thresholds.doubtful) if has_same_evidence else thresholds.doubtful


def _agree(one: Statement, other: Statement) -> bool:
    return either_says_all(one, other) and not differ_in_fact(one, other)


def _is_said_apart(one: Candidate, other: Candidate) -> bool:
    """Whether two statements were made in messages that do not follow upon each other, and not both of one dated time."""
    is_one_time = one.statement.event_time == other.statement.event_time
    if not one.messages or not other.messages:
        return not is_one_time
    if is_one_time and one.said_at != other.said_at:
        return False
    return all(abs(index - another) > 1 for index in one.messages for another in other.messages)


def _are_one(later: Candidate, earlier: Candidate) -> bool:
    """Whether nothing is lost if both become one. An event of an earlier window can absorb no other."""
    if may_be_two_occasions(earlier, later):
        return False
    if earlier.is_from_earlier_window:
        return says_all_of(earlier.statement, later.statement) and later.statement.properties.keys() <= earlier.statement.properties.keys()
    return either_says_all(earlier.statement, later.statement)


def _merged(one: EventDraft, other: EventDraft) -> EventDraft:
    """One event of two: the fuller text, all evidence and keywords."""
    fuller, lesser = (other, one) if len(other.content) > len(one.content) else (one, other)
    keywords = {word.casefold(): word for word in (*lesser.keywords, *fuller.keywords)}
    dated = lesser if fuller.date == UNKNOWN_DATE else fuller
    return replace(
        fuller,
        properties={**lesser.properties, **fuller.properties},
        importance=max(one.importance, other.importance),
        keywords=tuple(keywords.values()),
        segment=one.segment if one.segment is not None else other.segment,
        event_time=dated.event_time,
        date=dated.date,
        messages=tuple(dict.fromkeys((*fuller.messages, *lesser.messages)))[:MAX_EVIDENCE],
        said_at=max(one.said_at, other.said_at),
        unsupported=one.unsupported and other.unsupported,
    )
