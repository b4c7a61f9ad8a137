"""Reads fields of records of any kind: messages, changes of memories, or broken JSON. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

_TEXT: Final = rb'("(?:[^"\\]|\\.)*")'


def owners_in(value: bytes) -> set[str]:
    """The users that a record belongs to.

    Varve's records have the user at the top level, changes of memories in the memory. Deeper fields are untrusted: they count only if there
    is no such field, because keeping data of an erased user is worse than deleting too much.
    """
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {*_written(value, "user")}
    own = {each["user"] for each in _tops(parsed) if isinstance(each.get("user"), str)}
    return own or {*_held(parsed, "user")}


def texts_in_field(value: bytes, name: str) -> set[str]:
    """The texts in all fields of a name, at any depth."""
    try:
        return {*_held(orjson.loads(value), name)}
    except orjson.JSONDecodeError:
        return {*_written(value, name)}


def _tops(parsed: Any) -> Iterator[dict[str, Any]]:
    if isinstance(parsed, dict):
        yield parsed
        if isinstance(memory := parsed.get("memory"), dict):
            yield memory


def _held(parsed: Any, name: str) -> Iterator[str]:
    ahead = [parsed]  # JSON may be nested deeper than Python's recursion limit
    while ahead:
        each = ahead.pop()
        if isinstance(each, dict):
            if isinstance(text := each.get(name), str):
                yield text
            ahead += each.values()
        elif isinstance(each, list):
            ahead += each


def _written(value: bytes, name: str) -> Iterator[str]:
    """The texts in a value that is not valid JSON: everything that looks like such a field."""
    for found in re.finditer(re.escape(orjson.dumps(name)) + rb"\s*:\s*" + _TEXT, value, re.DOTALL):
        try:
            yield json.loads(found[1])
        except ValueError:  # no JSON, or no UTF-8
            continue
