"""An entity in the prompt: each field is the text that patches edit, line for line, so that a search text copied from it matches."""

from collections.abc import Sequence
from typing import Final

import orjson
from pydantic import JsonValue

from memory.fencing import one_line, one_line_json
from memory.schema.coerce import coerce_value

BREAK: Final = "\x00"
"""Between the lines of a flat text: it counts as a token, and :func:`memory.fencing.one_line` leaves none in a line."""
_FIELD_INDENT: Final = "  "
_LINE_INDENT: Final = "    "
"""Deeper than a field's, so that no line of a text can pass for a field or an entity."""


def entity_heading(entity_type: str, key: Sequence[str]) -> str:
    """The line that names an entity, with the key parts that a patch has to name."""
    return f"{entity_type} {one_line_json(list(key))}" if key else entity_type


def flat_text(value: JsonValue) -> str:
    """The text that patches edit where a field has that value, safe in a prompt; its lines, or a list's items, stay apart."""
    text = "\n".join(map(_as_text, value)) if isinstance(value, list) else _as_text(value)
    return BREAK.join(map(_safe_line, text.strip().splitlines()))


def field_lines(name: str, flat: str) -> list[str]:
    """A field as lines of a prompt: beside its name, or indented below it where its text has several lines."""
    lines = flat.split(BREAK)
    if len(lines) == 1:
        return [f"{_FIELD_INDENT}{name}: {flat}"]
    return [f"{_FIELD_INDENT}{name}:", *(f"{_LINE_INDENT}{line}" for line in lines)]


def _safe_line(line: str) -> str:
    return " " * (len(line) - len(line.lstrip())) + one_line(line)


def _as_text(value: JsonValue) -> str:
    text = value if isinstance(value, str) else coerce_value(value, "string")
    return text if isinstance(text, str) else orjson.dumps(value).decode()
