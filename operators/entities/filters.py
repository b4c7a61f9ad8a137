"""The WHERE clause of an entity type: whether an event meets it."""

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from types import MappingProxyType
from typing import Any, Final

from memory.records import Event
from memory.schema.model import BUILT_IN_FILTERS, AllOf, AnyOf, Condition, Filter, Not

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType({"<": lt, "<=": le, ">": gt, ">=": ge})


def matches(event: Event, condition: Condition) -> bool:
    """Whether an event meets a condition. A missing property, or one of an incomparable type, meets only ``!=``."""
    match condition:
        case AllOf(conditions):
            return all(matches(event, each) for each in conditions)
        case AnyOf(conditions):
            return any(matches(event, each) for each in conditions)
        case Not(inner):
            return not matches(event, inner)
        case Filter():
            return _compares(event, condition)


def _compares(event: Event, condition: Filter) -> bool:
    value = getattr(event, condition.property) if condition.property in BUILT_IN_FILTERS else event.properties.get(condition.property)
    operand = condition.value
    if condition.op == "!=":
        return not _equal(value, operand)
    if value is None:
        return False
    if condition.op == "=":
        return _equal(value, operand)
    if condition.op == "in":
        return isinstance(operand, list) and any(_equal(value, each) for each in operand)
    if condition.op == "contains":
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list) and any(_equal(each, operand) for each in value)
    return _comparable(value, operand) and _COMPARISONS[condition.op](value, operand)


def _equal(left: object, right: object) -> bool:
    """Equality as JSON has it: true is not 1."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _comparable(left: object, right: object) -> bool:
    return (isinstance(left, str) and isinstance(right, str)) or (_is_number(left) and _is_number(right))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
