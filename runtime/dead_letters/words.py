"""What a record says that may be anything: a message, a memory within a change, or broken JSON. Pure."""

import json
import re
from typing import Any

import orjson


def says(value: bytes, name: str, word: str) -> bool:
    """Whether a field of some name holds a word, at whatever depth.

    Args:
        value: JSON, as far as it is any.
        name: The field's name.
        word: The word.
    """
    try:
        return _has(orjson.loads(value), name, word)
    except orjson.JSONDecodeError:
        forms = {orjson.dumps(word), json.dumps(word).encode()}
        return any(re.search(rb"%b\s*:\s*%b" % (re.escape(orjson.dumps(name)), re.escape(form)), value) is not None for form in forms)


def _has(parsed: Any, name: str, word: str) -> bool:
    if isinstance(parsed, dict):
        return parsed.get(name) == word or any(_has(each, name, word) for each in parsed.values())
    return isinstance(parsed, list) and any(_has(each, name, word) for each in parsed)
