"""Memory schemas: event and entity types as data, read, checked, written, and applied to events' properties."""

from memory.schema.coerce import coerce_properties, coerce_value
from memory.schema.load import load_schema, parse_schema
from memory.schema.model import AggregateExpression, EntityProperty, EntityType, EventType, Filter, MemorySchema, Property
from memory.schema.scenarios import sample_conversation, scenario, scenario_names
from memory.schema.write import to_json

__all__ = [
    "AggregateExpression",
    "EntityProperty",
    "EntityType",
    "EventType",
    "Filter",
    "MemorySchema",
    "Property",
    "coerce_properties",
    "coerce_value",
    "load_schema",
    "parse_schema",
    "sample_conversation",
    "scenario",
    "scenario_names",
    "to_json",
]
