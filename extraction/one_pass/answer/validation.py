"""Validates the items of an answer against window and schema. Each invalid one is dropped alone and counted. Never raises."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, TypeVar

from extraction.bounds import (
    LONGEST_CONTENT,
    LONGEST_KEYWORD,
    LONGEST_PATCH,
    LONGEST_TOPIC,
    MAX_ITEMS,
    MAX_KEYWORDS,
    bounded_searches,
)
from extraction.drafts import Draft, DropCounter, EventDraft, Kind, PatchDraft, SegmentDraft
from extraction.one_pass.answer import form
from extraction.one_pass.answer.coercion import as_object, as_text, as_weight
from extraction.one_pass.answer.dates import When, read_when
from extraction.one_pass.answer.event_types import EventTypes
from extraction.one_pass.answer.evidence import InvalidItemError, MessageReferences, first_number
from extraction.one_pass.answer.names import candidate_named, named_fields, plain_name
from extraction.one_pass.answer.parsing import RawAnswer
from extraction.one_pass.answer.quotations import Quotations
from extraction.one_pass.extraction_input import ExtractionInput
from memory.errors import KeyFormatError
from memory.keys import entity_key, key_part
from memory.lenient_json import Repeated, looks_like_json, read_json
from memory.schema import EntityType, EventType, coerce_properties
from memory.texts.text import content_hash

D = TypeVar("D", SegmentDraft, EventDraft, PatchDraft)

_DEFAULT_IMPORTANCE: Final = 0.5
_BLANKS: Final = ("", "null")
_EMPTY_LISTS: Final = frozenset({"none", "nobody", "nothing", "n/a"})


def validate_answer(raw: RawAnswer, source: ExtractionInput, quotations: Quotations | None = None) -> Draft:
    """The valid items of an answer, and counts of what was dropped. No evidence points to a recalled message.

    Args:
        raw: The answer.
        source: The window and the schema.
        quotations: The texts whose JSON may not be copied; such items are dropped as ``quoted``. Default: the window's messages.
    """
    return _Validator(raw, source, quotations or Quotations(source)).draft()


class _Validator:
    def __init__(self, raw: RawAnswer, source: ExtractionInput, quotations: Quotations) -> None:
        self._raw = raw
        self._window = source.window
        self._schema = source.schema
        self._recalled_hashes = source.recalled_hashes
        self._tally = DropCounter()
        self._references = MessageReferences(source, self._tally, first=first_number(raw, source.window))
        self._quotations = quotations
        self._segments: list[SegmentDraft] = []
        self._has_evidence = False
        """Whether any event names a message; if none does, the answer missed the form, and no evidence is guessed."""

    def draft(self) -> Draft:
        for item in self._items(form.SEGMENTS, "segment"):
            with self._dropping_invalid("segment"):
                self._reject_quotation(form.SEGMENTS, item)
                _append_new(self._segments, self._segment(item))
        events: list[EventDraft] = []
        items = self._items(form.EVENTS, "event")
        types = EventTypes(self._schema, items, self._tally)
        self._has_evidence = any(self._references.name_one(each) for each in items)
        for item in items:
            with self._dropping_invalid("event"):
                self._reject_quotation(form.EVENTS, item)
                _append_new(events, self._event(item, types))
        patches: list[PatchDraft] = []
        for item in self._items(form.PATCHES, "patch"):
            with self._dropping_invalid("patch"):
                self._reject_quotation(form.PATCHES, item)
                _append_new(patches, self._patch(item))
        patches = bounded_searches(patches, self._tally)
        return Draft(segments=tuple(self._segments), events=tuple(events), patches=tuple(patches), tally=self._tally)

    def _items(self, name: str, kind: Kind) -> list[Any]:
        items = self._raw.lists[name]
        self._tally.drop(kind, "too_many", max(0, len(items) - MAX_ITEMS))
        return items[:MAX_ITEMS]

    @contextmanager
    def _dropping_invalid(self, kind: Kind) -> Iterator[None]:
        try:
            yield
        except InvalidItemError as error:
            self._tally.drop(kind, error.reason)

    def _reject_quotation(self, kind: str, item: Any) -> None:
        if self._quotations.hold(kind, item):
            raise InvalidItemError("quoted")

    def _segment(self, item: Any) -> SegmentDraft:
        fields = _fields(item)
        topic = as_text(fields.get(form.TOPIC), longest=LONGEST_TOPIC)
        ranges = self._references.ranges(fields.get(form.RANGES))
        if not topic:
            raise InvalidItemError("no_topic")
        if not ranges:
            raise InvalidItemError("no_evidence")
        return SegmentDraft(topic=topic, ranges=ranges)

    def _event(self, item: Any, types: EventTypes) -> EventDraft:
        event_type = types.of(_fields(item))
        fields = _fields(item, reserved=[each.name for each in event_type.properties])
        content = as_text(_only_item(fields.get(form.CONTENT)), longest=LONGEST_CONTENT)
        if not any(each.isalnum() for each in content):
            raise InvalidItemError("no_content")
        if self._recalled_hashes and content_hash(content) in self._recalled_hashes:
            raise InvalidItemError("recalled")
        messages = self._references.evidence(fields.get(form.MESSAGES), content=content if self._has_evidence else "")
        said_at = max(self._window.messages[index].event_time for index in messages)
        when = self._when(fields.get(form.DATE), said_at)
        weight = as_weight(fields.get(form.WEIGHT), max_weight=form.MAX_WEIGHT)
        return EventDraft(
            type=event_type.name,
            content=content,
            properties=self._properties(event_type, fields),
            importance=_DEFAULT_IMPORTANCE if weight is None else weight,
            keywords=_keywords(fields.get(form.KEYWORDS)),
            segment=_segment_about(messages, self._segments),
            messages=messages,
            event_time=when.event_time,
            date=when.date,
            said_at=said_at,
        )

    def _patch(self, item: Any) -> PatchDraft:
        fields = _fields(item)
        entity_type = candidate_named(form.patched_types(self._schema), fields.get(form.TYPE))
        if entity_type is None:
            raise InvalidItemError("unknown_type")
        field = candidate_named(entity_type.patched_properties(), fields.get(form.FIELD))
        if field is None:
            raise InvalidItemError("unknown_field")
        if len(str(fields.get(form.SEARCH, ""))) > LONGEST_PATCH:
            raise InvalidItemError("search_too_long")
        search = as_text(fields.get(form.SEARCH), longest=LONGEST_PATCH)
        replace = as_text(_joined(fields.get(form.REPLACE), "\n"), longest=LONGEST_PATCH)
        if search == replace:
            raise InvalidItemError("no_change")
        messages = self._references.evidence(fields.get(form.MESSAGES))
        time = max(self._window.messages[index].event_time for index in messages)
        return PatchDraft(
            entity_type=entity_type.name,
            entity_key=self._entity_key(entity_type, fields.get(form.KEY), time),
            field=field.name,
            search=search,
            replace=replace,
            messages=messages,
            event_time=time,
        )

    def _is_own(self, user: Any) -> bool:
        """Whether a text that stands in the place of the user in a key names the window's: by id, by speaker, or not at all."""
        if _is_blank(user):
            return True
        own = {"user", self._window.user, *self._window.users}
        own.update(each.speaker or "" for each in self._window.messages if each.role == "user")
        return isinstance(user, str) and user.strip().casefold() in {each.strip().casefold() for each in own}

    def _properties(self, event_type: EventType, fields: dict[str, Any]) -> dict[str, Any]:
        """The properties among the event's own fields, and those in a separate object."""
        given = {name: value for name, value in fields.items() if name not in form.EVENT_FIELDS}
        nested = fields.get(form.PROPERTIES)
        given |= as_object(nested)
        self._tally.drop("property", "not_an_object", int(nested is not None and not as_object(nested) and nested not in ({}, "{}")))
        known = {plain_name(each.name): each.name for each in event_type.properties}
        named = {name if name in known.values() else known.get(plain_name(name), name): value for name, value in given.items()}
        types = {each.name: each.value_type for each in event_type.properties}
        coerced = coerce_properties(event_type, {name: _of_type(value, types.get(name, "")) for name, value in named.items()})
        self._tally.drop_properties(coerced.dropped)
        return coerced.properties

    def _when(self, value: Any, said_at: datetime) -> When:
        when = When(said_at) if _is_blank(value) else read_when(value, said_at)
        self._tally.drop("property", "bad_date", int(not when.is_understood))
        return when

    def _entity_key(self, entity_type: EntityType, value: Any, time: datetime) -> str:
        """The entity's key: what the patch names, and what follows from the window. A key that is not whole is refused, never repaired."""
        given = value if isinstance(value, list) else [value]
        named = form.named_key_parts(entity_type)
        if len(given) == len(entity_type.keys) > len(named):
            whole = dict(zip(entity_type.keys, given, strict=True))
            if not self._is_own(whole.get("user")):
                raise InvalidItemError("bad_key")
            given = [each for key, each in whole.items() if key in named]
        if named and len(given) != len(named):
            raise InvalidItemError("bad_key")
        parts = {
            "user": self._window.user,
            "session": self._window.session,
            "day": time.date().isoformat(),
            **{key: key_part(each) or "" for key, each in zip(named, given, strict=False)},
        }
        try:
            return entity_key(*(parts[key] for key in entity_type.keys))
        except KeyFormatError as error:
            raise InvalidItemError("bad_key") from error


