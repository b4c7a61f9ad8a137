"""The result of extracting a window, valid under its schema, before it gets its ids."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from memory.dates.event_date import EventDate
from memory.records import Dropped
from memory.schema.coerce import MAX_DROPPED_NAMES

Kind = Literal["event", "segment", "patch", "property", "message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentDraft:
    """A topic and its messages: inclusive ranges of indices in the window, ascending, apart from each other."""

    topic: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """An event that keeps its schema."""

    type: str
    content: str
    properties: dict[str, JsonValue]
    importance: float
    keywords: tuple[str, ...]
    segment: int | None
    """Its index among the draft's segments."""
    messages: tuple[int, ...]
    """Indices of messages in the window, at least one, best first."""
    event_time: datetime
    said_at: datetime
    date: EventDate | None = None
    """How exactly the event's time is known; None: to the moment."""
    speaker: str | None = None
    """The person whose own words ``content`` is; None: a model or a rule worded it."""
    said: str | None = None
    """The words of its first message, if a model worded ``content``."""
    search_text: str | None = None
    """The message with names and days resolved; only for search."""
    unsupported: bool = False
    """See :attr:`memory.records.Event.unsupported`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchDraft:
    """A patch of a field that the schema lets patches set."""

    entity_type: str
    entity_key: str
    field: str
    search: str
    replace: str
    messages: tuple[int, ...]
    event_time: datetime


@dataclass(slots=True)
class DropCounter:
    """Counts what is left out, and why."""

    counts: Counter[tuple[Kind, str]] = field(default_factory=Counter)
    stated_names: dict[tuple[Kind, str], list[str]] = field(default_factory=dict)
    """Names of dropped properties of events that the application states; a model's mistakes have none."""

    def drop_stated(self, dropped: Iterable[Dropped]) -> None:
        """Counts dropped properties of an event that the application states, and keeps their names: its developer can correct them."""
        for each in dropped:
            self.drop("property", each.reason, each.count)
            self._keep(("property", each.reason), each.names or ())

    def drop_properties(self, dropped: Iterable[Dropped]) -> None:
        """Counts dropped properties of an event that a model or a rule found."""
        for each in dropped:
            self.drop("property", each.reason, each.count)

    def add(self, other: "DropCounter") -> None:
        """Adds the counts and names of another counter."""
        self.counts.update(other.counts)
        for key, names in other.stated_names.items():
            self._keep(key, names)

    def drop(self, what: Kind, reason: str, count: int = 1) -> None:
        """Counts something left out.

        Args:
            what: Its kind.
            reason: Why, as a stable word.
            count: How many.
        """
        self.counts[what, reason] += count

    def _keep(self, key: tuple[Kind, str], names: Iterable[str]) -> None:
        known = self.stated_names.setdefault(key, [])
        for name in names:
            if name not in known and len(known) < MAX_DROPPED_NAMES:
                known.append(name)

    def as_dropped(self) -> list[Dropped]:
        """The counts as records carry them, in a fixed order."""
        return [
            Dropped(what=what, reason=reason, count=count, names=self.stated_names.get((what, reason)) or None)
            for (what, reason), count in sorted(self.counts.items())
            if count
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All that was extracted from a window."""

    segments: tuple[SegmentDraft, ...] = ()
    events: tuple[EventDraft, ...] = ()
    patches: tuple[PatchDraft, ...] = ()
    tally: DropCounter = field(default_factory=DropCounter)
