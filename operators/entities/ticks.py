"""The event time of an entity: when it next changes without an event, and how far it knows the time."""

from typing import Any

from memory.schema.model import EntityType
from operators.aging import AgingOperator
from operators.entities.entity_state import EntityState, current_states
from operators.registry import bound_operators


def due_of(state: EntityState, entity_type: EntityType) -> int | None:
    """The event time of an entity's next change without an event, in microseconds since 1970; None: never."""
    dues = (operator.due(inner) for _, operator, inner in aging_properties(state, entity_type))
    return min((each for each in dues if each is not None), default=None)


def clock_of(state: EntityState, entity_type: EntityType) -> int | None:
    """The event time of an entity's aging properties, in microseconds since 1970; None: it has none."""
    clocks = (operator.clock(inner) for _, operator, inner in aging_properties(state, entity_type))
    return max((each for each in clocks if each is not None), default=None)


def ages(entity_type: EntityType) -> bool:
    """Whether entities of a type change as event time advances."""
    return any(isinstance(bound.operator, AgingOperator) for _, bound in bound_operators(entity_type))


def aging_properties(state: EntityState, entity_type: EntityType) -> list[tuple[str, AgingOperator, Any]]:
    """The properties that change as event time advances, with their operators and states."""
    current = sorted(current_states(state, entity_type), key=lambda each: each[0])
    return [(name, bound.operator, inner) for name, bound, inner in current if isinstance(bound.operator, AgingOperator)]
