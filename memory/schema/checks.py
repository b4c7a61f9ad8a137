"""Checks a schema's consistency: existing names, matching types, keys that every source event has."""

from collections.abc import Sequence

from memory.relations import NODES, RELATION_PROPERTIES
from memory.schema.filters import check_filters
from memory.schema.model import (
    ANY_EVENT,
    BUILT_IN_KEYS,
    CONTENT,
    NUMERIC_TYPES,
    AggregateExpression,
    EntityProperty,
    EntityType,
    EventType,
    MemorySchema,
    Property,
    ValueType,
)
from memory.schema.node import Node, suggestion
from memory.schema.operator_specs import OperatorSpec, operator_specs
from memory.texts.text import quoted


def check_event_types(events: Sequence[EventType], nodes: Sequence[Node]) -> None:
    """Rejects event types or properties with duplicate names.

    Raises:
        SchemaError: At the second of two equal names.
    """
    _check_distinct([each.name for each in events], nodes, "EventType")
    for event, node in zip(events, nodes, strict=True):
        if event.name == ANY_EVENT:
            raise node.at("EventType").fault(f"{ANY_EVENT!r} means all event types; give this one another name")
        _check_distinct([each.name for each in event.properties], _listed(node, "Properties"), "PropertyName")


def check_entity_types(schema: MemorySchema, nodes: Sequence[Node]) -> None:
    """Rejects entity types that are inconsistent with each other or with the schema's event types.

    Args:
        schema: The schema with all its types.
        nodes: The nodes of its entity types in the file, in the same order.

    Raises:
        SchemaError: With the path of the first error.
    """
    _check_distinct([each.name for each in schema.entity_types], nodes, "EntityType")
    for entity, node in zip(schema.entity_types, nodes, strict=True):
        property_nodes = _listed(node, "Properties")
        if not property_nodes:
            raise node.at("Properties").fault("an entity type needs at least one property")
        _check_distinct([each.name for each in entity.properties], property_nodes, "PropertyName")
        feeding = _feeding_types(entity, schema)
        if node.has("Keys"):
            # Before the properties: an error in Keys also makes a primary key property wrong.
            _check_keys(entity, node, schema, feeding)
        for each, property_node in zip(entity.properties, property_nodes, strict=True):
            _check_property(entity, each, property_node, schema)
        if not node.has("Keys"):
            _check_keys(entity, node, schema, feeding)
        check_filters(entity.filters, node.at("Filters"), feeding)


def check_method_types(schema: MemorySchema, method: Node) -> None:
    """Rejects a method that searches or fades memories of unknown types: it would find nothing.

    Args:
        schema: The schema with all its types, those of the method included.
        method: The node of the method's document.

    Raises:
        SchemaError: At the first unknown type.
    """
    retrieve = method.at("Retrieve")
    for node in (method.at("Store"), *_listed(retrieve, "Paths"), retrieve.at("Fading")):
        for type_node in _listed(node, "Types"):
            if type_node.name() not in schema.type_names:
                raise type_node.fault(f"no event or entity type {type_node.name()!r}; {suggestion(type_node.name(), schema.type_names)}")


def check_method_paths(schema: MemorySchema, method: Node) -> None:
    """Rejects a further retriever that searches what an operator publishes, if no entity type has such an operator.

    Args:
        schema: The schema with all its types, those of the method included.
        method: The node of the method's document.

    Raises:
        SchemaError: At the first such retriever.
    """
    specs = operator_specs()
    used = {each.aggregate.op for entity in schema.entity_types for each in entity.properties if each.aggregate is not None}
    for node in _listed(method.at("Retrieve"), "Paths"):
        path = node.at("Path")
        operators = [name for name, spec in specs.items() if path.value in spec.paths]
        if operators and used.isdisjoint(operators):
            raise path.fault(
                f"{path.value!r} searches what {' or '.join(operators)} publishes, and no entity type has such an operator: add one to "
                "Manage.EntityTypes, or remove the path"
            )


def _listed(node: Node, field: str) -> list[Node]:
    return list(node.at(field).items()) if node.has(field) else []


def _check_distinct(names: Sequence[str], nodes: Sequence[Node], field: str) -> None:
    for index, (name, node) in enumerate(zip(names, nodes, strict=True)):
        if name in names[:index]:
            raise node.at(field).fault(f"{name!r} is duplicated; names must be unique")


def _feeding_types(entity: EntityType, schema: MemorySchema) -> list[EventType]:
    """The event types that drive a property of the entity type."""
    aggregates = [each.aggregate for each in entity.properties if each.aggregate is not None]
    return [event for event in schema.event_types if any(schema.feeds(each, event.name) for each in aggregates)]


