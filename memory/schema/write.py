"""Writes a schema back as JSON in the form that :mod:`memory.schema.load` reads."""

from pydantic import JsonValue

from memory.schema.filters import write_condition
from memory.schema.method import write_method
from memory.schema.model import EntityProperty, EntityType, EventType, MemorySchema, Property
from memory.schema.operator_parameters import written


def to_json(schema: MemorySchema) -> dict[str, JsonValue]:
    """The schema as a JSON object; reading it gives an equal schema."""
    own = () if schema.method is None else schema.method.own_entity_types
    derived = () if schema.method is None else schema.method.event_types
    fields: dict[str, JsonValue] = {
        "Name": schema.name,
        "Version": schema.version,
        "Description": schema.description,
        # Defaults are left out, so that the JSON of schemas older than these fields does not change.
        **({} if schema.detail == "brief" else {"Detail": schema.detail}),
        **({} if schema.said else {"Said": False}),
        "EventTypes": [_event_type(each) for each in schema.event_types if each.name not in derived],
        "EntityTypes": [_entity_type(each) for each in schema.entity_types if each.name not in own],
    }
    if schema.method is not None:
        fields["Method"] = write_method(schema.method, [_entity_type(each) for each in schema.entity_types if each.name in own])
    return fields


def _event_type(each: EventType) -> dict[str, JsonValue]:
    return {
        "EventType": each.name,
        "Description": each.description,
        "Weight": each.weight,
        "Properties": [_property(one) for one in each.properties],
    }


def _entity_type(each: EntityType) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {
        "EntityType": each.name,
        "Description": each.description,
        "Keys": list(each.keys),
        "Filters": [write_condition(one) for one in each.filters],
        "Properties": [_entity_property(one) for one in each.properties],
    }
    if each.window is not None:
        fields["Window"] = written(each.window)
    return fields


def _property(each: Property) -> dict[str, JsonValue]:
    return {"PropertyName": each.name, "PropertyValueType": each.value_type, "Description": each.description}


def _entity_property(each: EntityProperty) -> dict[str, JsonValue]:
    fields = _property(each)
    if each.is_primary_key:
        fields["IsPrimaryKey"] = True
    if each.similarity is not None:
        fields["Similarity"] = each.similarity
    if (aggregate := each.aggregate) is not None:
        expression: dict[str, JsonValue] = {"Op": aggregate.op}
        if aggregate.event_type is not None:
            expression["EventType"] = aggregate.event_type
        if aggregate.event_property is not None:
            expression["EventPropertyName"] = aggregate.event_property
        fields["AggregateExpression"] = expression | {name: written(value) for name, value in aggregate.parameters}
    return fields
