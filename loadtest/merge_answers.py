"""Answers of a simulated LLM to operators, from which a test finds lost and duplicated events.

To a merge (LLM_MERGE) every statement on a line of its own, once for each time that it was given; to a summary (TIME_COMPRESS) the
beginning of each event, in order.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

import orjson

from loadtest.requests import ChatRequest

_QUESTIONS: Final = ({"text", "new", "withdrawn"}, {"timeline", "period", "events"})
WORDS_TOLD: Final = 2
"""Words of each event that a summary contains."""
_DAY: Final = re.compile(r"^\d{4}-\d{2}-\d{2}: ")


def merge_answer(request: ChatRequest) -> str | None:
    """The answer to a merge or a summary; None to any other prompt."""
    question = _question(request)
    if question is None:
        return None
    if "events" in question:
        return orjson.dumps({"text": told(each["says"] for each in question["events"])}).decode()
    lines = [_DAY.sub("", line) for line in question["text"].splitlines()] + [each["says"] for each in question["new"]]
    for each in question["withdrawn"]:
        if each["says"] in lines:
            lines.remove(each["says"])
    return orjson.dumps({"thoughts": "", "text": "\n".join(lines) or "-", "superseded": []}).decode()


def told(texts: Iterable[str]) -> str:
    """The summary of some events.

    Args:
        texts: What they say, in the order of time.
    """
    return "; ".join(" ".join(each.split()[:WORDS_TOLD]) for each in texts)


def _question(request: ChatRequest) -> dict[str, Any] | None:
    last = request.messages[-1][1] if request.messages else ""
    try:
        question = orjson.loads(last)
    except orjson.JSONDecodeError:
        return None
    is_asked = isinstance(question, dict) and any(fields <= question.keys() for fields in _QUESTIONS)
    return question if is_asked else None
