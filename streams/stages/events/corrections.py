"""Manual corrections of extracted events: which correction belongs to which event, and the result of all corrections.

Ids are not sufficient: a repeated extraction may return the same events in another order or wording. So a correction is bound to the
extraction's statement. It applies to the event of the same type with the same statement; or to one that is based on one of the same
messages, shares half of the words, and differs in no day, number, name, negation or property
(:func:`extraction.statements.differ_in_fact`). A statement that differs in one of those is another statement: it stays, and the correction
waits for an extraction that repeats the wrong one.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import Field, JsonValue

from extraction.offline.events.keywords import keywords_of
from extraction.statements import Statement, differ_in_fact
from memory.dates.event_date import UNKNOWN_DATE, EventDate
from memory.records import Correction, CorrectionNote, EntityPatch, Event, EventFields, EventSeen, Extraction, TrustLevel, Value
from memory.texts.terms import terms_of
from memory.texts.text import content_hash
from memory.trust import NO_RULES, WindowTrust

MAX_STANDING: Final = 16
"""Corrections of one memory that can be reverted one by one; beyond that, the two oldest become one."""
MAX_CORRECTED: Final = 200
"""Limit of corrected events per window."""
MAX_KNOWN: Final = 64
"""Ids of a window's newest corrections, to detect repeated ones."""
_LEAST_COMMON: Final = 0.5
"""Minimum share of common words (Dice coefficient)."""


class Standing(Value):
    """A correction in force."""

    id: str
    action: str
    fields: EventFields
    by: str
    reason: str
    time: datetime

    @classmethod
    def of(cls, correction: Correction) -> "Standing":
        """Keeps the relevant part of a correction."""
        return cls(
            id=correction.id,
            action=correction.action,
            fields=correction.fields,
            by=correction.by,
            reason=correction.reason,
            time=correction.time,
        )


class CorrectedEvent(Value):
    """A corrected event: as extracted, with the corrections in force, oldest first."""

    memory_id: str

    type: str
    content: str
    properties: dict[str, JsonValue]
    event_time: datetime
    date: str | None = None
    message_ids: list[str]
    standing: list[Standing]
    shown: list[str] = Field(default_factory=list)
    """Hashes of its newest corrected contents, including reverted ones, because clients may have seen them."""
    changed_at: int
    """The offset of the newest correction or revert."""

    @classmethod
    def of(cls, event: Event) -> "CorrectedEvent":
        """An event without corrections in force."""
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
        """Confidence that this belongs to an extracted event; 0 if it does not."""
        if event.type != self.type:
            return 0.0
        shared = bool(set(event.message_ids) & set(self.message_ids))
        if content_hash(event.content) == content_hash(self.content):
            return 3.0 if shared else 2.0
        one = Statement(self.content, self.properties, self.event_time, self.date != UNKNOWN_DATE.text)
        other = Statement(event.content, event.properties, event.event_time, event.date != UNKNOWN_DATE.text)
        common = _dice(one.words, other.words)
        return common if shared and common >= _LEAST_COMMON and not differ_in_fact(one, other) else 0.0

    @property
    def is_deleted(self) -> bool:
        """Whether a person or an application deleted it."""
        return any(each.action == "delete" for each in self.standing)

    @property
    def fields(self) -> EventFields:
        """The values that its corrections set."""
        fields = EventFields()
        for step in self.standing:
            fields = fields.with_later(step.fields)
        return fields

    def has(self, step: Standing) -> bool:
        """Whether its corrections in force have the effect of another one already."""
        if not self.standing or step.action == "delete":
            return False
        newest = self.standing[-1].action
        if "invalidate" in (step.action, newest):
            return step.action == newest
        return self.fields.with_later(step.fields) == self.fields

    def corrected(self, step: Standing, offset: int) -> "CorrectedEvent":
        """Adds a correction. A deletion replaces the earlier ones, so that their texts are not kept."""
        standing = [step] if step.action == "delete" else [*self.standing, step]
        if len(standing) > MAX_STANDING:
            first, second, *rest = standing
            standing = [second.model_copy(update={"fields": first.fields.with_later(second.fields)}), *rest]
        shown = self.shown
        if step.fields.content is not None:
            shown = [*shown, content_hash(step.fields.content)][-MAX_STANDING:]
        return self.model_copy(update={"standing": standing, "shown": shown, "changed_at": offset})

    def says(self, seen: EventSeen) -> bool:
        """Whether it is the event that a client saw, before or after its corrections."""
        return seen.type == self.type and content_hash(seen.content) in (content_hash(self.content), *self.shown)

    def reverted(self, offset: int) -> "CorrectedEvent":
        """Removes the newest correction."""
        return self.model_copy(update={"standing": self.standing[:-1], "changed_at": offset})


