"""HEAT: what is recalled often becomes long-term memory (MemoryOS).

*MemoryOS* (Kang et al., 2025, section 3.3) gives a segment of the mid-term memory the heat ``a * visits + b * length + c * recency``:
``visits`` counts its recalls, ``length`` its pages, and ``recency`` is ``exp(-t / m)`` with the time ``t`` since its last recall. A segment
whose heat reaches a threshold is promoted to the long-term memory; if the mid-term memory is full, the coolest segment leaves it. The
paper's values are ``a = b = c = 1``, a threshold of 5, and ``m`` = 10,000,000 seconds. The released code has one day for ``m``.

A page is a question and its answer, so two messages. Heat rises only with a recall, when ``recency`` is 1, so a promotion follows from the
numbers of visits and pages alone, and a promoted segment stays in the long-term memory. Recency decides which segment leaves. A promoted
segment keeps the words of its event.

Differences: in algorithm 1 of *Memory in the LLM Era* the heat has to exceed the threshold; here it suffices to reach it. A segment that
was never recalled is not promoted, even if it is so long that its length alone gives the heat.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

from pydantic import JsonValue

from memory.keys import entity_key_parts
from memory.records import Memory
from memory.schema.operator_specs import OperatorSpec, built_in
from memory.texts.text import shortened
from memory.times import time_of_microseconds
from operators.aging import AgedEvent, AgingOperator
from operators.operator import Configuration, Operand, State, Value
from operators.publishing import Owner, PublishingOperator

LONG_TERM: Final = "long-term"
MAX_TEXT: Final = 600
"""Characters of a segment that the state keeps."""
MAX_MESSAGES: Final = 20
"""Messages of a segment that the state names."""
_MESSAGES_OF_PAGE: Final = 2
_HUNDREDTHS: Final = 100

Segment = dict[str, Any]
"""``time``, ``rank`` (its importance in thousandths), ``text``, ``message_ids``, ``pages``, ``visits``, and ``last``: the time of the last
recall, or else of its message. ``is_retracted``: a contribution has retracted it, and may apply it again, with its visits."""


@dataclass(frozen=True, slots=True)
class Warmth:
    """The formula of heat, and the threshold of long-term memory."""

    visits: float
    length: float
    recency: float
    threshold: float
    fade: int
    """In microseconds."""

    @classmethod
    def of(cls, configuration: Configuration) -> "Warmth":
        """Reads the parameters ``Visits``, ``Length``, ``Recency``, ``Threshold`` (in hundredths) and ``Fade``."""
        visits, length, recency, threshold = (
            configuration.whole(name) / _HUNDREDTHS for name in ("Visits", "Length", "Recency", "Threshold")
        )
        return cls(visits, length, recency, threshold, configuration.span_us("Fade"))

    def heat(self, *, visits: int, pages: int, idle: int) -> float:
        """The heat of a segment.

        Args:
            visits: Number of its recalls.
            pages: Its length.
            idle: The time since its last recall, in microseconds.
        """
        return self.visits * visits + self.length * pages + self.recency * math.exp(-max(0, idle) / self.fade)

    def is_promoted(self, *, visits: int, pages: int) -> bool:
        """Whether a segment has reached the threshold at its last recall."""
        return visits > 0 and self.heat(visits=visits, pages=pages, idle=0) >= self.threshold


def pages_of(messages: int) -> int:
    """Number of pages: a page is a question and its answer."""
    return math.ceil(messages / _MESSAGES_OF_PAGE)


class VisitedOperator(AgingOperator):
    """An operator that counts recalls, and that time alone does not change."""

    def advance(self, state: State, now: int) -> State:
        """See :meth:`AgingOperator.advance`: time alone promotes nothing."""
        return state

    def due(self, state: State) -> int | None:
        """See :meth:`AgingOperator.due`: never."""
        return None

    def ask(self, state: State) -> tuple[State, list[AgedEvent]]:
        """See :meth:`AgingOperator.ask`: no event expires."""
        return state, []

    def release(self, state: State, source_id: str, time: int) -> State:
        """See :meth:`AgingOperator.release`: another operator's; the segment stays."""
        return state

    def clock(self, state: State) -> int | None:
        """See :meth:`AgingOperator.clock`: it has none."""
        return None


