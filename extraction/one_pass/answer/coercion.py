"""Converts values that a model gave in another type than the answer's form asks for."""

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Final, TypeGuard

from extraction.one_pass.answer.loops import cut_loop
from memory.lenient_json import looks_like_json, read_json

_INDEX: Final = r"[\[#(]?\s*(?:m(?:sg|essage)?[\s_.#:-]*)?(\d{1,6})\s*[\])]?"
_WHOLE: Final = re.compile(rf"\s*{_INDEX}\s*", re.IGNORECASE)
_RANGE: Final = re.compile(rf"\s*[\[(]?\s*{_INDEX}\s*(?:-|–|—|,|\.\.+|to|until|through)\s*{_INDEX}\s*[\])]?\s*", re.IGNORECASE)
_BETWEEN_INDICES: Final = re.compile(r"[,;&/+]|\band\b", re.IGNORECASE)
_SHARE: Final = re.compile(r"\s*(\d{1,6}(?:\.\d+)?)\s*(?:/\s*(\d{1,6})|(%))\s*")
_DATE: Final = re.compile(
    r"\s*(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?)?)?\s*"
)
_LONGEST_VALUE: Final = 100
"""Characters of an index, a range, a weight or a date in digits. A longer text is none of them, and is matched with no pattern."""
_LONGEST_INTEGER_BITS: Final = 1024
"""The largest size of an integer that becomes text; doubles have the same range."""
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def as_text(value: Any, *, longest: int) -> str:
    """A text without control characters, loops and outer white space, at most so many characters; empty where there is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER_BITS:
        return ""
    text = _UNPRINTABLE.sub("", str(value)).strip()
    text = cut_loop(text)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def as_object(value: Any) -> dict[str, Any]:
    """An object, also one in a text; empty for what is none."""
    if isinstance(value, str) and looks_like_json(value):
        value = next(iter(read_json(value)), value)
    return value if isinstance(value, dict) else {}


def as_index(value: Any) -> int | None:
    """An index: a whole number that is not negative, also as a text (``"3"``, ``"[3]"``, ``"#3"``)."""
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return value if value >= 0 else None
    found = _WHOLE.fullmatch(value) if _is_short(value) else None
    return int(found[1]) if found else None


def as_indices(value: Any) -> list[int | None]:
    """Indices, None for each that is none: from a list of them, one alone, or a text that names several (``"3, 4"``)."""
    if isinstance(value, str):
        value = _BETWEEN_INDICES.split(value.strip("[]() "))
    return [as_index(each) for each in value] if isinstance(value, list) else [as_index(value)]


def as_references(value: Any) -> Iterator[tuple[int, int] | None]:
    """Message numbers as inclusive ranges, None for each that is none: read as by :func:`as_indices`, also with ranges among them.

    A range is a list of two within the list (``[[0, 1]]``), or a text (``"0-1"``).
    """
    items = value if isinstance(value, list) else [value.strip("[]() ") if isinstance(value, str) else value]
    for item in items:
        for part in _BETWEEN_INDICES.split(item) if isinstance(item, str) else [item]:
            yield from _as_range(part)


def as_ranges(value: Any) -> Iterator[tuple[int, int] | None]:
    """Inclusive ranges, None for each that is none.

    From ``[[0, 3], [7, 9]]``; also ``[0, 3]`` as one range, ``[5]`` or ``5`` alone, ``"0-3"``, and ``[0, 1, 2]`` as single indices.
    """
    if not isinstance(value, list) or (len(value) == 2 and all(as_index(each) is not None for each in value)):
        yield from _as_range(value)
    else:
        for each in value:
            yield from _as_range(each)


def as_weight(value: Any, *, max_weight: int) -> float | None:
    """A share of ``max_weight`` from 0 to 1, alike of ``1``, ``1.0`` and ``"1"``. None where it is no number.

    A number between 0 and 1 is taken as the share itself: a scale of whole numbers does not have it.
    """
    if isinstance(value, str):
        if not _is_short(value):
            return None
        if (share := _SHARE.fullmatch(value)) is not None:
            return min(1.0, float(share[1]) / (100 if share[3] else max(1, int(share[2]))))
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return float(value) if 0 < value < 1 else max(0, min(value, max_weight)) / max_weight


def as_time(value: Any, *, zone: tzinfo | None) -> datetime | None:
    """The beginning of what a date in ISO form names: a year, a month, a day or a minute; in ``zone`` if it has none."""
    found = _DATE.fullmatch(value) if _is_short(value) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in found.groups()[:6])
    try:
        return datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=_zone(found[7]) or zone or UTC)
    except ValueError:
        return None


def _as_range(value: Any) -> Iterator[tuple[int, int] | None]:
    if _is_short(value) and (found := _RANGE.fullmatch(value)):
        value = [found[1], found[2]]
    if isinstance(value, dict) and len(value) == 2:
        value = list(value.values())
    indices = [as_index(each) for each in value] if isinstance(value, list) else [as_index(value)]
    if len(indices) == 2 and indices[0] is not None and indices[1] is not None:
        yield min(indices[0], indices[1]), max(indices[0], indices[1])
    else:
        for index in indices or [None]:
            yield None if index is None else (index, index)


def _is_short(value: Any) -> TypeGuard[str]:
    """Whether a value is a text that the patterns may be matched with: their white space makes them quadratic in its length."""
    return isinstance(value, str) and len(value) <= _LONGEST_VALUE


def _zone(offset: str | None) -> tzinfo | None:
    if offset is None:
        return None
    if offset == "Z":
        return UTC
    minutes = int(offset[1:3]) * 60 + int(offset[-2:])
    return timezone(timedelta(minutes=minutes if offset[0] == "+" else -minutes))
