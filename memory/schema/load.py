"""Reads memory schemas from JSON in the paper's form (VikingMem 2.2.1, figure 1).

A whole schema is ``{Name, Version, Description, Detail, Said, EventTypes, EntityTypes, Method}``; the paper's bare list of event and entity
types is accepted, too. Fields in addition to the paper's: for an entity type ``Keys``, ``Filters`` (``{Property, Op, Value}``, ``{And}``,
``{Or}``, ``{Not}``) and ``Window`` (``{Length, Unit}``), for a part of its key ``Similarity``, for an event type ``Weight``, in an
``AggregateExpression`` the operator's parameters, and ``Method`` (:mod:`memory.schema.method`). Aliases: ``ProfileType`` for
``EntityType``, ``PropertyType`` for ``PropertyValueType``, and ``WindowDays`` for a window in days.
"""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import orjson

from memory import relations
from memory.errors import SchemaError
from memory.schema.checks import check_entity_types, check_event_types, check_method_paths, check_method_types
from memory.schema.filters import read_filters
from memory.schema.method import RELATION, SEGMENT, TURN, Method, entity_type_nodes, read_method
from memory.schema.model import (
    BUILT_IN_KEYS,
    KEY_ALIASES,
    AggregateExpression,
    Detail,
    EntityProperty,
    EntityType,
    EventType,
    MemorySchema,
    Property,
    ValueType,
)
from memory.schema.node import Node, suggestion
from memory.schema.operator_parameters import read_window
from memory.schema.operator_specs import operator_specs
from memory.schema.time_window import MAX_LENGTH, TimeWindow
from memory.texts.text import quoted

T = TypeVar("T")

MAX_TYPES: Final = 200
"""Limit for event and entity types together: more would not fit into a prompt."""
MAX_PROPERTIES: Final = 2_000
"""Limit for properties of all types together."""

_DERIVED: Final = {
    TURN: EventType(name=TURN, description="One message, unchanged."),
    SEGMENT: EventType(
        name=SEGMENT, description="What was said about one topic.", properties=(Property(name="topic", value_type="string"),)
    ),
    RELATION: EventType(
        name=RELATION,
        description="One relation between two things or people that a message states.",
        properties=(
            Property(name=relations.SUBJECT, value_type="string", description="Who or what the relation is about"),
            Property(name=relations.RELATION, value_type="string", description="The relation, a verb or a noun, as lives in or works at"),
            Property(name=relations.OBJECT, value_type="string", description="The other thing or person"),
            Property(name=relations.ENDS, value_type="bool", description="Whether the message says that the relation holds no longer"),
            Property(
                name=relations.SEVERAL, value_type="bool", description="Whether one can have it to several at a time, as likes or knows"
            ),
        ),
    ),
}
"""The event types that a method can add, by name."""
_AGGREGATE_FIELDS: Final = ("Op", "EventType", "EventPropertyName")
_NAMING_FIELDS: Final = ("EventType", "EntityType", "ProfileType", "PropertyName", "Op", "Method", "Path", "Name")
_REVISION_MARK: Final = "@"
_VALUE_TYPES: Final[tuple[ValueType, ...]] = get_args(ValueType)
_DETAILS: Final[tuple[Detail, ...]] = get_args(Detail)


def load_schema(path: Path) -> MemorySchema:
    """Reads a schema from a JSON file. Default of the schema's name: the file's stem.

    Raises:
        SchemaError: If the file cannot be read or is not a valid schema; names the file and the path in it.
    """
    return read_file(path, "schema", lambda data: parse_schema(data, name=path.stem))


