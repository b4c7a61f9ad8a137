"""The expected events and timelines for the extractions log: a second implementation, in plain Python, from its records in order.

It takes the expiries from the log, without computing when they were due, and checks their results.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from memory.headers import CORRECTION, EXPIRY, KIND, origin_of
from memory.records import Correction, Event, EventSeen, Expiry, Extraction, Memory
from streams.engine.records import ConsumedRecord

_SOURCE: Final = "extractions/0"


@dataclass
class _Statement:
    """The statement of a window, and its corrections in force, oldest first."""

    said: str
    shown: set[str] = field(default_factory=set)
    """All that it was ever corrected to."""
    standing: list[Correction] = field(default_factory=list)
    changed_at: int = -1

    @property
    def text(self) -> str:
        return next((each.fields.content for each in reversed(self.standing) if each.fields.content is not None), self.said)

    @property
    def is_valid(self) -> bool:
        return not self.standing or self.standing[-1].action != "invalidate"


@dataclass
class _Window:
    """A window as it was extracted last."""

    position: int = -1
    events: list[Event] = field(default_factory=list)
    statements: list[_Statement] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    def of(self, event: Event) -> _Statement:
        """The event's statement; as it was extracted if it was never corrected."""
        return next((each for each in self.statements if each.said == event.content), _Statement(event.content))


class Truth:
    """Reads the log of one partition.

    Args:
        log: Its records in order.
    """

    def __init__(self, log: Iterable[ConsumedRecord]) -> None:
        self._windows: defaultdict[str, _Window] = defaultdict(_Window)
        self._known: set[str] = set()
        for record in log:
            kind = record.header(KIND)
            value = record.value or b""
            if kind is None:
                self._extraction(record, Extraction.from_json(value))
            elif kind == CORRECTION:
                self._correction(record.offset, Correction.from_json(value))
            elif kind == EXPIRY:
                self._expiry(Expiry.from_json(value))

    def memories(self) -> dict[str, tuple[str, bool]]:
        """By id the text of every event that is a memory, and whether it is valid."""
        return {event.id: (of.text, of.is_valid) for window, event, of in self._events() if event.id not in window.gone}

    def valid(self) -> set[str]:
        """All events that count, including expired ones."""
        return {event.id for _, event, of in self._events() if of.is_valid}

    def gone(self) -> set[str]:
        """All expired events."""
        return {name for window in self._windows.values() for name in window.gone}

    def _events(self) -> Iterable[tuple[_Window, Event, _Statement]]:
        for window in self._windows.values():
            for event in window.events:
                yield window, event, window.of(event)

    def _extraction(self, record: ConsumedRecord, extraction: Extraction) -> None:
        origin = origin_of(record.headers)
        offset = record.offset if origin is None else origin.offset
        window = self._windows[extraction.window_id]
        if offset > window.position:
            window.position, window.events, window.gone = offset, list(extraction.events), set()

    def _correction(self, offset: int, correction: Correction) -> None:
        seen = correction.event
        if seen is None or correction.id in self._known:
            return
        self._known.add(correction.id)
        window = self._windows[seen.window_id]
        statement = _meant(window, correction, seen)
        if correction.action == "revert":
            if not statement.standing:
                return
            statement.standing.pop()
        else:
            statement.standing.append(correction)
            if correction.fields.content is not None:
                statement.shown.add(correction.fields.content)
        if statement not in window.statements:
            window.statements.append(statement)
        statement.changed_at = offset
        window.gone -= {each.id for each in window.events if each.content == statement.said}

    def _expiry(self, expiry: Expiry) -> None:
        known = expiry.known.get(_SOURCE, -1)
        for each in expiry.events:
            window = self._windows[each.window_id]
            event = next((event for event in window.events if event.id == each.id), None)
            if event is not None and max(window.position, window.of(event).changed_at) <= known and window.of(event).is_valid:
                window.gone.add(event.id)


def problems(truth: Truth, memories: Iterable[Memory], *, forgets: bool) -> list[str]:
    """The differences from the expected state; empty if there are none.

    Args:
        truth: What must be.
        memories: What is.
        forgets: Whether entities forget expired events.
    """
    by_kind: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        by_kind[memory.kind].append(memory)
    found: list[str] = []
    events = {each.id: (each.content, each.expires_at is None) for each in by_kind["event"]}
    if events != truth.memories():
        found.append(f"events are {events}, and must be {truth.memories()}")
    named = [str(name) for each in by_kind["summary"] for name in _names(each)]
    if len(named) != len(set(named)) or not truth.gone() & truth.valid() <= set(named) <= truth.valid():
        found.append(f"summaries name {sorted(named)}; valid are {sorted(truth.valid())}, let go {sorted(truth.gone())}")
    summarised = sum(int(str(each.properties["event_count"])) for each in by_kind["summary"])
    if summarised != len(named):
        found.append(f"summaries count {summarised} events, and name {len(named)}")
    wanted = len(truth.valid() - truth.gone()) if forgets else len(truth.valid())
    counted = sum(int(str(each.properties.get("count") or 0)) for each in by_kind["entity"])
    if counted != wanted:
        found.append(f"{counted} events are counted, and there are {wanted}")
    return found


def _names(summary: Memory) -> list[object]:
    names = summary.properties["events"]
    assert isinstance(names, list)
    return list(names)


def _meant(window: _Window, correction: Correction, seen: EventSeen) -> _Statement:
    """The statement that somebody means who saw it in these words."""
    there = [each for each in window.events if seen.content in (each.content, window.of(each).text)]
    if there:
        return window.of(min(there, key=lambda each: each.id != correction.memory_id))
    known = [each for each in window.statements if seen.content == each.said or seen.content in each.shown]
    return known[-1] if known else _Statement(seen.content)
