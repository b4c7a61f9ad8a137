"""The WHERE clause of an entity type: reading, checking against the source events, and writing.

It selects the events that an entity aggregates. The filter of a query to the stores is :class:`stores.filters.MemoryFilter`.
"""

from collections.abc import Sequence
from typing import Final, cast, get_args

from pydantic import JsonValue

from memory.schema.model import BUILT_IN_FILTERS, NUMERIC_TYPES, AllOf, AnyOf, Condition, EventType, Filter, FilterOp, Not
from memory.schema.node import Node, suggestion
from memory.texts.text import quoted

MAX_DEPTH: Final = 8
"""Maximum nesting depth of conditions."""
MAX_CONDITIONS: Final = 100
"""Maximum number of conditions in a list."""

_FILTER_OPS: Final[tuple[FilterOp, ...]] = get_args(FilterOp)


def read_filters(node: Node, depth: int = 1) -> tuple[Condition, ...]:
    """A list of conditions.

    Args:
        node: The list.
        depth: Nesting depth of the list, from 1.

    Raises:
        memory.errors.SchemaError: At the first error.
    """
    if depth > MAX_DEPTH:
        raise node.fault(f"conditions may be nested at most {MAX_DEPTH} deep")
    items = list(node.items())
    if len(items) > MAX_CONDITIONS:
        raise node.fault(f"a list has at most {MAX_CONDITIONS} conditions, this one has {len(items)}")
    return tuple(_condition(each, depth) for each in items)


def write_condition(condition: Condition) -> JsonValue:
    """A condition in a schema's JSON form."""
    match condition:
        case AllOf(conditions):
            return {"And": [write_condition(each) for each in conditions]}
        case AnyOf(conditions):
            return {"Or": [write_condition(each) for each in conditions]}
        case Not(inner):
            return {"Not": write_condition(inner)}
        case Filter():
            return {"Property": condition.property, "Op": condition.op, "Value": condition.value}


def check_filters(conditions: Sequence[Condition], node: Node, feeding: Sequence[EventType]) -> None:
    """Rejects comparisons with unknown properties or with values of another type.

    Args:
        conditions: The conditions that :func:`read_filters` read from ``node``.
        node: The list.
        feeding: The event types that drive the entity type.

    Raises:
        memory.errors.SchemaError: At the first error.
    """
    if conditions:
        for condition, each in zip(conditions, node.items(), strict=True):
            _check_condition(condition, each, feeding)


def _condition(node: Node, depth: int) -> Condition:
    for word, kind in (("And", AllOf), ("Or", AnyOf)):
        if node.has(word):
            node.check_fields(word)
            conditions = read_filters(node.at(word), depth + 1)
            if not conditions:
                raise node.at(word).fault("needs at least one condition")
            return kind(conditions)
    if node.has("Not"):
        node.check_fields("Not")
        if depth >= MAX_DEPTH:
            raise node.fault(f"conditions may be nested at most {MAX_DEPTH} deep")
        return Not(_condition(node.at("Not"), depth + 1))
    node.check_fields("Property", "Op", "Value", "And", "Or", "Not")
    value = node.at("Value").value
    if value is None:
        raise node.at("Value").fault("missing; a value is required")
    return Filter(
        property=node.at("Property").name(),
        op=node.at("Op").choice(_FILTER_OPS),
        value=cast(JsonValue, value),
    )


def _check_condition(condition: Condition, node: Node, feeding: Sequence[EventType]) -> None:
    match condition:
        case AllOf(conditions):
            check_filters(conditions, node.at("And"), feeding)
        case AnyOf(conditions):
            check_filters(conditions, node.at("Or"), feeding)
        case Not(inner):
            _check_condition(inner, node.at("Not"), feeding)
        case Filter():
            _check_comparison(condition, node, feeding)


def _check_comparison(condition: Filter, node: Node, feeding: Sequence[EventType]) -> None:
    sources = [source for event in feeding if (source := event.property(condition.property))]
    built_in = condition.property in BUILT_IN_FILTERS
    if built_in and sources:
        raise node.at("Property").fault(
            f"{condition.property!r} is a built-in field, but an event of this entity has a property of that name; rename the property"
        )
    if not built_in and not sources:
        options = [*BUILT_IN_FILTERS, *(each.name for event in feeding for each in event.properties)]
        raise node.at("Property").fault(
            f"no event that feeds this entity has {condition.property!r}; {suggestion(condition.property, options)}"
        )
    types = {source.value_type for source in sources} or {"float32" if condition.property == "importance" else "string"}
    for value_type in sorted(types):
        problem = _misfit(condition, value_type)
        if problem:
            raise node.at("Value").fault(f"{problem}; found {quoted(condition.value)}")


def _misfit(condition: Filter, value_type: str) -> str | None:
    """The reason why a filter's value cannot be compared with a property of a type; None if it can."""
    of = f"{condition.property!r} ({value_type})"
    is_list = value_type.startswith("list")
    if condition.op == "contains":
        if not is_list and value_type != "string":
            return f"contains needs a list or a string, not {of}"
        return (
            None if _fits(condition.value, value_type.removeprefix("list<").removesuffix(">")) else f"contains on {of} needs one such value"
        )
    if is_list:
        return f"{of} can only be compared with contains"
    if condition.op == "in":
        fits = isinstance(condition.value, list) and all(_fits(each, value_type) for each in condition.value)
        return None if fits else f"in needs a list of values like {of}"
    if condition.op not in ("=", "!=") and value_type == "bool":
        return f"{of} has no order; use = or !="
    return None if _fits(condition.value, value_type) else f"{condition.op} needs a value like {of}"


def _fits(value: object, scalar_type: str) -> bool:
    if isinstance(value, bool):
        return scalar_type == "bool"
    return isinstance(value, int | float) if scalar_type in NUMERIC_TYPES else scalar_type == "string" and isinstance(value, str)
