"""Knows again what a recall put into the conversation, as text or as a tool's result, so that memories do not feed on themselves."""

import json
import re
from typing import Final

import orjson
from pydantic import JsonValue

from memory.hashing import content_hash
from memory.records import Message

_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_DEEPEST: Final = 12
_MOST_VALUES: Final = 5000
_LONGEST_TEXT: Final = 500_000
_RECALL_ID: Final = "recall_id"
_BESIDE_A_MEMORY: Final = re.compile(
    r"ids?|kind|type|role|source|name|tool|status|(?:user|session)(?:_id)?|score|rank|similarity|distance|weight|importance|index|version|count"
    r"|total|limit|ms|time|date|event_time|said_at|(?:created|updated|expires)_at|keywords|evidence|tags|metadata"
)
"""Names under which a list of memories says nothing of its own."""
_ID_OR_TIME: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d{4}-\d\d-\d\d(?:[T ][\d:.+\-Z]*)?")


def is_echo(message: Message, hashes: frozenset[str]) -> bool:
    """Whether a message holds nothing but what recalls returned: marked by the client, or known by its contents' hashes.

    Args:
        message: A message of the window.
        hashes: :func:`memory.hashing.content_hash` of the contents that recalls returned lately.
    """
    if message.from_recall or not hashes:
        return message.from_recall
    text, call = without_echoes(message.text, hashes).strip(), message.tool_call
    if call is None:
        return bool(message.text.strip()) and not text
    result = _Sieve(hashes).sift(call.result, 0)
    has_echo = result is not call.result or text != message.text.strip()
    return has_echo and not text and not call.error and _says_nothing(result)


def without_echoes(text: str, hashes: frozenset[str]) -> str:
    """The text without what recalls returned: nothing of it, or without the lines (list marks aside) that are such contents."""
    if not hashes:
        return text
    if content_hash(text) in hashes:
        return ""
    lines = text.splitlines()
    kept = [line for line in lines if not _is_echoed_line(line, hashes)]
    return text if len(kept) == len(lines) else "\n".join(kept).strip()


def without_echoes_in_result(message: Message, hashes: frozenset[str]) -> Message:
    """The message, its tool's result without what recalls returned: a recall is a tool to an agent, and its answer no news.

    Looks into lists, objects and texts that are JSON themselves, as deep and as far as an answer to a recall goes; what lies beyond stays.
    """
    call = message.tool_call
    if call is None or not hashes:
        return message
    result = _Sieve(hashes).sift(call.result, 0)
    if result is call.result:
        return message
    return message.model_copy(update={"tool_call": call.model_copy(update={"result": None if _is_empty(result) else result})})


def _is_echoed_line(line: str, hashes: frozenset[str]) -> bool:
    return content_hash(line) in hashes or content_hash(_LIST_MARK.sub("", line)) in hashes


class _Sieve:
    """Takes echoes out of a value. What holds none is given back as the very same object; what is nothing else becomes empty."""

    def __init__(self, hashes: frozenset[str]) -> None:
        self._hashes = hashes
        self._values_left = _MOST_VALUES
        self._letters_left = _LONGEST_TEXT

    def sift(self, value: JsonValue, depth: int) -> JsonValue:
        self._values_left -= 1
        if depth > _DEEPEST or self._values_left < 0:
            return value
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, list):
            return self._list(value, depth)
        return self._object(value, depth) if isinstance(value, dict) else value

    def _text(self, text: str, depth: int) -> JsonValue:
        self._letters_left -= len(text)
        if self._letters_left < 0 or not text.strip():
            return text
        plain = without_echoes(text, self._hashes)
        if plain != text:
            return plain
        if text.lstrip()[0] not in "[{":
            return text
        try:
            value: JsonValue = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
        kept = self.sift(value, depth + 1)
        return text if kept is value else "" if _is_empty(kept) else json.dumps(kept, ensure_ascii=False, separators=(",", ":"))

    def _list(self, values: list[JsonValue], depth: int) -> JsonValue:
        sifted = [self.sift(each, depth + 1) for each in values]
        if all(new is old for new, old in zip(sifted, values, strict=True)):
            return values
        return [new for new, old in zip(sifted, values, strict=True) if new is old or not _is_empty(new)]

    def _object(self, fields: dict[str, JsonValue], depth: int) -> JsonValue:
        sifted = {name: self.sift(value, depth + 1) for name, value in fields.items()}
        echoes = {name for name, value in sifted.items() if value is not fields[name]}
        if not echoes:
            return fields
        gone = {name for name in echoes if _is_empty(sifted[name])}
        # What a recall answers, and a memory as it shows it, is an echo whole: also properties and scores are of the memory.
        if _RECALL_ID in fields or ("content" in gone and "id" in fields):
            return {}
        kept = {name: value for name, value in sifted.items() if name not in gone}
        return {} if gone and _says_nothing(kept) else kept


def _is_empty(value: JsonValue) -> bool:
    return value is None or value in ("", [], {})


def _says_nothing(value: JsonValue) -> bool:
    """Whether a value has nothing to remember beside an echo: no more than ids, times, and what counts and ranks memories."""
    if isinstance(value, dict):
        return all(_BESIDE_A_MEMORY.fullmatch(name) is not None or _says_nothing(each) for name, each in value.items())
    if isinstance(value, list):
        return all(map(_says_nothing, value))
    if isinstance(value, str):
        return not value.strip() or _ID_OR_TIME.fullmatch(value.strip()) is not None
    return value is None or isinstance(value, bool)
