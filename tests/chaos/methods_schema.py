"""The schema of the chaos runs with memory methods: that of the other runs, with one entity type for each operator of the methods."""

from typing import Any, Final

from memory.relations import OBJECT, RELATION, SUBJECT
from memory.schema import MemorySchema, parse_schema
from memory.schema.write import to_json
from tests.chaos.schema import chaos_schema

TREE: Final = "topic_tree"
NOTE: Final = "note"
NODE: Final = "node"
COMMUNITY: Final = "community"
HOT: Final = "hot_memory"
FADING: Final = "fading_memory"
TIERS: Final = "tiers"
BLOCK: Final = "core_memory"
METHOD_TYPES: Final = (TREE, NOTE, NODE, COMMUNITY, HOT, FADING, TIERS, BLOCK)
"""The entity types of the operators."""
VALUE: Final = "state"
"""The property of each of them."""

_OPERATORS: Final[tuple[tuple[str, list[str], str, dict[str, Any]], ...]] = (
    (TREE, ["user"], "string", {"Op": "TREE", "EventType": "exercise", "Nodes": 64, "Questions": 1}),
    (NOTE, ["user", "event"], "string", {"Op": "LINK", "EventType": "misconception", "Neighbours": 3}),
    (NODE, ["user", "nodes"], "string", {"Op": "EDGE", "EventType": "relation"}),
    (COMMUNITY, ["user"], "string", {"Op": "CLUSTER", "EventType": "relation", "Questions": 1}),
    (HOT, ["user"], "string", {"Op": "HEAT", "EventType": "exercise", "Length": 0, "Threshold": 100, "Limit": 1000}),
    # It loses no memory during a run, so that each event is counted.
    (
        FADING,
        ["user"],
        "int64",
        {
            "Op": "STRENGTH",
            "EventType": "breakthrough",
            "Strength": {"Length": 366, "Unit": "day"},
            "LeastRetention": 1,
            "Limit": 2000,
            "Ranks": True,
        },
    ),
    (TIERS, ["user"], "string", {"Op": "TIERS", "EventType": "exercise", "Fifo": 6, "Topics": True, "Length": 0, "Threshold": 100}),
    (
        BLOCK,
        ["user"],
        "string",
        {"Op": "AGENT", "EventType": "breakthrough", "EventPropertyName": "content", "Characters": 8000, "Steps": 12, "Tokens": 200_000},
    ),
)


def methods_schema() -> MemorySchema:
    """The schema of the tenants of a run with memory methods."""
    schema = chaos_schema()
    fields = to_json(schema)
    events: Any = fields["EventTypes"]
    names = [{"PropertyName": each, "PropertyValueType": "string"} for each in (SUBJECT, RELATION, OBJECT)]
    events.append({"EventType": "relation", "Description": "A relation of two people or things.", "Properties": names})
    types: Any = fields["EntityTypes"]
    types += [
        {"EntityType": name, "Keys": keys, "Properties": [{"PropertyName": VALUE, "PropertyValueType": kind, "AggregateExpression": made}]}
        for name, keys, kind, made in _OPERATORS
    ]
    return parse_schema(fields, name=schema.name)
