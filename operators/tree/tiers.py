"""TIERS: short-, mid- and long-term memory with FIFO transfer (MemoryOS; *Memory in the LLM Era*, appendix C and algorithm 1).

New messages wait in a queue. When it is full, its oldest half becomes segments of similar neighbours. *MemoryOS* (Kang et al., 2025,
section 3.2) adds a page to a segment of the same topic, or starts one. Each recall of a message of a segment is a visit of the segment. A
segment whose heat (:mod:`operators.aggregates.heat`) reaches the threshold is promoted to long-term memory. If mid-term memory is full, the
coolest segment leaves it.

Differences: MemoryOS moves one page at a time, and adds the overlap of keywords, which a model extracts, to the cosine.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypedDict, cast

import numpy as np
from pydantic import JsonValue

from memory.keys import entity_key_parts
from memory.records import Memory
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.times import time_of_microseconds
from operators.aggregates.heat import LONG_TERM, VisitedOperator, Warmth, pages_of
from operators.errors import RefusedChangeError
from operators.operator import Configuration, Operand, State, Value
from operators.publishing import Owner, PublishingOperator, changed_keys
from operators.tree.nodes import Node, NodeEvent, Whole, cosines, event_of, operand_vector, read_vector, written_vector
from operators.tree.published import brief, extract
from operators.tree.turns import MAX_SEGMENT, Turn, divided, segments, shortened_events, turn_of

MID_TERM: Final = "mid-term"
MAX_EVENTS: Final = 2 * MAX_SEGMENT
"""Events of a full segment. Similar messages start another one."""
MAX_MESSAGES: Final = 60
"""Messages that a published segment names."""
_MAX_TEXT: Final = 600
"""Characters of an event that the state keeps."""
_LEAST_EVENTS: Final = 2
"""Events of a published segment in mid-term memory. A single event is a separate memory."""


class Segment(TypedDict):
    """Similar messages. Never changed in place."""

    events: list[NodeEvent]
    """Oldest first."""
    vector: str
    """The sum of their vectors. Empty: messages do not join."""
    visits: int
    last: int
    """The time of the last recall, or else of its newest message, in microseconds since 1970."""
    retracted: list[str]
    """Events that a contribution has retracted, and may apply again."""


class MemoryTiers(VisitedOperator, PublishingOperator):
    """Counts the visits of segments, and publishes those in long-term memory; with ``Topics`` also those in mid-term memory.

    The recalls stage reports an event at most once a day. The queue depends on the order in which events arrive.

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("TIERS")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._warmth = Warmth.of(configuration)
        self._fifo, similarity, self._limit = (configuration.whole(name) for name in ("Fifo", "Similarity", "Limit"))
        self._similarity = similarity / 1000
        self._has_topics = configuration.flag("Topics")

    def apply(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.apply`. A corrected event stays in its segment.

        Raises:
            RefusedChangeError: ``no_vector``, ``other_dimension`` or ``already_applied``.
        """
        turns, found = _read(state)
        event, vector = event_of(operand, longest=_MAX_TEXT), operand_vector(operand)
        key = _segment_with(found, operand.source_id)
        if key is not None and operand.source_id in found[key]["retracted"]:
            return _written(turns, {**found, key: _with_event(found[key], event, vector)})
        if key is not None or any(each["event"]["id"] == operand.source_id for each in turns):
            raise RefusedChangeError("already_applied")
        moved, remaining = divided([*turns, turn_of(event, vector)], self._fifo)
        for events, total in segments(moved, self._similarity):
            found = self._with_segment(found, events, total)
        return _written(list(remaining), self._within_limit(found))

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`. An event that has left is unknown, and its retraction changes nothing."""
        turns, found = _read(state)
        remaining = [each for each in turns if each["event"]["id"] != operand.source_id]
        key = _segment_with(found, operand.source_id)
        if key is None:
            return state if len(remaining) == len(turns) else _written(remaining, found)
        segment = found[key]
        if operand.source_id in segment["retracted"]:
            return state
        vector = written_vector(read_vector(segment["vector"]) - operand_vector(operand)) if segment["vector"] else ""
        retracted: Segment = {**segment, "vector": vector, "retracted": [*segment["retracted"], operand.source_id]}
        return _written(turns, {**found, key: retracted})

    def prune(self, state: State, newest: int, newest_local: int | None = None) -> State | None:
        """See :meth:`Operator.prune`: drops what the contribution retracted and did not apply again."""
        turns, found = _read(state)
        if not any(each["retracted"] for each in found.values()):
            return state
        left = {key: Segment({**each, "events": _present(each), "retracted": []}) for key, each in found.items()}
        return _written(turns, {key: each for key, each in left.items() if each["events"]})

    def value(self, state: State) -> Value:
        """Number of messages and segments in each tier."""
        turns, found = _read(state)
        promoted = sum(self._is_promoted(each) for each in found.values())
        return f"short-term memory: {len(turns)} messages, mid-term memory: {len(found) - promoted} segments, long-term memory: {promoted}"

    def touch(self, state: State, source_id: str, time: int) -> State:
        """See :meth:`AgingOperator.touch`: counts a visit. Several events of a segment in one recall are one visit."""
        turns, found = _read(state)
        key = _segment_with(found, source_id)
        if key is None or (found[key]["visits"] and found[key]["last"] >= time):
            return state
        segment = found[key]
        visited: Segment = {**segment, "visits": segment["visits"] + 1, "last": max(time, segment["last"])}
        return _written(turns, {**found, key: visited})

    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """See :meth:`PublishingOperator.memories`."""
        for key, segment in sorted(_read(state)[1].items()):
            events = _present(segment)
            if self._is_promoted(segment):
                yield self._memory(key, segment, events, owner, LONG_TERM)
            elif self._has_topics and len(events) >= _LEAST_EVENTS:
                yield self._memory(key, segment, events, owner, MID_TERM)

    def changes(self, before: State | None, after: State | None, owner: Owner) -> tuple[dict[str, Memory], set[str]]:
        """See :meth:`PublishingOperator.changes`. Compares only changed segments."""
        (_, old), (_, new) = _read(before), _read(after)
        changed = changed_keys(old, new)
        known, wanted = (_written([], {key: found[key] for key in changed & found.keys()}) for found in (old, new))
        return super().changes(known, wanted, owner)

    def _is_promoted(self, segment: Segment) -> bool:
        events = _present(segment)
        return bool(events) and self._warmth.is_promoted(visits=segment["visits"], pages=_pages(events))

    def _heat(self, segment: Segment, now: int) -> float:
        return self._warmth.heat(visits=segment["visits"], pages=_pages(_present(segment)), idle=now - segment["last"])

    def _with_segment(self, found: Mapping[str, Segment], events: list[NodeEvent], vector: Whole) -> Mapping[str, Segment]:
        """The segments with further messages, which join the most similar segment or start one."""
        made = max(each["time"] for each in events)
        near = self._most_similar(found, events, vector)
        if near is None:
            new = Segment(events=events, vector=written_vector(vector) if self._has_topics else "", visits=0, last=made, retracted=[])
            return {**found, _new_key(found, events[0]["id"]): new}
        segment = found[near]
        joined: Segment = {
            **segment,
            "events": [*segment["events"], *events],
            "vector": written_vector(read_vector(segment["vector"]) + vector),
            "last": segment["last"] if segment["visits"] else max(made, segment["last"]),
        }
        return {**found, near: joined}

    def _most_similar(self, found: Mapping[str, Segment], events: Sequence[NodeEvent], vector: Whole) -> str | None:
        if not self._has_topics:
            return None
        names = sorted(key for key, each in found.items() if len(each["events"]) + len(events) <= MAX_EVENTS)
        if not names:
            return None
        similar = cosines(vector, [cast(Node, found[each]) for each in names])
        best = int(np.argmax(similar))
        return names[best] if similar[best] >= self._similarity else None

    def _within_limit(self, found: Mapping[str, Segment]) -> Mapping[str, Segment]:
        """The segments without the coolest."""
        beyond = len(found) - self._limit
        if beyond <= 0:
            return found
        now = max(each["last"] for each in found.values())
        ranked = sorted(found, key=lambda key: (self._heat(found[key], now), found[key]["last"], key))
        return {key: found[key] for key in found if key not in set(ranked[:beyond])}

    def _memory(self, key: str, segment: Segment, events: Sequence[NodeEvent], owner: Owner, tier: str) -> Memory:
        newest_first = sorted(events, key=lambda each: (-each["time"], each["id"]))
        properties: dict[str, JsonValue] = {
            "tier": tier,
            "visits": segment["visits"],
            "heat": round(self._heat(segment, segment["last"]), 2),
            "events": [each["id"] for each in newest_first],
        }
        return owner.summary(
            f"segment {key}",
            content=events[0]["text"] if len(events) == 1 else extract(brief(events)),
            properties=properties,
            keywords=list(dict.fromkeys(entity_key_parts(owner.key))),
            importance=max(each["rank"] for each in events) / 1000,
            event_time=time_of_microseconds(newest_first[0]["time"]),
            message_ids=list(dict.fromkeys(name for each in newest_first for name in each["messages"]))[:MAX_MESSAGES],
            version=2 * len(events) + segment["visits"],
        )


def _read(state: State | None) -> tuple[list[Turn], Mapping[str, Segment]]:
    """The queue, oldest first, and the segments by key."""
    fields: dict[str, Any] = state or {}
    return fields.get("turns", []), fields.get("segments", {})


def _written(turns: list[Turn], found: Mapping[str, Segment]) -> State | None:
    """A state as JSON carries it; None if it is empty."""
    return {name: value for name, value in (("turns", turns), ("segments", found)) if value} or None


def _segment_with(found: Mapping[str, Segment], event_id: str) -> str | None:
    """The key of the segment that has an event."""
    return next((key for key, segment in found.items() if any(each["id"] == event_id for each in segment["events"])), None)


def _present(segment: Segment) -> list[NodeEvent]:
    """The events of a segment that are not retracted."""
    return [each for each in segment["events"] if each["id"] not in segment["retracted"]]


def _with_event(segment: Segment, event: NodeEvent, vector: Whole) -> Segment:
    """The segment with an event that was retracted."""
    short = shortened_events([event] * len(segment["events"]))[0]
    return {
        **segment,
        "events": [short if each["id"] == event["id"] else each for each in segment["events"]],
        "vector": written_vector(read_vector(segment["vector"]) + vector) if segment["vector"] else "",
        "retracted": [each for each in segment["retracted"] if each != event["id"]],
    }


def _new_key(found: Mapping[str, Segment], wanted: str) -> str:
    """A key that no segment has: an event may return while a segment that it started is still there."""
    key = wanted
    while key in found:
        key += "+"
    return key


def _pages(events: Sequence[NodeEvent]) -> int:
    return pages_of(sum(len(each["messages"]) for each in events))
