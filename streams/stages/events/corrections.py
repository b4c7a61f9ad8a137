"""What was corrected by hand, beside what was extracted: which correction is of which event, and what stands when all are made.

Ids do not tell: an extraction made again may bring the same events in another order, or in other words. So a correction is bound to what
the extraction had said. It is of the event of the same type that says the same, or that rests on one of the same messages, has half of the
words in common, and differs in no day, number, name, negation or property (:func:`extraction.statements.differ_in_fact`). A statement that
differs in one of those is another statement: it stands, and the correction waits for an extraction that brings back what was wrong.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import Field, JsonValue

from extraction.statements import Statement, differ_in_fact
from memory.dates.event_date import UNKNOWN_DATE, EventDate
from memory.records import Correction, CorrectionNote, Event, EventFields, EventSeen, Extraction, Value
from memory.text import content_hash

MAX_STANDING: Final = 16
"""Corrections of one memory that can be reverted one by one; beyond, the two oldest become one."""
MAX_CORRECTED: Final = 200
"""Events of one window that are remembered as corrected."""
MAX_KNOWN: Final = 64
"""Ids of the newest corrections of a window: what is sent again is known."""
_LEAST_COMMON: Final = 0.5
"""Of the words, as Dice counts them."""


class Standing(Value):
    """A correction that stands."""

    id: str
    action: str
    fields: EventFields
    by: str
    reason: str
    time: datetime

    @classmethod
    def of(cls, correction: Correction) -> "Standing":
        """What is kept of a correction."""
        return cls(
            id=correction.id,
            action=correction.action,
            fields=correction.fields,
            by=correction.by,
            reason=correction.reason,
            time=correction.time,
        )


class CorrectedEvent(Value):
    """An event that was corrected, as it was extracted, and what stands of its corrections, oldest first."""

    memory_id: str

    type: str
    content: str
    properties: dict[str, JsonValue]
    event_time: datetime
    date: str | None = None
    message_ids: list[str]
    standing: list[Standing]
    shown: list[str] = Field(default_factory=list)
    """Hashes of the newest contents that it was corrected to, the reverted ones included: somebody may have seen it so."""
    changed_at: int
    """The offset of the newest correction, a revert included."""

    @classmethod
    def of(cls, event: Event) -> "CorrectedEvent":
        """An event of which no correction stands yet."""
        return cls(
            memory_id=event.id,
            type=event.type,
            content=event.content,
            properties=event.properties,
            event_time=event.event_time,
            date=event.date,
            message_ids=event.message_ids,
            standing=[],
            changed_at=-1,
        )

    def matches(self, event: Event) -> float:
        """How surely this is of an extracted event, 0 where it is not."""
        if event.type != self.type:
            return 0.0
        shared = bool(set(event.message_ids) & set(self.message_ids))
        if content_hash(event.content) == content_hash(self.content):
            return 3.0 if shared else 2.0
        one = Statement(self.content, self.properties, self.event_time, self.date != UNKNOWN_DATE.text)
        other = Statement(event.content, event.properties, event.event_time, event.date != UNKNOWN_DATE.text)
        common = _dice(one.words, other.words)
        return common if shared and common >= _LEAST_COMMON and not differ_in_fact(one, other) else 0.0

    def corrected(self, step: Standing, offset: int) -> "CorrectedEvent":
        """With one more correction."""
        standing = [*self.standing, step]
        if len(standing) > MAX_STANDING:
            first, second, *rest = standing
            standing = [second.model_copy(update={"fields": first.fields.with_later(second.fields)}), *rest]
        shown = self.shown
        if step.fields.content is not None:
            shown = [*shown, content_hash(step.fields.content)][-MAX_STANDING:]
        return self.model_copy(update={"standing": standing, "shown": shown, "changed_at": offset})

    def says(self, seen: EventSeen) -> bool:
        """Whether it is what somebody saw, before or behind its corrections."""
        return seen.type == self.type and content_hash(seen.content) in (content_hash(self.content), *self.shown)

    def reverted(self, offset: int) -> "CorrectedEvent":
        """Without the newest correction."""
        return self.model_copy(update={"standing": self.standing[:-1], "changed_at": offset})


class CorrectedWindow(Value):
    """The corrections of one window, in all generations."""

    events: list[CorrectedEvent] = Field(default_factory=list)
    known: list[str] = Field(default_factory=list)
    """Ids of the newest corrections."""

    def with_event(self, index: int | None, event: CorrectedEvent, correction: Correction) -> "CorrectedWindow":
        """The corrections with one event more, or one in place of another.

        Args:
            index: The place of the other; None: one more.
            event: The event.
            correction: What has changed it.
        """
        events = [*self.events, event] if index is None else [*self.events[:index], event, *self.events[index + 1 :]]
        return CorrectedWindow(events=events[-MAX_CORRECTED:], known=[*self.known, correction.id][-MAX_KNOWN:])


@dataclass(frozen=True, slots=True)
class PresentEvent:
    """An event as it stands."""

    event: Event
    extracted: Event
    correction: CorrectedEvent | None = None

    @property
    def is_valid(self) -> bool:
        """Whether it was not invalidated."""
        return self.newest is None or self.newest.action != "invalidate"

    @property
    def newest(self) -> Standing | None:
        """The newest correction that stands."""
        return self.correction.standing[-1] if self.correction is not None and self.correction.standing else None

    def note(self) -> CorrectionNote | None:
        """What the memory shows of it."""
        newest = self.newest
        if self.correction is None or newest is None:
            return None
        return CorrectionNote(
            id=newest.id,
            action="correct" if newest.action == "correct" else "invalidate",
            by=newest.by,
            reason=newest.reason,
            time=newest.time,
            standing=len(self.correction.standing),
            before=_before(self.extracted, self.event),
        )


def present_events(extraction: Extraction, window: CorrectedWindow) -> list[PresentEvent]:
    """The events of an extraction, in order, as they stand."""
    bound = bind(window.events, extraction.events)
    return [_present(event, window.events[bound[index]] if index in bound else None) for index, event in enumerate(extraction.events)]


def bind(corrected: Sequence[CorrectedEvent], events: Sequence[Event]) -> dict[int, int]:
    """Which correction is of which event, by their indices: each of at most one, the surest first."""
    if not corrected:
        return {}
    scored = [(-each.matches(event), number, index) for number, each in enumerate(corrected) for index, event in enumerate(events)]
    bound: dict[int, int] = {}
    taken: set[int] = set()
    for score, number, index in sorted(scored):
        if score < 0 and number not in taken and index not in bound:
            bound[index] = number
            taken.add(number)
    return bound


def event_index(present: Sequence[PresentEvent], memory_id: str, seen: EventSeen) -> int | None:
    """Which event somebody means who saw it under an id, maybe before the window was extracted again; None: none of these.

    Args:
        present: The events as they stand.
        memory_id: The id it was seen under.
        seen: As it was seen.
    """
    wanted = content_hash(seen.content)
    same = [
        index for index, each in enumerate(present) if wanted in (content_hash(each.event.content), content_hash(each.extracted.content))
    ]
    return min(same, key=lambda index: (present[index].extracted.id != memory_id, index), default=None)


def _present(event: Event, correction: CorrectedEvent | None) -> PresentEvent:
    fields = EventFields()
    for step in correction.standing if correction is not None else ():
        fields = fields.with_later(step.fields)
    set_fields = {name: value for name in EventFields.model_fields if (value := getattr(fields, name)) is not None}
    set_fields |= _times(event, fields)
    if fields.properties is not None:
        both = {**event.properties, **fields.properties}
        set_fields["properties"] = {name: value for name, value in both.items() if value is not None}
    return PresentEvent(event.model_copy(update=set_fields) if set_fields else event, event, correction)


def _times(event: Event, fields: EventFields) -> dict[str, Any]:
    """When a corrected event was: a date in place of the moment, or the other way round."""
    if fields.date is not None:
        return {"event_time": EventDate.parse(fields.date).begins_at(event.event_time.tzinfo) or event.said_at}
    return {} if fields.event_time is None else {"date": None}


def _before(extracted: Event, event: Event) -> EventFields:
    """What the extraction had said of the fields that are other now."""
    names = [name for name in EventFields.model_fields if name != "properties" and getattr(extracted, name) != getattr(event, name)]
    changed = [
        name for name in sorted({*extracted.properties, *event.properties}) if extracted.properties.get(name) != event.properties.get(name)
    ]
    properties = {name: extracted.properties.get(name) for name in changed} or None
    return EventFields.model_construct(**{name: getattr(extracted, name) for name in names}, properties=properties)


def _dice(one: Iterable[str], other: Iterable[str]) -> float:
    words, others = set(one), set(other)
    return 2 * len(words & others) / (len(words) + len(others)) if words and others else 0.0
