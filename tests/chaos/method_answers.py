"""Answers of the simulated LLM to the operators of the memory methods; each follows from the prompt alone."""

from typing import Any, Final

import orjson

from loadtest.answers import summary_of
from loadtest.requests import ChatRequest

_CALLS: Final = 8
"""Calls of one answer."""
_EMPTY: Final[dict[str, Any]] = {"text": None, "old": None, "line": None, "query": None, "page": None}


def method_answer(request: ChatRequest) -> str | None:
    """The answer to a question of LINK, TREE, CLUSTER or AGENT; None to any other prompt."""
    try:
        question = orjson.loads(request.messages[-1][1] if request.messages else "")
    except orjson.JSONDecodeError:
        return None
    if not isinstance(question, dict):
        return None
    if "notes" in question:
        return _linked(question)
    if "tree" in question or "graph" in question:
        return orjson.dumps({"text": summary_of([question["summary"], *map(_says, question["added"])])}).decode()
    return _edits(question) if is_edit(question) else None


def _says(added: Any) -> str:
    """The text of an addition to a summary. A tree's has a day; a community's is a text."""
    return str(added["says"] if isinstance(added, dict) else added)


def is_edit(question: dict[str, Any]) -> bool:
    """Whether a question asks for edits of a block."""
    return {"block", "calls", "new", "withdrawn"} <= question.keys()


def _linked(question: dict[str, Any]) -> str:
    """Links the new note with all its neighbours, and rewrites the context of the nearest one."""
    numbers, new = [each["number"] for each in question["notes"]], question["new"]["says"]
    return orjson.dumps(
        {
            "keywords": new.split()[:1],
            "tags": ["study"],
            "context": new,
            "links": [{"number": each, "relation": "the same learner"} for each in numbers],
            "updates": [{"number": each, "tags": ["study"], "context": f"seen with {new}"} for each in numbers[:1]],
        }
    ).decode()


def _edits(question: dict[str, Any]) -> str:
    """Adds each new statement as a line, removes each withdrawn one, and then finishes. Searches before the first edit."""
    lines = question["block"].splitlines()
    calls: list[dict[str, Any]] = [
        {"tool": "replace", "old": each["says"], "text": ""} for each in question["withdrawn"] if each["says"] in lines
    ]
    calls += [{"tool": "append", "text": each["says"]} for each in question["new"] if each["says"] not in lines]
    if not calls:
        calls = [{"tool": "finish"}]
    elif not question["calls"]:
        calls.insert(0, {"tool": "search", "query": calls[0].get("text") or "study"})
    return orjson.dumps({"thoughts": "", "calls": [{**_EMPTY, **each} for each in calls[:_CALLS]]}).decode()