def read_file(path: Path, what: str, read: Callable[[Any], T]) -> T:
    """Reads a JSON file, and names it in errors.

    Args:
        path: The file.
        what: Its content, for errors: ``schema``.
        read: Reads the parsed JSON.

    Raises:
        SchemaError: If the file cannot be read or is not JSON; or as ``read`` raises it, with the file's name.
    """
    try:
        data = orjson.loads(text := path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise SchemaError("", f"cannot read the {what} file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SchemaError("", f"the {what} file {path} is not UTF-8 (byte {error.start}): save it as UTF-8") from error
    except orjson.JSONDecodeError as error:
        raise SchemaError("", f"the {what} file {path} is not JSON: {error}") from error
    try:
        repeated = _repeated_field(text)
    except RecursionError as error:
        raise SchemaError("", f"the {what} file {path} is nested too deeply for a {what}") from error
    if repeated is not None:
        raise SchemaError("", f"{repeated} twice: keep one of them (in {path})")
    try:
        return read(data)
    except SchemaError as error:
        raise SchemaError(error.path, f"{error.problem} (in {path})") from error


def _repeated_field(text: str) -> str | None:
    """The first object that has a field twice, and the field: readers of JSON ignore all but the last."""
    repeated: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        times = Counter(name for name, _ in pairs)
        owner = next((f"{name} {value!r}" for name, value in pairs if name in _NAMING_FIELDS), "an object")
        repeated.extend(f"{owner} has the field {name!r}" for name, count in times.items() if count > 1)

    json.loads(text, object_pairs_hook=note, parse_int=len, parse_float=len)
    return repeated[0] if repeated else None


def parse_schema(data: object, *, name: str = "default") -> MemorySchema:
    """Reads a schema from parsed JSON.

    Args:
        data: A whole schema (an object), or a bare list of event and entity types.
        name: The schema's name if the data contains none.

    Raises:
        SchemaError: With the path of the first error, the value found there, and the expected values.
    """
    root = Node(data)
    if isinstance(data, list):
        event_nodes = [each for each in root.items() if not _is_entity(each)]
        entity_nodes = [each for each in root.items() if _is_entity(each)]
        root = Node({})
    else:
        root.check_fields("Name", "Version", "Description", "Detail", "Said", "EventTypes", "EntityTypes", "Method")
        event_nodes = list(root.at("EventTypes").items()) if root.has("EventTypes") else []
        entity_nodes = list(root.at("EntityTypes").items()) if root.has("EntityTypes") else []
    _check_size(root, event_nodes, entity_nodes)
    method = read_method(root.at("Method")) if root.has("Method") else None
    events = tuple(_event_type(each) for each in event_nodes)
    if method is not None:
        _check_derived_types(method, events, event_nodes)
        events += tuple(_DERIVED[each] for each in method.event_types)
        entity_nodes = [*entity_nodes, *entity_type_nodes(root.at("Method"))]
    schema = MemorySchema(
        name=_schema_name(root.at("Name"), name),
        version=root.at("Version").version() if root.has("Version") else "1",
        description=root.at("Description").text(),
        detail=root.at("Detail").choice(_DETAILS) if root.has("Detail") else "brief",
        said=root.at("Said").value is None or root.at("Said").flag(),
        event_types=events,
        entity_types=tuple(_entity_type(each, events) for each in entity_nodes),
        method=method,
    )
    if not schema.event_types and not schema.entity_types:
        raise root.fault("a schema needs at least one type in EventTypes or EntityTypes")
    check_event_types(events[: len(event_nodes)], event_nodes)
    check_entity_types(schema, entity_nodes)
    if method is not None:
        check_method_types(schema, root.at("Method"))
        check_method_paths(schema, root.at("Method"))
    return schema


def _schema_name(node: Node, default: str) -> str:
    name = default if node.value is None else node.name()
    if _REVISION_MARK in name:
        raise node.fault(f"a schema's name has no {_REVISION_MARK}, which precedes the revision in NAME@REVISION; found {quoted(name)}")
    return name


def _check_derived_types(method: Method, events: tuple[EventType, ...], nodes: list[Node]) -> None:
    for event, node in zip(events, nodes, strict=True):
        if event.name in method.event_types:
            raise node.at("EventType").fault(f"the method {method.name!r} adds an event type {event.name!r}; rename this one")


def _check_size(root: Node, event_nodes: list[Node], entity_nodes: list[Node]) -> None:
    types = len(event_nodes) + len(entity_nodes)
    if types > MAX_TYPES:
        raise root.fault(f"a schema has at most {MAX_TYPES} event and entity types, this one has {types}")
    properties = sum(len(each.value) for node in (*event_nodes, *entity_nodes) if isinstance((each := node.at("Properties")).value, list))
    if properties > MAX_PROPERTIES:
        raise root.fault(f"the types of a schema have at most {MAX_PROPERTIES} properties in all, those of this one have {properties}")


def _is_entity(node: Node) -> bool:
    return node.has("EntityType") or node.has("ProfileType")


def _event_type(node: Node) -> EventType:
    node.check_fields("EventType", "Description", "Properties", "Weight")
    properties = node.at("Properties")
    return EventType(
        name=node.at("EventType").name(),
        description=node.at("Description").text(),
        properties=tuple(_property(each) for each in properties.items()) if node.has("Properties") else (),
        weight=_weight(node.at("Weight")),
    )


def _weight(node: Node) -> float:
    value = 1.0 if node.value is None else node.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise node.fault(f"expected a number from 0 to 1, found {quoted(value)}")
    return float(value)


def _property(node: Node) -> Property:
    node.check_fields("PropertyName", "PropertyValueType", "PropertyType", "Description")
    return Property(name=node.at("PropertyName").name(), value_type=_value_type(node), description=node.at("Description").text())


def _value_type(node: Node) -> ValueType:
    field = "PropertyType" if node.has("PropertyType") and not node.has("PropertyValueType") else "PropertyValueType"
    return node.at(field).choice(_VALUE_TYPES)


def _entity_type(node: Node, events: tuple[EventType, ...]) -> EntityType:
    node.check_fields("EntityType", "ProfileType", "Description", "Properties", "Keys", "Filters", "Window", "WindowDays")
    if node.has("EntityType") and node.has("ProfileType"):
        raise node.at("ProfileType").fault("is another word for EntityType; give one of the two")
    properties = tuple(_entity_property(each) for each in node.at("Properties").items())
    return EntityType(
        name=node.at("ProfileType" if node.has("ProfileType") else "EntityType").name(),
        description=node.at("Description").text(),
        properties=properties,
        keys=tuple(each.name() for each in node.at("Keys").items()) if node.has("Keys") else _keys_of(properties, events),
        filters=read_filters(node.at("Filters")) if node.has("Filters") else (),
        window=_window(node),
    )


def _keys_of(properties: tuple[EntityProperty, ...], events: tuple[EventType, ...]) -> tuple[str, ...]:
    """The keys of the primary key properties; without any, the user."""
    primary = [each.name for each in properties if each.is_primary_key]
    of_events = {each.name for event in events for each in event.properties}
    return tuple(name if name in of_events or name in BUILT_IN_KEYS else KEY_ALIASES.get(name, name) for name in primary) or ("user",)


def _entity_property(node: Node) -> EntityProperty:
    node.check_fields(
        "PropertyName", "PropertyValueType", "PropertyType", "Description", "IsPrimaryKey", "Similarity", "AggregateExpression"
    )
    return EntityProperty(
        name=node.at("PropertyName").name(),
        value_type=_value_type(node),
        description=node.at("Description").text(),
        is_primary_key=node.at("IsPrimaryKey").flag(),
        similarity=_similarity(node.at("Similarity")),
        aggregate=_aggregate(node.at("AggregateExpression")) if node.has("AggregateExpression") else None,
    )


def _similarity(node: Node) -> float | None:
    value = node.value
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise node.fault(f"expected a cosine above 0, at most 1, found {quoted(value)}")
    return float(value)


def _aggregate(node: Node) -> AggregateExpression:
    specs = operator_specs()
    if not node.has("Op"):
        node.check_fields(*_AGGREGATE_FIELDS, *(dict.fromkeys(each.name for spec in specs.values() for each in spec.parameters)))
    op = node.at("Op")
    if isinstance(op.value, str) and op.value not in specs:
        raise op.fault(f"found {quoted(op.value)}; {suggestion(op.value, tuple(specs))}. If it is your own, install its package here")
    spec = specs[op.choice(tuple(specs))]
    node.check_fields(*_AGGREGATE_FIELDS, *(each.name for each in spec.parameters))
    return AggregateExpression(
        op=spec.name,
        event_type=node.at("EventType").name() if node.has("EventType") else None,
        event_property=node.at("EventPropertyName").name() if node.has("EventPropertyName") else None,
        parameters=tuple((each.name, each.read(node.at(each.name))) for each in spec.parameters),
    )


def _window(node: Node) -> TimeWindow | None:
    days = node.at("WindowDays")
    if node.has("Window"):
        if days.value is not None:
            raise days.fault("is another word for a Window in days; give one of the two")
        return read_window(node.at("Window"))
    if days.value is None:
        return None
    return TimeWindow(days.whole_number(1, MAX_LENGTH))
