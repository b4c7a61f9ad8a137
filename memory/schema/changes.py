"""Checks whether entities can be continued under another schema: fields come and go, operators and their input stay the same."""

from collections.abc import Sequence
from typing import Final

from memory.schema.model import CONTENT, AggregateExpression, EntityProperty, EntityType, MemorySchema, ValueType

_WIDENED: Final[frozenset[tuple[ValueType, ValueType]]] = frozenset({("int64", "float32"), ("list<int64>", "list<float32>")})
"""Changes of a field's type that keep every stored value."""


def problem_of_change(before: MemorySchema, after: MemorySchema, *, earlier: Sequence[MemorySchema] = ()) -> str | None:
    """The reason why entities cannot be continued under another schema; None: they can.

    An operator's state is specific to it: another operator, or the same one with other parameters, could neither continue nor retract it.
    A value of other events, or of another type, would mix what was counted so far with something else.

    Args:
        before: The entities' current schema.
        after: The new schema.
        earlier: Earlier schemas of the entities, newest first: the state of removed types and fields is still stored.
    """
    schemas = [before, *earlier]
    for entity_type in after.entity_types:
        former_types = [kind for schema in schemas if (kind := schema.entity_type(entity_type.name)) is not None]
        if former_types and former_types[0].keys != entity_type.keys:
            former, now = ", ".join(former_types[0].keys), ", ".join(entity_type.keys)
            return f"the entity type {entity_type.name} is grouped by {former}, and would be by {now}"
        for new_field in entity_type.properties:
            known = next(((field, one) for one in former_types if (field := one.property(new_field.name)) is not None), None)
            problem = None if known is None else _problem_of_field(*known, new_field, entity_type)
            if problem is not None:
                return f"the field {new_field.name} of the entity type {entity_type.name} {problem}"
    return None


def _problem_of_field(former: EntityProperty, former_type: EntityType, each: EntityProperty, entity_type: EntityType) -> str | None:
    """The reason why a field's state cannot be continued; None: it can, or the field is a part of the key."""
    driven_formerly, driven = _driven_by(former, former_type), _driven_by(each, entity_type)
    if driven_formerly is None or driven is None:
        return None
    if driven_formerly != driven:
        return f"is made by {driven_formerly}, and would be by {driven}"
    source_formerly, source = _source_of(former.aggregate), _source_of(each.aggregate)
    if source_formerly != source:
        return f"is made from {source_formerly}, and would be from {source}"
    if former.value_type != each.value_type and (former.value_type, each.value_type) not in _WIDENED:
        return f"is of the type {former.value_type}, and would be of {each.value_type}"
    return None


def _driven_by(each: EntityProperty, entity_type: EntityType) -> str | None:
    """A field's operator with its parameters and time window; None for a part of the key."""
    op = entity_type.op_of(each)
    if op is None or each.aggregate is None:
        return op
    parameters = ", ".join(f"{name}={value}" for name, value in each.aggregate.parameters)
    configured = f"{op}({parameters})" if parameters else op
    return configured if entity_type.window is None else f"{configured} over {entity_type.window}"


def _source_of(aggregate: AggregateExpression | None) -> str:
    """The events that an operator reads, or their property."""
    if aggregate is None or aggregate.event_type is None:
        return "patches"
    if aggregate.event_property is None:
        return f"events of the type {aggregate.event_type}"
    what = "texts" if aggregate.event_property == CONTENT else aggregate.event_property
    return f"the {what} of events of the type {aggregate.event_type}"
