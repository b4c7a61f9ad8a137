"""The form of an answer: what the one-pass prompt asks for, as a JSON schema, and the names of its fields.

``{"segments": [{"topic", "ranges"}], "events": [{"type", "msgs", "date", "content", ..., "keywords", "weight"}],
"patches": [{"type", "key", "field", "msgs", "search", "replace"}]}``. Short whole words cost one token each, as single letters do,
and any model understands them. The segment of an event is not asked for: it
follows from the event's messages. A type's properties are fields of the event, like its own fields.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from memory.lenient_json import INTEGERS, Partial, Repeated
from memory.schema.model import EntityType, EventType, MemorySchema, ValueType
from memory.texts.text import join_surrogates

SEGMENTS: Final = "segments"
EVENTS: Final = "events"
PATCHES: Final = "patches"
LISTS: Final = (SEGMENTS, EVENTS, PATCHES)

TYPE: Final = "type"
MESSAGES: Final = "msgs"

TOPIC: Final = "topic"
RANGES: Final = "ranges"

DATE: Final = "date"
CONTENT: Final = "content"
PROPERTIES: Final = "props"
"""Holds the properties of a type that has one named as an event's own field."""
KEYWORDS: Final = "keywords"
WEIGHT: Final = "weight"
MAX_WEIGHT: Final = 10
"""``weight`` is a whole number from 0 to this: one token, where a fraction costs three."""

EVENT_FIELDS: Final = frozenset({TYPE, MESSAGES, DATE, CONTENT, PROPERTIES, KEYWORDS, WEIGHT})

KEY: Final = "key"
FIELD: Final = "field"
SEARCH: Final = "search"
REPLACE: Final = "replace"

KNOWN_FROM_WINDOW: Final = ("user", "session", "day")
"""Parts of an entity's key that no answer has to name."""

_DOUBLE_BITS: Final = 1023
_MAX_DEPTH: Final = 100

_MAX_RANGES: Final = 12
_MAX_INDICES: Final = 20
_MAX_KEYWORDS: Final = 2

_JSON_TYPES: Final[Mapping[ValueType, Mapping[str, Any]]] = {
    "int64": {"type": ["integer", "null"]},
    "float32": {"type": ["number", "null"]},
    "string": {"type": "string"},
    "bool": {"type": ["boolean", "null"]},
    "list<int64>": {"type": "array", "items": {"type": "integer"}},
    "list<float32>": {"type": "array", "items": {"type": "number"}},
    "list<string>": {"type": "array", "items": {"type": "string"}},
    "list<bool>": {"type": "array", "items": {"type": "boolean"}},
}


def patched_types(schema: MemorySchema) -> tuple[EntityType, ...]:
    """The entity types that have at least one property which patches set."""
    return tuple(entity_type for entity_type in schema.entity_types if entity_type.patched_properties())


def named_key_parts(entity_type: EntityType) -> tuple[str, ...]:
    """The parts of an entity's key that a patch has to name; the others follow from the window."""
    return tuple(part for part in entity_type.keys if part not in KNOWN_FROM_WINDOW)


def need_own_object(names: Iterable[str]) -> bool:
    """Whether properties of these names need their own object: one has the name of an event's own field."""
    return not EVENT_FIELDS.isdisjoint(names)


def property_fields(values: Mapping[str, Any], *, names: Iterable[str]) -> dict[str, Any]:
    """An event's properties as fields of its item.

    Args:
        values: Those that the event has.
        names: All that its type has.
    """
    return {PROPERTIES: dict(values)} if need_own_object(names) else dict(values)


def encode_answer(lists: Mapping[str, Iterable[Any]]) -> str:
    """An answer as the shortest JSON of its form. Never raises on what was read of a model's answer."""
    answer = {name: list(items) for name, items in lists.items()}
    try:
        return orjson.dumps(answer, option=orjson.OPT_PASSTHROUGH_DATACLASS).decode()
    except orjson.JSONEncodeError:
        return orjson.dumps(_json_safe(answer, depth=0)).decode()


def answer_schema(schema: MemorySchema) -> dict[str, Any]:
    """The JSON schema of an answer under a memory schema: equal bytes for equal schemas, for every window.

    It keeps to what strict endpoints accept: every property required and no further ones; what is absent is an empty text (a token less
    than null, and no union of types), an empty list or null. Lists of numbers and
    keywords are bounded: small models count on without end there.
    """
    ranges = _list_of(_list_of({"type": "integer"}, minItems=2, maxItems=2), maxItems=_MAX_RANGES)
    lists: dict[str, Any] = {SEGMENTS: _list_of(_object({TOPIC: {"type": "string"}, RANGES: ranges}))}
    if schema.event_types:
        lists[EVENTS] = _list_of(_one_of(_event_schema(event_type) for event_type in schema.event_types))
    if entity_types := patched_types(schema):
        lists[PATCHES] = _list_of(_one_of(_patch_schema(entity_type) for entity_type in entity_types))
    return _object(lists)


def _json_safe(value: Any, *, depth: int) -> Any:
    """A value without what JSON cannot hold: halves of characters, integers out of 64 bits, nesting too deep, what was cut."""
    if isinstance(value, Partial):
        value = value.value
    if isinstance(value, Repeated):
        value = value.values[-1]
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, int) and value not in INTEGERS:
        return float(value) if value.bit_length() <= _DOUBLE_BITS else None
    if isinstance(value, list | dict) and depth >= _MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [_json_safe(each, depth=depth + 1) for each in value]
    if isinstance(value, dict):
        return {join_surrogates(name): _json_safe(each, depth=depth + 1) for name, each in value.items()}
    return value


def _event_schema(event_type: EventType) -> dict[str, Any]:
    fields: dict[str, Any] = {
        TYPE: {"type": "string", "enum": [event_type.name]},
        MESSAGES: _indices(),
        DATE: {"type": "string"},
        CONTENT: {"type": "string"},
    }
    properties = {each.name: dict(_JSON_TYPES[each.value_type]) for each in event_type.properties}
    fields |= {PROPERTIES: _object(properties)} if need_own_object(properties) else properties
    return _object(fields | {KEYWORDS: _list_of({"type": "string"}, maxItems=_MAX_KEYWORDS), WEIGHT: {"type": "integer"}})


def _patch_schema(entity_type: EntityType) -> dict[str, Any]:
    fields: dict[str, Any] = {TYPE: {"type": "string", "enum": [entity_type.name]}}
    if named_key_parts(entity_type):
        fields[KEY] = _list_of({"type": "string"})
    names = [field.name for field in entity_type.patched_properties()]
    return _object(
        fields | {FIELD: {"type": "string", "enum": names}, MESSAGES: _indices(), SEARCH: {"type": "string"}, REPLACE: {"type": "string"}}
    )


def _indices() -> dict[str, Any]:
    return _list_of({"type": "integer"}, maxItems=_MAX_INDICES)


def _list_of(items: Mapping[str, Any], **bounds: int) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), **bounds}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


def _one_of(schemas: Iterable[dict[str, Any]]) -> dict[str, Any]:
    alternatives = list(schemas)
    return alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
