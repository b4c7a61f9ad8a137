"""What a simulated LLM answers to a merge (LLM_MERGE): every statement on a line of its own, once for each time that it was given.

So a test sees what was lost, and what was merged twice.
"""

import re
from typing import Any, Final

import orjson

from loadtest.requests import ChatRequest

_DAY: Final = re.compile(r"^\d{4}-\d{2}-\d{2}: ")


def merge_answer(request: ChatRequest) -> str | None:
    """The answer to a merge; None to any other prompt."""
    question = _question(request)
    if question is None:
        return None
    lines = [_DAY.sub("", line) for line in question["text"].splitlines()] + [each["says"] for each in question["new"]]
    for each in question["withdrawn"]:
        if each["says"] in lines:
            lines.remove(each["says"])
    return orjson.dumps({"thoughts": "", "text": "\n".join(lines) or "-", "superseded": []}).decode()


def _question(request: ChatRequest) -> dict[str, Any] | None:
    last = request.messages[-1][1] if request.messages else ""
    try:
        question = orjson.loads(last)
    except orjson.JSONDecodeError:
        return None
    return question if isinstance(question, dict) and {"text", "new", "withdrawn"} <= question.keys() else None
