"""Answers of a simulated LLM, each derived from its prompt alone, so that a test knows what the result must contain.

Extraction: every numbered message is one event, whose content is the message's text. The event types alternate. Numbers in the text fill
numeric properties. The last message is appended to the first text field of every entity that needs no key. A merge (LLM_MERGE) lists every
statement on its own line, once for each time that it was given; a summary (TIME_COMPRESS) has the first words of each event, in order.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from extraction.one_pass.answer import form
from loadtest.requests import ChatRequest


@dataclass(frozen=True, slots=True)
class ToolUse:
    """An answer that calls one of the request's tools instead of saying something."""

    name: str
    arguments: dict[str, Any]


AnswerFunction = Callable[[ChatRequest], str | ToolUse]

_MESSAGES: Final = re.compile(r"^<<<messages (\w+)\n(.*?)^messages \1>>>$", re.MULTILINE | re.DOTALL)
_MESSAGE: Final = re.compile(r"^\[(\d+)\] ([^:\n]*): (.*)$", re.MULTILINE)
_TYPE: Final = re.compile(r"^## ([^:\n]+?)(?::.*|)(?: Key: .*\.)?$")
_PROPERTY: Final = re.compile(r"^- (\S+) \(([\w<>]+)\)")
_NUMBER: Final = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class _Type:
    name: str
    has_key: bool
    properties: dict[str, str] = field(default_factory=dict)
    """Name to value type."""


def extraction_answer(request: ChatRequest) -> str:
    """A complete and valid answer to an extraction prompt, or to a merge; ``{}`` to any other prompt."""
    merged = merge_answer(request)
    if merged is not None:
        return merged
    fence = next((found for role, content in request.messages if role == "user" and (found := _MESSAGES.search(content))), None)
    if fence is None:
        return "{}"
    messages = [(int(number), text) for number, _, text in _MESSAGE.findall(fence[2])]
    prefix = request.messages[0][1]
    lists: dict[str, list[Any]] = {form.SEGMENTS: []}
    if messages:
        lists[form.SEGMENTS] = [{form.TOPIC: "conversation", form.RANGES: [[number, number] for number, _ in messages]}]
    if event_types := list(_types(prefix, "# Event types")):
        lists[form.EVENTS] = [_event(event_types[index % len(event_types)], number, text) for index, (number, text) in enumerate(messages)]
    if entity_types := list(_types(prefix, "# Entity types")):
        last = messages[-1:]
        lists[form.PATCHES] = [_patch(each, *message) for each in entity_types for message in last if not each.has_key]
    return form.encode_answer(lists)


def _types(prefix: str, heading: str) -> Iterator[_Type]:
    """The types under a heading of the prompt's fixed part."""
    _, _, under = prefix.partition(f"\n{heading}\n")
    current: _Type | None = None
    for line in under.splitlines():
        if not line or line.startswith("# "):
            break
        if found := _TYPE.match(line):
            if current is not None:
                yield current
            current = _Type(found[1], has_key=" Key: " in line)
        elif current is not None and (described := _PROPERTY.match(line)):
            current.properties[described[1]] = described[2]
    if current is not None:
        yield current


def _event(event_type: _Type, number: int, text: str) -> dict[str, Any]:
    event: dict[str, Any] = {
        form.TYPE: event_type.name,
        form.MESSAGES: [number],
        form.DATE: "",
        form.CONTENT: text,
    }
    values = {name: _value(value_type, text) for name, value_type in event_type.properties.items()}
    event |= form.property_fields(values, names=values)
    words = sorted(set(re.findall(r"[^\W\d_]{4,}", text.lower())), key=lambda word: (-len(word), word))
    return event | {form.KEYWORDS: words[:3], form.WEIGHT: len(text) % (form.MAX_WEIGHT + 1)}


def _patch(entity_type: _Type, number: int, text: str) -> dict[str, Any]:
    return {
        form.TYPE: entity_type.name,
        form.FIELD: next(iter(entity_type.properties)),
        form.MESSAGES: [number],
        form.SEARCH: "",
        form.REPLACE: text,
    }


def _value(value_type: str, text: str) -> Any:
    numbers = [int(each) for each in _NUMBER.findall(text)][:5]
    words = text.split()[:3]
    match value_type:
        case "int64":
            return numbers[0] if numbers else None
        case "float32":
            return float(numbers[0]) if numbers else None
        case "string":
            return " ".join(words)
        case "bool":
            return "not" not in text.lower().split()
        case "list<int64>":
            return numbers
        case "list<float32>":
            return [float(each) for each in numbers]
        case "list<string>":
            return words
        case _:
            return []


_QUESTIONS: Final = ({"text", "new", "withdrawn"}, {"timeline", "period", "events"})
WORDS_PER_EVENT: Final = 2
"""Words of each event that a summary contains."""
_DAY: Final = re.compile(r"^\d{4}-\d{2}-\d{2}: ")


def merge_answer(request: ChatRequest) -> str | None:
    """The answer to a merge or a summary; None to any other prompt."""
    question = _question(request)
    if question is None:
        return None
    if "events" in question:
        return orjson.dumps({"text": summary_of(each["says"] for each in question["events"])}).decode()
    lines = [_DAY.sub("", line) for line in question["text"].splitlines()] + [each["says"] for each in question["new"]]
    for statement in question["withdrawn"]:
        if statement["says"] in lines:
            lines.remove(statement["says"])
    return orjson.dumps({"thoughts": "", "text": "\n".join(lines) or "-", "superseded": []}).decode()


def summary_of(texts: Iterable[str]) -> str:
    """The summary of some events."""
    return "; ".join(" ".join(each.split()[:WORDS_PER_EVENT]) for each in texts)


def _question(request: ChatRequest) -> dict[str, Any] | None:
    last = request.messages[-1][1] if request.messages else ""
    try:
        question = orjson.loads(last)
    except orjson.JSONDecodeError:
        return None
    is_asked = isinstance(question, dict) and any(fields <= question.keys() for fields in _QUESTIONS)
    return question if is_asked else None
