"""Filters of LangGraph's store: by values and by namespaces. Pure, without the framework."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "$gt": lambda value, limit: value > limit,
    "$gte": lambda value, limit: value >= limit,
    "$lt": lambda value, limit: value < limit,
    "$lte": lambda value, limit: value <= limit,
}


def matches(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Whether a value fulfils all conditions of a filter.

    Args:
        value: The value of an item.
        conditions: Per field a value that it has to equal, or comparisons such as ``{"$gte": 3}``. None: every value fulfils it.

    Raises:
        ValueError: If a comparison is unknown.
    """
    return all(_fulfils(value.get(name), condition) for name, condition in (conditions or {}).items())


def has_prefix(namespace: Sequence[str], prefix: Sequence[str]) -> bool:
    """Whether a namespace begins with a prefix. ``*`` in the prefix stands for any label."""
    return len(namespace) >= len(prefix) and all(wanted in ("*", label) for label, wanted in zip(namespace, prefix, strict=False))


def has_suffix(namespace: Sequence[str], suffix: Sequence[str]) -> bool:
    """Whether a namespace ends with a suffix. ``*`` in the suffix stands for any label."""
    return has_prefix(namespace[::-1], suffix[::-1])


def listed(namespaces: Iterable[tuple[str, ...]], *, max_depth: int | None, limit: int, offset: int) -> list[tuple[str, ...]]:
    """A page of namespaces in their order, without duplicates.

    Args:
        namespaces: The namespaces.
        max_depth: Most labels of each; further ones are cut off. None: no limit.
        limit: Most namespaces of the page.
        offset: Namespaces before the page.
    """
    return sorted({each[:max_depth] for each in namespaces})[offset : offset + limit]


def _fulfils(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if any(name.startswith("$") for name in condition):
            return all(_compares(value, name, limit) for name, limit in condition.items())
        return isinstance(value, Mapping) and all(_fulfils(value.get(name), each) for name, each in condition.items())
    if isinstance(condition, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(condition)
        return same and all(_fulfils(each, wanted) for each, wanted in zip(value, condition, strict=True))
    return bool(value == condition)


def _compares(value: Any, name: str, limit: Any) -> bool:
    if name == "$eq":
        return bool(value == limit)
    if name == "$ne":
        return bool(value != limit)
    compare = _COMPARISONS.get(name)
    if compare is None:
        raise ValueError(f"{name}: unknown comparison; expected one of $eq, $ne, {', '.join(_COMPARISONS)}")
    number, bound = _number(value), _number(limit)
    return number is not None and bound is not None and compare(number, bound)


def _number(value: Any) -> float | None:
    """The number that a value is or spells; None for any other."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
