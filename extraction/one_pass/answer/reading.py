"""Checks the items of an answer against window and schema: each good one is kept, each bad one dropped alone and counted. Never raises."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from extraction.bounds import LONGEST_CONTENT, LONGEST_KEYWORD, LONGEST_PATCH, LONGEST_TOPIC, MAX_EVIDENCE, MAX_ITEMS, MAX_KEYWORDS
from extraction.drafts import Draft, EventDraft, Kind, PatchDraft, SegmentDraft, Tally
from extraction.echo_filter import is_echo
from extraction.one_pass.answer import form
from extraction.one_pass.answer.coercion import as_indices, as_ranges, as_text, as_time, as_weight
from extraction.one_pass.answer.items import RawAnswer
from memory.errors import KeyFormatError
from memory.hashing import content_hash
from memory.keys import entity_key
from memory.records import Window
from memory.schema import EntityProperty, EntityType, EventType, MemorySchema, coerce_properties

N = TypeVar("N", EventType, EntityType, EntityProperty)
D = TypeVar("D", SegmentDraft, EventDraft, PatchDraft)
V = TypeVar("V", int, float)

_LONGEST_KEY_PART: Final = 200
_DEFAULT_IMPORTANCE: Final = 0.5
_EARLIEST_YEAR: Final = 1000
_BLANKS: Final = ("", "null")
_LATEST_YEAR_AHEAD: Final = 100


@dataclass(frozen=True, slots=True)
class Rules:
    """What an answer is held against."""

    window: Window
    schema: MemorySchema
    recalled_hashes: frozenset[str] = frozenset()

    def recalled_places(self) -> frozenset[int]:
        """The places of the window's messages that a recall put there."""
        messages = enumerate(self.window.messages)
        return frozenset(place for place, message in messages if is_echo(message, self.recalled_hashes))


def read_answer(raw: RawAnswer, rules: Rules) -> Draft:
    """Keeps of an answer what is good.

    Args:
        raw: The answer's items.
        rules: The window and the schema.

    Returns:
        A draft whose every event keeps its schema, with the counts of what was dropped. No evidence points to a recalled message.
    """
    return _Reading(rules).draft(raw)


