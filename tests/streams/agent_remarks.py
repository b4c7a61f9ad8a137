"""A schema with a block that a model edits, and a scripted model that edits it by the remarks that it sees."""

from typing import Any

import orjson

from loadtest.requests import ChatRequest
from memory.schema import MemorySchema, parse_schema

BLOCK = "human"


def schema(**parameters: Any) -> MemorySchema:
    """Remarks that a model keeps a block about."""
    aggregate = {"Op": "AGENT", "EventType": "remark", "EventPropertyName": "content", **parameters}
    human = {"PropertyName": BLOCK, "PropertyValueType": "string", "Description": "The user.", "AggregateExpression": aggregate}
    return parse_schema(
        {
            "Name": "remarks",
            "EventTypes": [{"EventType": "remark", "Description": "A remark."}],
            "EntityTypes": [{"EntityType": "core_memory", "Keys": ["user"], "Properties": [human]}],
        }
    )


def asked(request: ChatRequest) -> dict[str, Any]:
    """The question in a prompt."""
    question: dict[str, Any] = orjson.loads(request.messages[-1][1])
    return question


def calls(*given: dict[str, Any]) -> str:
    """An answer with these calls."""
    return orjson.dumps({"thoughts": "", "calls": list(given)}).decode()


def editing_answer(request: ChatRequest) -> str:
    """Keeps where the user lives, and the other remarks; searches before it replaces, makes one mistake, and then finishes.

    First step: one call for each remark, and a call of a tool that does not exist. Second step: it finishes.
    """
    question = asked(request)
    if question["calls"]:
        return calls({"tool": "finish"})
    made: list[dict[str, Any]] = [{"tool": "forget_all"}]
    lines = question["block"].splitlines()
    homes = [line for line in lines if line.startswith("Lives in ")]
    for each in question["withdrawn"]:
        made += [{"tool": "replace", "old": line, "text": ""} for line in lines if line == line_of(each["says"])]
    for each in question["new"]:
        line = line_of(each["says"])
        if line.startswith("Lives in ") and homes:
            made.append({"tool": "search", "query": "live"})
            made.append({"tool": "replace", "old": homes[0], "text": line})
        else:
            made.append({"tool": "append", "text": line})
        homes = [line] if line.startswith("Lives in ") else homes
    return calls(*made)


def line_of(remark: str) -> str:
    """The line about a remark: "I live in Oslo" gives "Lives in Oslo"."""
    return remark.rstrip(".").replace("I live in ", "Lives in ").replace("I have ", "Has ")
