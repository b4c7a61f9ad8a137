"""What a record says that may be anything: a message, a memory within a change, or broken JSON. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

_TEXT: Final = rb'("(?:[^"\\]|\\.)*")'


def owners_in(value: bytes) -> set[str]:
    """The users that a record is of.

    A record of ours says so at its top, a change of a memory in the memory. What is deeper may be anybody's word: it counts where nothing
    else tells, since what is kept of a user is worse than what is lost.

    Args:
        value: JSON, as far as it is any.
    """
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {*_written(value, "user")}
    own = {each["user"] for each in _tops(parsed) if isinstance(each.get("user"), str)}
    return own or {*_held(parsed, "user")}


def said_in(value: bytes, name: str) -> set[str]:
    """The texts that fields of some name hold, at whatever depth.

    Args:
        value: JSON, as far as it is any.
        name: The fields' name.
    """
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
    ahead = [parsed]  # JSON may be nested deeper than calls may
    while ahead:
        each = ahead.pop()
        if isinstance(each, dict):
            if isinstance(text := each.get(name), str):
                yield text
            ahead += each.values()
        elif isinstance(each, list):
            ahead += each


def _written(value: bytes, name: str) -> Iterator[str]:
    """The same of what is no JSON as a whole: whatever looks like such a field."""
    for found in re.finditer(re.escape(orjson.dumps(name)) + rb"\s*:\s*" + _TEXT, value, re.DOTALL):
        try:
            yield json.loads(found[1])
        except ValueError:  # no JSON, or no UTF-8
            continue