class _UnfitItemError(Exception):
    """An item cannot be kept; ``reason`` is a stable word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Reading:
    def __init__(self, rules: Rules) -> None:
        self._window = rules.window
        self._schema = rules.schema
        self._hashes = rules.recalled_hashes
        self._recalled = rules.recalled_places()
        self._tally = Tally()
        self._segments: list[SegmentDraft] = []

    def draft(self, raw: RawAnswer) -> Draft:
        for item in self._items(raw, form.SEGMENTS, "segment"):
            with self._dropping_alone("segment"):
                _append_new(self._segments, self._segment(item))
        events: list[EventDraft] = []
        for item in self._items(raw, form.EVENTS, "event"):
            with self._dropping_alone("event"):
                _append_new(events, self._event(item))
        patches: list[PatchDraft] = []
        for item in self._items(raw, form.PATCHES, "patch"):
            with self._dropping_alone("patch"):
                _append_new(patches, self._patch(item))
        return Draft(segments=tuple(self._segments), events=tuple(events), patches=tuple(patches), tally=self._tally)

    def _items(self, raw: RawAnswer, name: str, kind: Kind) -> list[Any]:
        items = raw.lists[name]
        self._tally.drop(kind, "too_many", max(0, len(items) - MAX_ITEMS))
        return items[:MAX_ITEMS]

    @contextmanager
    def _dropping_alone(self, kind: Kind) -> Iterator[None]:
        try:
            yield
        except _UnfitItemError as unfit:
            self._tally.drop(kind, unfit.reason)

    def _segment(self, item: Any) -> SegmentDraft:
        fields = _fields(item)
        topic = as_text(fields.get(form.TOPIC), longest=LONGEST_TOPIC)
        ranges = self._ranges(fields.get(form.RANGES))
        if not topic:
            raise _UnfitItemError("no_topic")
        if not ranges:
            raise _UnfitItemError("no_evidence")
        return SegmentDraft(topic=topic, ranges=ranges)

    def _event(self, item: Any) -> EventDraft:
        fields = _fields(item)
        event_type = _named(self._schema.event_types, fields.get(form.TYPE))
        content = as_text(fields.get(form.CONTENT), longest=LONGEST_CONTENT)
        if event_type is None:
            raise _UnfitItemError("unknown_type")
        if not content:
            raise _UnfitItemError("no_content")
        if self._hashes and content_hash(content) in self._hashes:
            raise _UnfitItemError("recalled")
        messages = self._evidence(fields.get(form.MESSAGES))
        said_at = max(self._window.messages[place].event_time for place in messages)
        return EventDraft(
            type=event_type.name,
            content=content,
            properties=self._properties(event_type, fields),
            importance=_or(as_weight(fields.get(form.WEIGHT), heaviest=form.HEAVIEST), _DEFAULT_IMPORTANCE),
            keywords=_keywords(fields.get(form.KEYWORDS)),
            segment=self._segment_about(messages),
            messages=messages,
            event_time=self._event_time(fields.get(form.DATE), said_at),
            said_at=said_at,
        )

    def _patch(self, item: Any) -> PatchDraft:
        fields = _fields(item)
        entity_type = _named(form.patched_types(self._schema), fields.get(form.TYPE))
        if entity_type is None:
            raise _UnfitItemError("unknown_type")
        field = _named(entity_type.patched_properties(), fields.get(form.FIELD))
        if field is None:
            raise _UnfitItemError("unknown_field")
        search = as_text(fields.get(form.SEARCH), longest=LONGEST_PATCH)
        replace = as_text(fields.get(form.REPLACE), longest=LONGEST_PATCH)
        if search == replace:
            raise _UnfitItemError("no_change")
        messages = self._evidence(fields.get(form.MESSAGES))
        time = max(self._window.messages[place].event_time for place in messages)
        return PatchDraft(
            entity_type=entity_type.name,
            entity_key=self._entity_key(entity_type, fields.get(form.KEY), time),
            field=field.name,
            search=search,
            replace=replace,
            messages=messages,
            event_time=time,
        )

    def _ranges(self, value: Any) -> tuple[tuple[int, int], ...]:
        """The ranges within the window, without recalled messages, merged and ascending."""
        places: set[int] = set()
        last = len(self._window.messages) - 1
        for number, found in enumerate(as_ranges(value)):
            if found is None or found[0] > last or number >= MAX_ITEMS:
                self._tally.drop("message", "bad_index")
                continue
            self._tally.drop("message", "bad_index", int(found[1] > last))
            places.update(range(found[0], min(found[1], last) + 1))
        return tuple(_runs(sorted(places - self._recalled)))

    def _segment_about(self, messages: tuple[int, ...]) -> int | None:
        """The segment that holds most of the messages; of several, the one that holds the best of them, then the first."""
        held = [tuple(any(first <= place <= last for first, last in each.ranges) for place in messages) for each in self._segments]
        best = max(range(len(held)), key=lambda segment: (sum(held[segment]), held[segment], -segment), default=None)
        return best if best is not None and any(held[best]) else None

    def _evidence(self, value: Any) -> tuple[int, ...]:
        """The places that an item rests on, in the order given."""
        given = as_indices(value)[:MAX_ITEMS] if value is not None else []
        inside = [place for place in given if place is not None and place < len(self._window.messages)]
        self._tally.drop("message", "bad_index", len(given) - len(inside))
        places = tuple(dict.fromkeys(place for place in inside if place not in self._recalled))[:MAX_EVIDENCE]
        if not places:
            raise _UnfitItemError("recalled" if inside else "no_evidence")
        return places

    def _properties(self, event_type: EventType, fields: dict[str, Any]) -> dict[str, Any]:
        """What stands beside the event's own fields, or apart from them."""
        given = {name: value for name, value in fields.items() if name not in form.EVENT_FIELDS}
        apart = fields.get(form.PROPERTIES)
        if isinstance(apart, dict):
            given |= apart
        else:
            self._tally.drop("property", "not_an_object", int(apart is not None))
        coerced = coerce_properties(event_type, {name: _said(value) for name, value in given.items()})
        for dropped in coerced.dropped:
            self._tally.drop("property", dropped.reason, dropped.count)
        return coerced.properties

    def _event_time(self, value: Any, said_at: datetime) -> datetime:
        """When it happened: the date given; the time it was said where none is, or where it names the same day and no time."""
        if _is_blank(value):
            return said_at
        time = as_time(value, zone=said_at.tzinfo)
        if time is None or not _EARLIEST_YEAR <= time.year <= said_at.year + _LATEST_YEAR_AHEAD:
            self._tally.drop("property", "bad_date")
            return said_at
        is_same_day = len(str(value).strip()) <= len("2023-05-08") and time.date() == said_at.date()
        return said_at if is_same_day else time

    def _entity_key(self, entity_type: EntityType, value: Any, time: datetime) -> str:
        """The entity's key, its parts from the window where they follow from it."""
        texts = [as_text(each, longest=_LONGEST_KEY_PART) for each in (value if isinstance(value, list) else [value])]
        named = form.named_key_parts(entity_type)
        if len(texts) == len(entity_type.keys) > len(named):
            texts = [text for text, key in zip(texts, entity_type.keys, strict=True) if key in named]
        if len(texts) < len(named):
            raise _UnfitItemError("bad_key")
        parts = {
            "user": self._window.user,
            "session": self._window.session,
            "day": time.astimezone(UTC).date().isoformat(),
            **dict(zip(named, texts, strict=False)),
        }
        try:
            return entity_key(*(parts[key] for key in entity_type.keys))
        except KeyFormatError as error:
            raise _UnfitItemError("bad_key") from error


def _fields(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise _UnfitItemError("not_an_object")
    return item


def _named(candidates: Sequence[N], name: Any) -> N | None:
    """The candidate of a name, written as the schema writes it or but for case, blanks and underscores, if only one is meant."""
    if not isinstance(name, str):
        return None
    exact = next((each for each in candidates if each.name == name), None)
    if exact is not None:
        return exact
    alike = [each for each in candidates if _plain(each.name) == _plain(name)]
    return alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "").replace("_", "").replace("-", "")


def _said(value: Any) -> Any:
    """A value without what stands for nothing in it."""
    if isinstance(value, list):
        return [each for each in value if not _is_blank(each)]
    return None if _is_blank(value) else value


def _is_blank(value: Any) -> bool:
    """Whether a model says so that something was not said."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _BLANKS)


def _keywords(value: Any) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    texts = (as_text(each, longest=LONGEST_KEYWORD) for each in given[:MAX_ITEMS])
    return tuple({text.casefold(): text for text in texts if text}.values())[:MAX_KEYWORDS]


def _append_new(kept: list[D], item: D) -> None:
    if item in kept:
        raise _UnfitItemError("repeated")
    kept.append(item)


def _runs(places: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Ascending places as inclusive ranges."""
    first = last = None
    for place in places:
        if first is None or last is None:
            first = last = place
        elif place == last + 1:
            last = place
        else:
            yield first, last
            first = last = place
    if first is not None and last is not None:
        yield first, last


def _or(value: V | None, otherwise: V) -> V:
    return otherwise if value is None else value
