"""Coerces values to the types of a schema where that is safe, and drops values that cannot be coerced."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from memory.records import Dropped
from memory.schema.model import EventType, ValueType
from memory.texts.text import shortened

MAX_DROPPED_NAMES: Final = 5
"""Most names of dropped properties that are kept for each reason."""
_LONGEST_NAME: Final = 64
_INT64: Final = range(-(2**63), 2**63)
_FLOAT32_LARGEST: Final = 3.4028234663852886e38
_LONGEST_INTEGER_BITS: Final = 1024
"""Limit for an integer that becomes text: the range of doubles."""
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,19}(?:\.0{1,9})?", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_ITEM_TYPES: Final[Mapping[ValueType, ValueType]] = {
    "list<int64>": "int64",
    "list<float32>": "float32",
    "list<string>": "string",
    "list<bool>": "bool",
}
_TRUE: Final = frozenset({"true", "yes"})
_FALSE: Final = frozenset({"false", "no"})


@dataclass(frozen=True, slots=True)
class Coerced:
    """An event's properties, with the types of its event type."""

    properties: dict[str, JsonValue]
    """Properties in the order of the event type."""
    dropped: tuple[Dropped, ...]
    """Dropped values by reason: ``unknown_property``, ``not_int64`` (and the same for other types), ``bad_list_item``; with names."""


def coerce_properties(event_type: EventType, properties: Mapping[str, object]) -> Coerced:
    """Checks an event's properties against its type, value by value.

    A null or missing property is no error. Properties that are unknown, or that cannot be coerced without guessing, are dropped
    individually.
    """
    clean: dict[str, JsonValue] = {}
    counts: Counter[str] = Counter()
    names: dict[str, list[str]] = defaultdict(list)

    def drop(name: str, reason: str, count: int = 1) -> None:
        counts[reason] += count
        names[reason].append(f"{event_type.name}.{name}")

    for declared in event_type.properties:
        value = properties.get(declared.name)
        if value is None:
            continue
        bad_items: Counter[str] = Counter()
        coerced = (
            _coerce_list(value, declared.value_type, bad_items)
            if declared.value_type.startswith("list")
            else coerce_value(value, declared.value_type)
        )
        if coerced is None:
            drop(declared.name, f"not_{declared.value_type}")
            continue
        clean[declared.name] = coerced
        for reason, count in bad_items.items():
            if count:
                drop(declared.name, reason, count)
    for name in properties:
        if event_type.property(name) is None:
            drop(shortened(name, _LONGEST_NAME), "unknown_property")
    return Coerced(
        clean,
        tuple(
            Dropped(what="property", reason=reason, count=count, names=names[reason][:MAX_DROPPED_NAMES])
            for reason, count in sorted(counts.items())
        ),
    )


def coerce_value(value: object, value_type: ValueType) -> JsonValue | None:
    """One value coerced to a type; None where that would be a guess.

    Safe conversions: a number's text to the number, a whole float to an integer, a number or boolean to text, ``yes``/``no``/``true``/
    ``false`` and 1/0 to a boolean, a single value to a list of one. Text is never truncated.

    Args:
        value: Any JSON value.
        value_type: The type to coerce it to. For a list type every item must fit.
    """
    if value_type == "int64":
        return _to_int(value)
    if value_type == "float32":
        return _to_float(value)
    if value_type == "bool":
        return _to_bool(value)
    if value_type == "string":
        return _to_text(value)
    reasons: Counter[str] = Counter()
    items = _coerce_list(value, value_type, reasons)
    return None if reasons["bad_list_item"] else items


def _coerce_list(value: object, value_type: ValueType, reasons: Counter[str]) -> list[JsonValue] | None:
    given = value if isinstance(value, list | tuple) else [value]
    kept: list[JsonValue] = [item for each in given if (item := coerce_value(each, _ITEM_TYPES[value_type])) is not None]
    if given and not kept:
        return None
    reasons["bad_list_item"] += len(given) - len(kept)
    return kept


def _to_int(value: object) -> int | None:
    if isinstance(value, str):
        text = value.strip()
        value = int(text.partition(".")[0]) if _INTEGER.fullmatch(text) else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value in _INT64 else None


def _to_float(value: object) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        value = float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= _FLOAT32_LARGEST and math.isfinite(value) else None


def _to_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None
    return None


def _to_text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _LONGEST_INTEGER_BITS else None
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    return value if _is_unicode(value) else None


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can encode the text; lone surrogates cannot be written to a topic."""
    return text.isascii() or not any("\ud800" <= each <= "\udfff" for each in text)
