"""An entity in the prompt: each field is the text that patches edit, line for line, so that a search text copied from it matches."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

import orjson
from pydantic import JsonValue

from memory.schema.coerce import coerce_value
from memory.texts.fencing import one_line, one_line_json
from memory.texts.text import estimate_tokens

BREAK: Final = "\x00"
"""Between the lines of a flat text: it counts as a token, and :func:`memory.texts.fencing.one_line` leaves none in a line."""
_FIELD_INDENT: Final = "  "
_LINE_INDENT: Final = "    "
"""Deeper than a field's, so that no line of a text can pass for a field, an entity or a date."""
_SINCE_LINE: Final = "  @ {}"
_SINCE_BESIDE: Final = " (since {})"
SINCE_TOKENS: Final = 1 + max(estimate_tokens(form.format(date.max)) for form in (_SINCE_LINE, _SINCE_BESIDE))
"""Tokens of a date since which lines hold."""


def entity_heading(entity_type: str, key: Sequence[str]) -> str:
    """The line that names an entity, with the key parts that a patch has to name."""
    return f"{entity_type} {one_line_json(list(key))}" if key else entity_type


def flat_text(value: JsonValue) -> str:
    """The text that patches edit where a field has that value, safe in a prompt; its lines, or a list's items, stay apart."""
    text = "\n".join(map(_as_text, value)) if isinstance(value, list) else _as_text(value)
    return BREAK.join(map(_safe_line, text.strip().splitlines()))


def dated_lines(flat: str, since: Sequence[date]) -> dict[str, date]:
    """Since when each line of a flat text holds; nothing where there is not a date for each line that is not blank."""
    lines = [line for line in flat.split(BREAK) if line.strip()]
    return dict(zip(lines, since, strict=True)) if len(lines) == len(since) else {}


def field_lines(name: str, flat: str, since: Mapping[str, date] | None = None) -> list[str]:
    """A field as lines of a prompt: next to its name, or indented below it if its text has several lines.

    Args:
        name: Name of the field.
        flat: Its text.
        since: The day of each line, if it is known. It is written before the line, since no patch may copy it.
    """
    since = since or {}
    lines = flat.split(BREAK)
    if len(lines) == 1:
        return [f"{_FIELD_INDENT}{name}{_SINCE_BESIDE.format(since[flat]) if flat in since else ''}: {flat}"]
    shown = [f"{_FIELD_INDENT}{name}:"]
    latest: date | None = None
    for line in lines:
        day = since.get(line, latest)
        if day != latest:
            shown.append(_SINCE_LINE.format(day))
            latest = day
        shown.append(f"{_LINE_INDENT}{line}")
    return shown


def _safe_line(line: str) -> str:
    return " " * (len(line) - len(line.lstrip())) + one_line(line)


def _as_text(value: JsonValue) -> str:
    text = value if isinstance(value, str) else coerce_value(value, "string")
    return text if isinstance(text, str) else orjson.dumps(value).decode()