def _check_property(entity: EntityType, each: EntityProperty, node: Node, schema: MemorySchema) -> None:
    is_key = each.is_primary_key or each.name in entity.keys
    if each.is_primary_key and each.name not in entity.key_names:
        raise node.at("IsPrimaryKey").fault(f"{each.name!r} is not among the Keys; {suggestion(each.name, entity.keys)}")
    if is_key and each.value_type.startswith("list"):
        raise node.at("PropertyValueType").fault(f"a key has one value, not {each.value_type}; use string, int64 or bool")
    if each.similarity is not None:
        _check_similarity(entity, each, each.similarity, node, schema)
    if each.aggregate is None:
        return
    if is_key:
        raise node.at("AggregateExpression").fault("a key is what events are grouped by; it cannot be aggregated")
    _check_aggregate(entity, each, each.aggregate, node, schema)


def _check_similarity(entity: EntityType, each: EntityProperty, similarity: float, node: Node, schema: MemorySchema) -> None:
    if each.name not in entity.key_names:
        raise node.at("Similarity").fault(f"{each.name!r} is not part of the key; only keys can be matched by meaning")
    key = entity.keys[entity.key_names.index(each.name)]
    if key in BUILT_IN_KEYS:
        raise node.at("Similarity").fault(f"{key!r} is a built-in key, whose values cannot be matched by meaning; leave Similarity out")
    if each.value_type != "string":
        raise node.at("PropertyValueType").fault(f"Similarity compares texts, not {each.value_type}; use string, or leave Similarity out")
    others = ((other.name, other.similarities.get(key, similarity)) for other in schema.entity_types)
    for name, other in others:
        if other != similarity:
            raise node.at("Similarity").fault(
                f"{key!r} has the Similarity {other} in {name!r}: a key needs the same Similarity in all entity types"
            )


def _check_aggregate(entity: EntityType, each: EntityProperty, aggregate: AggregateExpression, node: Node, schema: MemorySchema) -> None:
    expression = node.at("AggregateExpression")
    spec = operator_specs()[aggregate.op]
    if spec.input == "patch":
        if aggregate.event_type is not None:
            raise expression.at("EventType").fault("patches come from the extractor, not from events; leave EventType out")
        return
    if aggregate.event_type is None:
        raise expression.at("EventType").fault(f"missing; {aggregate.op} needs the event type that drives it")
    _check_window(spec, entity, expression)
    if spec.keys and set(entity.keys) != set(spec.keys):
        raise expression.at("Op").fault(f"{spec.name} needs an entity type with the Keys {quoted(list(spec.keys))}")
    if spec.properties:
        _check_properties(spec, [each for each in schema.event_types if schema.feeds(aggregate, each.name)], expression.at("EventType"))
    if aggregate.event_type == ANY_EVENT:
        _check_any_event(spec, aggregate, expression)
        _check_result(spec, each, aggregate, None, node.at("PropertyValueType"))
        return
    event = schema.event_type(aggregate.event_type)
    if event is None:
        known = [known.name for known in schema.event_types]
        hint = suggestion(aggregate.event_type, known) if known else "the schema has no EventTypes"
        raise expression.at("EventType").fault(f"no event type {aggregate.event_type!r}; {hint}")
    source = _source_property(aggregate, event, expression.at("EventPropertyName"))
    _check_input(spec, aggregate, event, source, expression.at("EventPropertyName"))
    _check_result(spec, each, aggregate, source, node.at("PropertyValueType"))


def _check_window(spec: OperatorSpec, entity: EntityType, expression: Node) -> None:
    if spec.window == "required" and entity.window is None:
        raise expression.at("Op").fault(f"{spec.name} needs a time window: give the entity type a Window")
    if spec.window == "none" and entity.window is not None:
        raise expression.at("Op").fault(f"{spec.name} takes no time window; put it into an entity type without a Window")


def _check_properties(spec: OperatorSpec, feeding: Sequence[EventType], node: Node) -> None:
    """Rejects an operator to which no event could contribute. Events without the properties are left out at run time."""
    if feeding and not _has_all(feeding, spec.properties):
        names = " or ".join(repr(each.name) for each in feeding)
        raise node.fault(f"{spec.name} needs an event type with the properties {', '.join(spec.properties)}; {names} has not all of them")


def _has_all(events: Sequence[EventType], properties: Sequence[str]) -> bool:
    """Whether one of the event types has all of the properties."""
    return any(all(event.property(name) for name in properties) for event in events)


def _check_any_event(spec: OperatorSpec, aggregate: AggregateExpression, expression: Node) -> None:
    """Events of different types have only their text in common."""
    if aggregate.event_property not in (None, CONTENT):
        raise expression.at("EventPropertyName").fault(f"events of all types have only their {CONTENT!r}; name one event type instead")
    if spec.input in ("number", "value", "scalar") and (aggregate.event_property is None or spec.input == "number"):
        raise expression.at("EventType").fault(f"{spec.name} needs a property; name one event type that has it")


