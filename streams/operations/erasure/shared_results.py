"""Extractions of other users that were made from an erased user's messages: several users had written in one window. Pure.

The sessions stage has published these windows again without the messages, and a retraction says so in the log of each other user. Earlier
extractions are superseded, but they keep texts: events that are based on messages of several users, topics, and questions that explain an
answer. Compaction would keep them forever, because each has its own key. So the erasure removes them from the log. It removes only these
texts from an extraction that nothing has replaced yet, because its window is parked or its generation is not extracted any more.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory.errors import VarveError
from memory.headers import CORRECTION, RETRACTION, kind_of
from memory.records import Correction, Event, EventSeen, Extraction, MessageRetraction
from runtime.tracing import Headers
from streams.stages.events.corrections import CorrectedEvent, bind
from streams.stages.events.retracting import without_messages

_MODEL: Final = "llm:"
"""Begins the name of an extractor that is a model."""


@dataclass(frozen=True, slots=True)
class Superseded:
    """An extraction with texts of an erased user."""

    key: bytes
    user: str
    """The other user."""
    extraction: Extraction
    messages: frozenset[str]
    """Ids of the erased messages of its window."""
    in_force: Extraction
    """The extraction without these texts that takes its place."""
    is_replaced: bool
    """Whether the log has the one in force already. False: the erasure writes it under the same key."""


@dataclass(frozen=True, slots=True)
class TakenPart:
    """The records of the log about one user's part of a shared window."""

    part_id: str
    user: str
    extractions: Mapping[bytes, Extraction]
    """By key."""
    corrections: Sequence[bytes]
    """Keys of the corrections."""


@dataclass(slots=True)
class _Part:
    """The records of one user's part of a shared window."""

    user: str
    extractions: dict[bytes, Extraction] = field(default_factory=dict)
    """By key, in the order of the log."""
    corrections: dict[bytes, Correction] = field(default_factory=dict)
    messages: set[str] = field(default_factory=set)
    """Ids of the erased messages."""
    revision: int = 0
    """The newest revision that an erasure has made; 0: none."""


