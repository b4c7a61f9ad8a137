"""Writes a schema back as JSON in the form that :mod:`memory.schema.load` reads."""

from pydantic import JsonValue

from memory.schema.model import EntityProperty, EntityType, EventType, MemorySchema, Property


def to_json(schema: MemorySchema) -> dict[str, JsonValue]:
    """The schema as a JSON object; reading it gives an equal schema."""
    return {
        "Name": schema.name,
        "Version": schema.version,
        "Description": schema.description,
        "EventTypes": [_event_type(each) for each in schema.event_types],
        "EntityTypes": [_entity_type(each) for each in schema.entity_types],
    }


def _event_type(each: EventType) -> dict[str, JsonValue]:
    return {
        "EventType": each.name,
        "Description": each.description,
        "Weight": each.weight,
        "Properties": [_property(one) for one in each.properties],
    }


def _entity_type(each: EntityType) -> dict[str, JsonValue]:
    written: dict[str, JsonValue] = {
        "EntityType": each.name,
        "Description": each.description,
        "Keys": list(each.keys),
        "Filters": [{"Property": one.property, "Op": one.op, "Value": one.value} for one in each.filters],
        "Properties": [_entity_property(one) for one in each.properties],
    }
    if each.window_days is not None:
        written["WindowDays"] = each.window_days
    return written


def _property(each: Property) -> dict[str, JsonValue]:
    return {"PropertyName": each.name, "PropertyValueType": each.value_type, "Description": each.description}


def _entity_property(each: EntityProperty) -> dict[str, JsonValue]:
    written = _property(each)
    if each.is_primary_key:
        written["IsPrimaryKey"] = True
    if each.aggregate is not None:
        fields = {"Op": each.aggregate.op, "EventType": each.aggregate.event_type, "EventPropertyName": each.aggregate.event_property}
        written["AggregateExpression"] = {name: value for name, value in fields.items() if value is not None}
    return written
