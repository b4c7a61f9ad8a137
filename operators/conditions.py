"""Whether an event meets the WHERE clause of an entity type."""

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from types import MappingProxyType
from typing import Any, Final

from memory.records import Event
from memory.schema.model import BUILT_IN_FILTERS, Filter

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = MappingProxyType({"<": lt, "<=": le, ">": gt, ">=": ge})


def holds(condition: Filter, event: Event) -> bool:
    """Whether one condition holds for an event. A missing property, or one of a type that cannot be compared, meets only ``!=``."""
    value = getattr(event, condition.property) if condition.property in BUILT_IN_FILTERS else event.properties.get(condition.property)
    wanted = condition.value
    if condition.op == "!=":
        return not _equal(value, wanted)
    if value is None:
        return False
    if condition.op == "=":
        return _equal(value, wanted)
    if condition.op == "in":
        return isinstance(wanted, list) and any(_equal(value, each) for each in wanted)
    if condition.op == "contains":
        if isinstance(value, str):
            return isinstance(wanted, str) and wanted in value
        return isinstance(value, list) and any(_equal(each, wanted) for each in value)
    return _comparable(value, wanted) and _COMPARISONS[condition.op](value, wanted)


def _equal(one: object, other: object) -> bool:
    """Equality as JSON has it: true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _comparable(one: object, other: object) -> bool:
    return (isinstance(one, str) and isinstance(other, str)) or (_is_number(one) and _is_number(other))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
