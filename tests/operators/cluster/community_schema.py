"""A schema with the operator CLUSTER."""

from typing import Any

from memory.schema import MemorySchema, parse_schema


def community_schema(**parameters: Any) -> MemorySchema:
    """A schema whose method finds the communities of each user's relations."""
    aggregate = {"Op": "CLUSTER", "EventType": "relation", **parameters}
    properties = [{"PropertyName": "communities", "PropertyValueType": "string", "AggregateExpression": aggregate}]
    community = {"EntityType": "community", "Keys": ["user"], "Properties": properties}
    method = {"Method": "graph", "Extract": {"Relations": True}, "Manage": {"EntityTypes": [community]}}
    return parse_schema({"Name": "graph", "EventTypes": [], "EntityTypes": [], "Method": method})