class SharedResults:
    """Collects the records of other users about some shared windows, record by record.

    Args:
        parts: The other user of each part of a shared window, by the part's id (:func:`memory.ids.window_part_id`).
    """

    def __init__(self, parts: Mapping[str, str]) -> None:
        self._parts = {each: _Part(user) for each, user in parts.items()}
        self._part_of: dict[bytes, _Part] = {}
        """The part that each record is about, by its key."""

    @property
    def users(self) -> set[str]:
        """The other users."""
        return {each.user for each in self._parts.values()}

    def add(self, key: bytes, value: bytes | None, headers: Headers) -> None:
        """Adds the next record of one of the users.

        Args:
            key: Its key.
            value: Its value; None: the record with this key was removed.
            headers: Its headers.
        """
        if value is None:
            if (part := self._part_of.pop(key, None)) is not None:
                part.extractions.pop(key, None)
                part.corrections.pop(key, None)
            return
        kind = kind_of(headers)
        try:
            if kind is None:
                self._extraction(key, Extraction.from_json(value))
            elif kind == RETRACTION:
                self._retraction(MessageRetraction.from_json(value))
            elif kind == CORRECTION:
                self._correction(key, Correction.from_json(value))
        except VarveError:
            return  # no stage can read it

    def _extraction(self, key: bytes, extraction: Extraction) -> None:
        part = self._parts.get(extraction.window_id)
        if part is not None:
            self._part_of[key] = part
            part.extractions.pop(key, None)
            part.extractions[key] = extraction

    def _retraction(self, retraction: MessageRetraction) -> None:
        part = self._parts.get(retraction.window_id)
        if part is not None and retraction.is_erasure:
            part.messages.update(retraction.message_ids)
            part.revision = max(part.revision, retraction.revision)

    def _correction(self, key: bytes, correction: Correction) -> None:
        part = None if correction.event is None else self._parts.get(correction.event.window_id)
        if part is not None:
            self._part_of[key] = part
            part.corrections[key] = correction

    def take(self, users: Collection[str]) -> list[TakenPart]:
        """Removes the parts of some users, and returns their records.

        Args:
            users: Users whose own erasures are in progress: nothing replaces their results.
        """
        taken = {part_id: part for part_id, part in self._parts.items() if part.user in users}
        self._parts = {part_id: part for part_id, part in self._parts.items() if part_id not in taken}
        return [TakenPart(part_id, part.user, part.extractions, [*part.corrections]) for part_id, part in taken.items()]

    def is_superseded(self, extraction: Extraction) -> bool:
        """Whether an extraction was made from messages of an erased user."""
        part = self._parts.get(extraction.window_id)
        return part is not None and extraction.revision < part.revision

    def superseded(self) -> Iterator[tuple[str, Superseded]]:
        """The extractions with texts of an erased user, each with its part of a window, and the extraction that takes its place."""
        for part_id, part in self._parts.items():
            messages = frozenset(part.messages)
            for newest_key, newest in _newest(part):
                is_replaced = newest.revision >= part.revision
                in_force = newest if is_replaced else without_texts(newest, messages)
                for key, each in part.extractions.items():
                    is_earlier = each.generation == newest.generation and each.revision < part.revision
                    if is_earlier and (key != newest_key or in_force != newest):
                        yield part_id, Superseded(key, part.user, each, messages, in_force, is_replaced or key != newest_key)

    @property
    def may_quote(self) -> int:
        """Number of extractions by a model that nothing has replaced and that keep some results.

        The model had read the erased messages, and nothing shows whether it repeated them.
        """
        return sum(
            newest.revision < part.revision and newest.extractor.startswith(_MODEL) and bool(newest.events or newest.patches)
            for part in self._parts.values()
            for _, newest in _newest(part)
        )

    def corrections(self) -> Iterator[tuple[str, bytes, Correction | None]]:
        """The corrections that quote events which may stem from an erased user's messages: the user and the key of each.

        Each has the correction that replaces it, which quotes the event of the extraction in force. None: no extraction in force has the
        event.
        """
        for part in self._parts.values():
            messages = frozenset(part.messages)
            in_force = [newest if newest.revision >= part.revision else without_texts(newest, messages) for _, newest in _newest(part)]
            clean = {event.content for each in in_force for event in each.events}
            superseded = (each for each in part.extractions.values() if each.revision < part.revision)
            worded = {event.content: event for each in superseded for event in each.events if event.content not in clean}
            for key, each in part.corrections.items():
                seen = each.event
                if seen is not None and messages.intersection(seen.message_ids):
                    yield part.user, key, None
                elif seen is not None and seen.content in worded:
                    yield part.user, key, _quoting_again(each, worded[seen.content], in_force)


def _newest(part: _Part) -> list[tuple[bytes, Extraction]]:
    """The extraction of each generation that the events stage publishes: of the newest revision, the newest one."""
    found: dict[str, tuple[bytes, Extraction]] = {}
    for key, each in part.extractions.items():
        known = found.get(each.generation)
        if known is None or known[1].revision <= each.revision:
            found[each.generation] = key, each
    return [*found.values()]


def _quoting_again(correction: Correction, event: Event, in_force: Sequence[Extraction]) -> Correction | None:
    """The correction, bound to the event of the extraction in force by the rule of the events stage."""
    for extraction in in_force:
        for index in bind([CorrectedEvent.of(event)], extraction.events):
            found = extraction.events[index]
            seen = EventSeen(window_id=found.window_id, type=found.type, content=found.content, message_ids=found.message_ids)
            return correction.model_copy(update={"memory_id": found.id, "event": seen})
    return None


def without_texts(extraction: Extraction, messages: frozenset[str]) -> Extraction:
    """An extraction without everything that may stem from an erased user's messages: results based on them, topics, texts for search."""
    left = without_messages(extraction, messages.__contains__)
    events = [each.model_copy(update={"search_text": None, "segment_id": None}) for each in left.events]
    return left.model_copy(update={"events": events, "segments": []})
