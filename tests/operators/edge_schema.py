"""A schema with the operator EDGE."""

from typing import Any

from memory.schema import MemorySchema, parse_schema


def edge_schema(**parameters: Any) -> MemorySchema:
    """A schema whose method builds a graph of each user's relations."""
    edges = {"Op": "EDGE", "EventType": "relation", **parameters}
    node = {
        "EntityType": "node",
        "Keys": ["user", "nodes"],
        "Properties": [{"PropertyName": "edges", "PropertyValueType": "string", "AggregateExpression": edges}],
    }
    method = {"Method": "graph", "Extract": {"Relations": True}, "Manage": {"EntityTypes": [node]}}
    return parse_schema({"Name": "graph", "EventTypes": [], "EntityTypes": [], "Method": method})