class CorrectedWindow(Value):
    """The corrections of one window, in all generations."""

    events: list[CorrectedEvent] = Field(default_factory=list)
    known: list[str] = Field(default_factory=list)
    """Ids of the newest corrections."""

    def with_event(self, index: int | None, event: CorrectedEvent, correction: Correction) -> "CorrectedWindow":
        """Adds a corrected event, or replaces the one at ``index``; ``correction`` is the change."""
        events = [*self.events, event] if index is None else [*self.events[:index], event, *self.events[index + 1 :]]
        return CorrectedWindow(events=events[-MAX_CORRECTED:], known=[*self.known, correction.id][-MAX_KNOWN:])

    def as_extracted_again(self, extractions: Sequence[Extraction]) -> "CorrectedWindow":
        """The corrections of events that the window still has, without a copy of how earlier extractions had worded them.

        Args:
            extractions: The published extractions of the window, of each generation. The first one that has an event counts.
        """
        found: dict[int, CorrectedEvent] = {}
        for extraction in reversed(extractions):
            for index, number in bind(self.events, extraction.events).items():
                newest = CorrectedEvent.of(extraction.events[index])
                kept = {name: getattr(self.events[number], name) for name in ("standing", "shown", "changed_at")}
                found[number] = newest.model_copy(update=kept)
        return CorrectedWindow(events=[found[number] for number in sorted(found)], known=self.known)

    def without_messages(self, message_ids: Collection[str]) -> "CorrectedWindow":
        """The corrections of events that are not based on any of these messages."""
        kept = [each for each in self.events if not set(each.message_ids).intersection(message_ids)]
        return CorrectedWindow(events=kept, known=self.known)


@dataclass(frozen=True, slots=True)
class PresentEvent:
    """An event with its corrections applied."""

    event: Event
    extracted: Event
    correction: CorrectedEvent | None = None
    trust: TrustLevel = "normal"
    feeds_entities: bool = True
    """Whether its sources are trusted enough to change entities."""

    @property
    def is_valid(self) -> bool:
        """Whether it was neither invalidated nor deleted."""
        return not self.is_deleted and (self.newest is None or self.newest.action != "invalidate")

    @property
    def is_deleted(self) -> bool:
        """Whether it was deleted."""
        return self.correction is not None and self.correction.is_deleted

    @property
    def is_as_said(self) -> bool:
        """Whether its messages are right: it was not invalidated, and no correction in force replaces what they say."""
        extracted = self.extracted.properties
        return (
            self.is_valid
            and self.event.content == self.extracted.content
            and all(self.event.properties.get(name) == value for name, value in extracted.items())
        )

    @property
    def newest(self) -> Standing | None:
        """The newest correction in force."""
        return self.correction.standing[-1] if self.correction is not None and self.correction.standing else None

    def note(self) -> CorrectionNote | None:
        """The memory's note about its correction."""
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


def present_events(extraction: Extraction, window: CorrectedWindow, trust: WindowTrust = NO_RULES) -> list[PresentEvent]:
    """The events of an extraction, in order, with their corrections and their trust applied."""
    bound = bind(window.events, extraction.events)
    return [
        _present(event, window.events[bound[index]] if index in bound else None, trust) for index, event in enumerate(extraction.events)
    ]


