"""A schema with a tree for each user, and events with chosen vectors for it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from memory.records import Change, Contribution
from memory.schema import parse_schema
from memory.schema.model import EntityType
from memory.vectors import encode_vector, unit
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, from_bytes, to_bytes
from operators.registry import bound_operator
from operators.tree.tree import MemoryTree

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
ANN = "ann"


def tree_type(**parameters: Any) -> EntityType:
    """An entity type with one tree for each user."""
    schema = parse_schema(
        {
            "Name": "talks",
            "EventTypes": [{"EventType": "turn", "Description": "A message."}],
            "EntityTypes": [
                {
                    "EntityType": "talk",
                    "Description": "What the user talks about.",
                    "Keys": ["user"],
                    "Properties": [
                        {
                            "PropertyName": "topics",
                            "PropertyValueType": "string",
                            "AggregateExpression": {"Op": "TREE", "EventType": "turn", **parameters},
                        }
                    ],
                }
            ],
        }
    )
    return schema.entity_types[0]


def operator(entity_type: EntityType) -> MemoryTree:
    """The operator of a type's tree."""
    driver = bound_operator(entity_type, "topics")
    assert driver is not None
    assert isinstance(driver.operator, MemoryTree)
    return driver.operator


def turn(op: str, name: str, vector: Sequence[float], *, minute: int = 0, importance: float = 0.5, text: str | None = None) -> Change:
    """A change of the tree by one event."""
    value = {
        "text": text or f"{name} was said.",
        "importance": importance,
        "message_ids": [f"m-{name}"],
        "user": ANN,
        "window_id": "w",
        "type": "turn",
        "session": "s",
        "properties": {},
        "vector": encode_vector(unit(np.asarray(vector, dtype=np.float32))),
    }
    return Change.model_validate(
        {"op": op, "property": "topics", "source_id": name, "value": value, "event_time": START + timedelta(minutes=minute)}
    )


def contribution(*changes: Change, position: int = 0) -> Contribution:
    """A contribution to Ann's talks."""
    return Contribution.model_validate(
        {
            "tenant": "acme",
            "user": ANN,
            "entity_type": "talk",
            "entity_key": ANN,
            "kind": "change",
            "source": "extractions/0",
            "position": position,
            "changes": [each.model_dump() for each in changes],
            "time": START,
        }
    )


def applied(state: EntityState | None, entity_type: EntityType, *changes: Change, first: int = 0) -> EntityState:
    """The state after changes, one contribution each. It goes through its bytes each time.

    Args:
        state: The state so far.
        entity_type: The type.
        changes: The changes.
        first: The position of the first contribution.
    """
    for position, change in enumerate(changes, first):
        result = apply_contribution(state, contribution(change, position=position), entity_type)
        assert result.refused == (), result.refused
        state = from_bytes(to_bytes(result.state))
    assert state is not None
    return state


def nodes_of(state: EntityState) -> dict[str, Any]:
    """The nodes of the tree by key."""
    if "topics" not in state.properties:
        return {}
    nodes: dict[str, Any] = state.properties["topics"][1].get("nodes", {})
    return nodes


def shape_of(state: EntityState) -> dict[str, str]:
    """The parent of each node."""
    return {key: node["parent"] for key, node in nodes_of(state).items()}