def _source_property(aggregate: AggregateExpression, event: EventType, node: Node) -> Property | None:
    """The event property that feeds the aggregate; None for the event's text, or for the event as such."""
    name = aggregate.event_property
    if name is None:
        return None
    source = event.property(name)
    if name == CONTENT and source is not None:
        raise node.fault(f"{CONTENT!r} means the event's text, but {event.name!r} has a property of that name; rename the property")
    if name != CONTENT and source is None:
        raise node.fault(f"the event type {event.name!r} has no property {name!r}; {_one_of(event)}")
    return source


def _check_input(spec: OperatorSpec, aggregate: AggregateExpression, event: EventType, source: Property | None, node: Node) -> None:
    if spec.input in ("event", "whole", "detailed", "embedded"):
        return
    is_numeric = spec.input == "number"
    if aggregate.event_property is None or (is_numeric and source is None):
        needed = "a numeric property" if is_numeric else "a property"
        found = "the event's text" if aggregate.event_property else "nothing"
        raise node.fault(f"{spec.name} needs {needed} of {event.name!r}, found {found}; {_one_of(event, numeric=is_numeric)}")
    if source is None:
        return
    if is_numeric and source.value_type not in NUMERIC_TYPES:
        raise node.fault(f"{spec.name} needs int64 or float32, but {source.name!r} is {source.value_type}; {_one_of(event, numeric=True)}")
    if spec.input == "scalar" and source.value_type.startswith("list"):
        raise node.fault(f"{spec.name} needs one value of each event, but {source.name!r} is {source.value_type}")


def _one_of(event: EventType, *, numeric: bool = False) -> str:
    names = [each.name for each in event.properties if not numeric or each.value_type in NUMERIC_TYPES]
    return suggestion("", names) if names else f"it has no {'numeric ' if numeric else ''}property"


def _check_result(spec: OperatorSpec, each: EntityProperty, aggregate: AggregateExpression, source: Property | None, node: Node) -> None:
    content: ValueType | None = "string" if aggregate.event_property == CONTENT else None
    right = spec.gives(source.value_type if source else content)
    if isinstance(right, str):
        raise node.fault(
            f"the spec of the operator {spec.name!r} is wrong: gives must return a tuple of types, ({right!r},), not {right!r}"
        )
    if each.value_type not in right:
        of = f" of {source.value_type}" if source else ""
        raise node.fault(f"{spec.name}{of} gives {' or '.join(right)}, not {each.value_type}")


def _check_keys(entity: EntityType, node: Node, schema: MemorySchema, feeding: Sequence[EventType]) -> None:
    if not entity.keys:
        raise node.at("Keys").fault(f"an entity type needs at least one key: {', '.join(BUILT_IN_KEYS)} or a property of its events")
    if len(set(entity.keys)) < len(entity.keys):
        raise node.at("Keys").fault(f"duplicate key in {quoted(list(entity.keys))}")
    for index, key in enumerate(entity.keys):
        key_node = _key_node(entity, index, node)
        if key in BUILT_IN_KEYS:
            _check_built_in_key(key, key_node, feeding)
        else:
            _check_property_key(entity, key, key_node, schema, feeding)


def _check_built_in_key(key: str, node: Node, feeding: Sequence[EventType]) -> None:
    if key == NODES and feeding and not _has_all(feeding, RELATION_PROPERTIES):
        raise node.fault(
            f"{NODES!r} groups by the subject and the object of a relation, but no event type that feeds this entity has the "
            f"properties {', '.join(RELATION_PROPERTIES)}"
        )
    if any(event.property(key) for event in feeding):
        raise node.fault(f"{key!r} is a built-in key, but an event of this entity has a property of that name; rename the property")


def _check_property_key(entity: EntityType, key: str, node: Node, schema: MemorySchema, feeding: Sequence[EventType]) -> None:
    for event in feeding:
        source = event.property(key)
        if source is None:
            options = [*BUILT_IN_KEYS, *(each.name for each in event.properties)]
            raise node.fault(f"the event type {event.name!r} has no property {key!r} to group by; {suggestion(key, options)}")
        if source.value_type.startswith("list") and key in entity.similarities:
            raise node.fault(f"{key!r} is {source.value_type} in the event type {event.name!r}; a list has no Similarity, leave it out")
    if not feeding and entity.property(key) is None and not any(event.property(key) for event in schema.event_types):
        raise node.fault(
            f"nothing has a property {key!r} to group by; expected one of {', '.join(BUILT_IN_KEYS)} or a property of an event"
        )


def _key_node(entity: EntityType, index: int, node: Node) -> Node:
    """The node of a key: in Keys, or the primary key property that represents it."""
    if node.has("Keys"):
        return list(node.at("Keys").items())[index]
    name = entity.key_names[index]
    properties = zip(entity.properties, node.at("Properties").items(), strict=True)
    return next((each_node.at("PropertyName") for each, each_node in properties if each.name == name), node)