def patches_in_force(patches: Sequence[EntityPatch], present: Sequence[PresentEvent], trust: WindowTrust = NO_RULES) -> list[EntityPatch]:
    """The patches of a window that are trusted enough, without those that fall with its wrong events.

    Wrong are invalidated events, and those with corrected contents or values.

    A patch falls with an event that is based on one of its messages. If several events do, the one that shares the most words decides;
    if a wrong and a right one share equally many, the patch falls.
    """
    patches = [each for each in patches if trust.feeds_entities(each.id)]
    if all(each.is_as_said for each in present):
        return patches
    return [each for each in patches if not _falls(each, present)]


def _falls(patch: EntityPatch, present: Sequence[PresentEvent]) -> bool:
    words = set(terms_of(patch.replace))
    shared: dict[bool, list[int]] = {True: [-1], False: [-1]}
    for event in present:
        if not set(event.extracted.message_ids).isdisjoint(patch.message_ids):
            shared[event.is_as_said].append(len(words.intersection(terms_of(event.extracted.content))))
    return max(shared[False]) >= 0 and max(shared[False]) >= max(shared[True])


def bind(corrected: Sequence[CorrectedEvent], events: Sequence[Event]) -> dict[int, int]:
    """Assigns corrections to events, by index: each to at most one, highest confidence first."""
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
    """Index of the event that a client saw under an id, possibly before a repeated extraction; None: it is none of these."""
    wanted = content_hash(seen.content)
    same = [
        index for index, each in enumerate(present) if wanted in (content_hash(each.event.content), content_hash(each.extracted.content))
    ]
    return min(same, key=lambda index: (present[index].extracted.id != memory_id, index), default=None)


def _present(event: Event, correction: CorrectedEvent | None, trust: WindowTrust) -> PresentEvent:
    fields = EventFields() if correction is None else correction.fields
    set_fields = {name: value for name in EventFields.model_fields if (value := getattr(fields, name)) is not None}
    set_fields |= _times(event, fields)
    if fields.content is not None:
        set_fields["speaker"] = None
        if fields.keywords is None and event.keywords and fields.content != event.content:
            # The extracted ones are words of the replaced content.
            set_fields["keywords"] = keywords_of(fields.content, names=() if event.speaker is None else [event.speaker])
    if fields.properties is not None:
        both = {**event.properties, **fields.properties}
        set_fields["properties"] = {name: value for name, value in both.items() if value is not None}
    return PresentEvent(
        event.model_copy(update=set_fields) if set_fields else event,
        event,
        correction,
        trust.level(event.id),
        trust.feeds_entities(event.id),
    )


def _times(event: Event, fields: EventFields) -> dict[str, Any]:
    """Time fields of a corrected event: a date replaces a moment, and vice versa."""
    if fields.date is not None:
        return {"event_time": EventDate.parse(fields.date).begins_at(event.event_time.tzinfo) or event.said_at}
    # Days are counted in the zone of the message, whichever zone the correction gives its time in.
    return {} if fields.event_time is None else {"date": None, "event_time": fields.event_time.astimezone(event.said_at.tzinfo)}


def _before(extracted: Event, event: Event) -> EventFields:
    """The extraction's values of the fields that were changed."""
    names = [name for name in EventFields.model_fields if name != "properties" and getattr(extracted, name) != getattr(event, name)]
    changed = [
        name for name in sorted({*extracted.properties, *event.properties}) if extracted.properties.get(name) != event.properties.get(name)
    ]
    properties = {name: extracted.properties.get(name) for name in changed} or None
    return EventFields.model_construct(**{name: getattr(extracted, name) for name in names}, properties=properties)


def _dice(one: Iterable[str], other: Iterable[str]) -> float:
    words, others = set(one), set(other)
    return 2 * len(words & others) / (len(words) + len(others)) if words and others else 0.0