class Heat(VisitedOperator, PublishingOperator):
    """Counts the recalls of each event, and publishes the hot ones as summaries with the property ``tier``.

    The recalls stage reports an event at most once a day, so an event has at most one visit a day.

    Args:
        configuration: The schema's definition of the property.
    """

    spec: ClassVar[OperatorSpec] = built_in("HEAT")

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        self._warmth = Warmth.of(configuration)
        self._limit = configuration.whole("Limit")

    def apply(self, state: State | None, operand: Operand) -> State:
        """See :meth:`Operator.apply`. Above the limit, the coolest segment leaves."""
        fields = operand.fields
        segments = _segments(state)
        known = segments.get(operand.source_id)
        visited = known if known is not None and "is_retracted" in known else None
        made = fields["said_at"]
        segments = {
            **segments,
            operand.source_id: {
                "time": operand.time,
                "rank": round(fields["importance"] * 1000),
                "text": shortened(fields["text"], MAX_TEXT),
                "message_ids": fields["message_ids"][:MAX_MESSAGES],
                "pages": pages_of(len(fields["message_ids"])),
                "visits": 0 if visited is None else visited["visits"],
                "last": made if visited is None else visited["last"],
            },
        }
        if len(segments) > self._limit:
            now = max(each["last"] for each in segments.values())
            coolest = min(segments, key=lambda name: (self.heat(segments[name], now), segments[name]["last"], name))
            segments = {name: each for name, each in segments.items() if name != coolest}
        return segments

    def retract(self, state: State | None, operand: Operand) -> State | None:
        """See :meth:`Operator.retract`. A segment that has left is unknown, and its retraction changes nothing."""
        segments = _segments(state)
        known = segments.get(operand.source_id)
        if known is None:
            return state
        others = {name: each for name, each in segments.items() if name != operand.source_id}
        return {**others, operand.source_id: {**known, "is_retracted": True}} if known["visits"] else others or None

    def prune(self, state: State, newest: int, newest_local: int | None = None) -> State | None:
        """See :meth:`Operator.prune`: drops what the contribution retracted and did not apply again."""
        left = {name: each for name, each in _segments(state).items() if "is_retracted" not in each}
        return state if len(left) == len(state) else left or None

    def value(self, state: State) -> Value:
        """Number of segments in each tier."""
        promoted = sum(self._is_promoted(each) for each in _segments(state).values())
        return f"{len(state) - promoted} in mid-term memory, {promoted} in long-term memory"

    def heat(self, segment: Segment, now: int) -> float:
        """The heat of a segment.

        Args:
            segment: The segment.
            now: The time, in microseconds since 1970 (UTC).
        """
        return self._warmth.heat(visits=segment["visits"], pages=segment["pages"], idle=now - segment["last"])

    def touch(self, state: State, source_id: str, time: int) -> State:
        """See :meth:`AgingOperator.touch`: counts a visit."""
        known = _segments(state).get(source_id)
        if known is None or (known["visits"] and known["last"] >= time):
            return state
        return {**state, source_id: {**known, "visits": known["visits"] + 1, "last": max(time, known["last"])}}

    def memories(self, state: State, owner: Owner) -> Iterator[Memory]:
        """See :meth:`PublishingOperator.memories`: the promoted segments."""
        for event_id, segment in sorted(_segments(state).items()):
            if self._is_promoted(segment):
                yield self._memory(event_id, segment, owner)

    def _is_promoted(self, segment: Segment) -> bool:
        return self._warmth.is_promoted(visits=segment["visits"], pages=segment["pages"])

    def _memory(self, event_id: str, segment: Segment, owner: Owner) -> Memory:
        properties: dict[str, JsonValue] = {
            "tier": LONG_TERM,
            "visits": segment["visits"],
            "heat": round(self.heat(segment, segment["last"]), 2),
            "events": [event_id],
        }
        return owner.summary(
            event_id,
            content=segment["text"],
            properties=properties,
            keywords=list(dict.fromkeys(entity_key_parts(owner.key))),
            importance=segment["rank"] / 1000,
            event_time=time_of_microseconds(segment["time"]),
            message_ids=segment["message_ids"],
            version=segment["visits"],
        )


def _segments(state: State | None) -> dict[str, Segment]:
    return {} if state is None else cast(dict[str, Segment], state)