def _fields(item: Any, *, reserved: Sequence[str] = ()) -> dict[str, Any]:
    """An item under the form's names.

    Raises:
        InvalidItemError: If it is no object, or gives one field different values.
    """
    if not isinstance(item, dict):
        raise InvalidItemError("not_an_object")
    fields = named_fields(item, reserved=reserved)
    if any(isinstance(value, Repeated) for value in fields.values()):
        raise InvalidItemError("repeated_field")
    return fields


def _of_type(value: Any, value_type: str) -> Any:
    """A property's value without blanks; the texts of a list in one, where the type has one."""
    if value_type.startswith("list"):
        return _items(value)
    return _joined(_without_blanks(value), ", ") if value_type == "string" else _without_blanks(value)


def _joined(value: Any, separator: str) -> Any:
    """A list of texts as one text."""
    return separator.join(value) if isinstance(value, list) and value and all(isinstance(each, str) for each in value) else value


def _only_item(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _items(value: Any) -> Any:
    """A value of a list without the blanks in it, and without the words by which models say that it is empty."""
    value = _without_blanks(value)
    items = value if isinstance(value, list) else [value]
    is_empty = bool(items) and all(isinstance(each, str) and each.strip().casefold() in _EMPTY_LISTS for each in items)
    return None if is_empty else value


def _without_blanks(value: Any) -> Any:
    """A value without the blanks in it."""
    if isinstance(value, list):
        return [each for each in value if not _is_blank(each)]
    return None if _is_blank(value) else value


def _is_blank(value: Any) -> bool:
    """Whether a value is how models write that something was not said."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _BLANKS)


def _keywords(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = next(iter(read_json(value)), []) if looks_like_json(value) else value.split(",")
    given = value if isinstance(value, list) else []
    texts = (as_text(each, longest=LONGEST_KEYWORD) for each in given[:MAX_ITEMS])
    return tuple({text.casefold(): text for text in texts if text}.values())[:MAX_KEYWORDS]


def _append_new(items: list[D], item: D) -> None:
    if item in items:
        raise InvalidItemError("repeated")
    items.append(item)


def _segment_about(messages: tuple[int, ...], segments: Sequence[SegmentDraft]) -> int | None:
    """The segment that holds most of the messages; of several, the one that holds the best of them, then the first."""
    held = [tuple(any(first <= index <= last for first, last in each.ranges) for index in messages) for each in segments]
    best = max(range(len(held)), key=lambda segment: (sum(held[segment]), held[segment], -segment), default=None)
    return best if best is not None and any(held[best]) else None
