"""mem0's filter grammar: ``AND``, ``OR``, ``NOT``, and comparisons of fields. Siblings are joined by ``AND``."""

import ast
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from api.mem0.owners import ID_FIELDS, varve_user
from memory.texts.text import quoted

Item = Mapping[str, Any]
"""A memory as mem0 returns it."""

_Condition = tuple[Callable[[Item], bool], frozenset[str] | None]
"""Whether a memory meets it, and the users in Varve whose memories can; None: those of any user."""

MAX_DEPTH: Final = 8
MAX_CONDITIONS: Final = 100
_TIMES: Final = ("created_at", "updated_at", "timestamp", "expiration_date")
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": lambda left, right: left > right,
    "gte": lambda left, right: left >= right,
    "lt": lambda left, right: left < right,
    "lte": lambda left, right: left <= right,
}
_OPERATORS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(ID_FIELDS, ("eq", "ne", "in")),
    **dict.fromkeys(_TIMES, (*_COMPARISONS, "ne", "in", "eq")),
    "categories": ("eq", "ne", "in", "contains"),
    "keywords": ("eq", "contains", "icontains"),
    "text": ("eq", "contains", "icontains"),
    "memory_ids": ("eq", "in"),
}
"""The fields that a filter may name, with their operators."""


class FilterError(ValueError):
    """A filter is not one of mem0's grammar, or needs data that Varve does not store."""


class MemoryFilters:
    """One parsed filter.

    Args:
        fields: The filter. None or empty: it accepts every memory.

    Raises:
        FilterError: If it is invalid; names the key.
    """

    def __init__(self, fields: Any) -> None:
        self._left = MAX_CONDITIONS
        self._accepts, self.users = (_everything, None) if fields in (None, {}) else self._all(fields, 0)
        self.is_empty = fields in (None, {})

    def accepts(self, item: Item) -> bool:
        """Whether the filter accepts a memory."""
        return self._accepts(item)

    users: frozenset[str] | None
    """The users in Varve whose memories it can accept. None: any."""

    def _all(self, fields: Any, depth: int) -> _Condition:
        if not isinstance(fields, dict) or not fields:
            raise FilterError(f"filters: expected an object with conditions, found {quoted(fields)}")
        if depth > MAX_DEPTH:
            raise FilterError(f"filters: conditions may be nested {MAX_DEPTH} times")
        return _conjunction([self._one(str(name), value, depth) for name, value in fields.items()])

    def _one(self, name: str, value: Any, depth: int) -> _Condition:
        self._left -= 1
        if self._left < 0:
            raise FilterError(f"filters: at most {MAX_CONDITIONS} conditions")
        if name in ("AND", "OR", "NOT"):
            return self._combined(name, value, depth)
        if name == "metadata":
            raise FilterError("filters.metadata: Varve does not return the metadata of messages with memories, so it cannot filter by it")
        if name not in _OPERATORS:
            raise FilterError(f"filters.{name}: unknown field; expected one of AND, OR, NOT, {', '.join(_OPERATORS)}")
        comparisons = value if isinstance(value, dict) else {"in" if isinstance(value, list) else "eq": value}
        unknown = [each for each in comparisons if each not in _OPERATORS[name]]
        if unknown or not comparisons:
            found = ", ".join(map(str, unknown)) or "nothing"
            raise FilterError(f"filters.{name}: expected one of {', '.join(_OPERATORS[name])}, found {found}")
        self._left -= sum(len(each) for each in comparisons.values() if isinstance(each, list))
        if self._left < 0:
            raise FilterError(f"filters: at most {MAX_CONDITIONS} conditions and values of lists")
        tests = [_comparison(name, operator, operand) for operator, operand in comparisons.items()]
        return lambda item: all(test(item) for test in tests), _users(name, comparisons)

    def _combined(self, name: str, value: Any, depth: int) -> _Condition:
        branches = value if isinstance(value, list) else [value]
        if not branches:
            raise FilterError(f"filters.{name}: expected a list of conditions, found an empty one")
        parts = [self._all(each, depth + 1) for each in branches]
        if name == "AND":
            return _conjunction(parts)
        if name == "OR":
            complete = [users for _, users in parts if users is not None]
            users = frozenset.union(*complete) if len(complete) == len(parts) else None
            return lambda item: any(accepts(item) for accepts, _ in parts), users
        return lambda item: not any(accepts(item) for accepts, _ in parts), None


def _conjunction(parts: Sequence[_Condition]) -> _Condition:
    # A condition without users restricts none: without user_id, an agent's memories may also belong to a user.
    restricted = [users for _, users in parts if users is not None]
    users = frozenset.intersection(*restricted) if restricted else None
    return lambda item: all(accepts(item) for accepts, _ in parts), users


def parse_query_filters(text: str) -> Any:
    """The filter in a query parameter. mem0's Python client sends the ``repr`` of a dictionary there.

    Raises:
        FilterError: If it is neither JSON nor a Python literal. An unreadable filter is never taken for no filter.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise FilterError(f"filters: neither JSON nor a Python dictionary: {quoted(text)}") from error


def _users(name: str, comparisons: Mapping[str, Any]) -> frozenset[str] | None:
    if name != "user_id":
        return None
    wanted = comparisons.get("eq", comparisons.get("in"))
    values = wanted if isinstance(wanted, list) else [wanted]
    if not all(isinstance(each, str) for each in values) or "*" in values:
        return None
    return frozenset(varve_user(name, each) for each in values)


def _comparison(name: str, operator: str, operand: Any) -> Callable[[Item], bool]:
    path = f"filters.{name}.{operator}"
    read = _reader(name)
    if operator == "in":
        if not isinstance(operand, list):
            raise FilterError(f"{path}: expected a list, found {quoted(operand)}")
        wanted = [_operand(name, each, path) for each in operand]
        return lambda item: any(value in wanted for value in read(item))
    value = _operand(name, operand, path)
    if operator in _COMPARISONS:
        compare = _COMPARISONS[operator]
        return lambda item: any(compare(each, value) for each in read(item))
    if operator in ("contains", "icontains") and name != "categories":
        fold = str.casefold if operator == "icontains" else str
        return lambda item: any(fold(str(value)) in fold(each) for each in read(item))
    if operator == "ne":
        return lambda item: value not in read(item)
    if value == "*" and name in ID_FIELDS:
        return lambda item: bool(read(item))
    return lambda item: value in read(item)


def _reader(name: str) -> Callable[[Item], list[Any]]:
    """Reads the values of a field that a condition compares; an empty list if the memory has none."""
    if name in _TIMES:
        field = "created_at" if name == "timestamp" else name
        return lambda item: [] if item.get(field) is None else [_time(item[field])]
    if name == "categories":
        return lambda item: list(item.get("categories") or ())
    field = {"keywords": "memory", "text": "memory", "memory_ids": "id"}.get(name, name)
    return lambda item: [] if item.get(field) is None else [item[field]]


def _operand(name: str, value: Any, path: str) -> Any:
    if name in _TIMES:
        try:
            return _time(value)
        except (ValueError, TypeError, OverflowError, OSError) as error:
            raise FilterError(f"{path}: expected a date, a time in ISO 8601 or seconds since 1970, found {quoted(value)}") from error
    if not isinstance(value, str) or not _is_unicode(value):
        raise FilterError(f"{path}: expected text, found {quoted(value)}")
    return value


def _is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogate, which the literals of Python may have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _time(value: Any) -> datetime:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(type(value).__name__)
    read = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def _everything(_: Item) -> bool:
    return True
