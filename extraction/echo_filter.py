"""Recognises text that a recall inserted into the conversation, so that memories do not feed on themselves.

A memory's content is mostly a person's own sentence. A person who says the same again, word for word, makes a new statement: "I live in
Oslo." after a move back is news. So one plain line of a user that equals a recalled content is kept; several, or one in a list, are an
echo.
"""

import json
import re
from typing import Final

import orjson
from pydantic import JsonValue

from memory.records import Message
from memory.texts.language import is_english
from memory.texts.text import content_hash

_LIST_MARK: Final = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I['’]\w+|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Oo]ur|[Uu]s)\b|(?<!\S)i(?:['’]?m)?\s")
_MAX_DEPTH: Final = 12
_MAX_VALUES: Final = 5000
_LONGEST_TEXT: Final = 500_000
_RECALL_ID: Final = "recall_id"
_BESIDE_A_MEMORY: Final = re.compile(
    r"ids?|kind|type|role|source|name|tool|status|(?:user|session)(?:_id)?|score|rank|similarity|distance|weight"
    r"|importance|index|version|count"
    r"|total|limit|ms|time|date|event_time|said_at|(?:created|updated|expires)_at|keywords|evidence|tags|metadata"
)
"""Field names that wrap a list of memories without their own content."""
_ID_OR_TIME: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d{4}-\d\d-\d\d(?:[T ][\d:.+\-Z]*)?")


def is_echo(message: Message, recalled_hashes: frozenset[str]) -> bool:
    """Whether a message holds nothing but what recalls returned: marked by the client, or known by its contents' hashes.

    Args:
        message: A message of the window.
        recalled_hashes: :func:`memory.texts.text.content_hash` of the contents that recalls returned lately.
    """
    if message.from_recall or not recalled_hashes:
        return message.from_recall
    text, call = without_echoes(message.text, recalled_hashes, is_user=message.role == "user").strip(), message.tool_call
    if call is None:
        return bool(message.text.strip()) and not text
    result = _EchoRemover(recalled_hashes).remove_from(call.result, 0)
    has_echo = result is not call.result or text != message.text.strip()
    return has_echo and not text and not call.error and _says_nothing(result)


def without_echoes(text: str, recalled_hashes: frozenset[str], *, is_user: bool = False) -> str:
    """The text without recalled contents: empty, or without the lines (list marks aside) that are such contents.

    Args:
        text: A message's text, or a text in a tool's result.
        recalled_hashes: :func:`memory.texts.text.content_hash` of the contents that recalls returned lately.
        is_user: Whether a user wrote it, who may repeat their own sentence.
    """
    if not recalled_hashes:
        return text
    if content_hash(text) in recalled_hashes:
        return text if is_user and _may_be_restated(text) else ""
    lines = text.splitlines()
    rest = [line for line in lines if not _is_echoed_line(line, recalled_hashes)]
    echoed = [line for line in lines if line.strip() and _is_echoed_line(line, recalled_hashes)]
    if not echoed or (is_user and len(echoed) == 1 and _may_be_restated(echoed[0])):
        return text
    return "\n".join(rest).strip()


def _may_be_restated(text: str) -> bool:
    """Whether a line may be a person's own sentence rather than a model's third person or an item of a list."""
    return _LIST_MARK.match(text) is None and (_FIRST_PERSON.search(text) is not None or not is_english(text))


def without_echoes_in_result(message: Message, recalled_hashes: frozenset[str]) -> Message:
    """The message, its tool's result without what recalls returned: a recall is a tool to an agent, and its answer no news.

    Looks into lists, objects and texts that are JSON themselves, as deep and as far as an answer to a recall goes; the rest is kept.
    """
    call = message.tool_call
    if call is None or not recalled_hashes:
        return message
    result = _EchoRemover(recalled_hashes).remove_from(call.result, 0)
    if result is call.result:
        return message
    return message.model_copy(update={"tool_call": call.model_copy(update={"result": None if _is_empty(result) else result})})


def _is_echoed_line(line: str, recalled_hashes: frozenset[str]) -> bool:
    return content_hash(line) in recalled_hashes or content_hash(_LIST_MARK.sub("", line)) in recalled_hashes


class _EchoRemover:
    """Removes echoes from a value. A value without any is returned as the same object; one that is nothing else becomes empty."""

    def __init__(self, recalled_hashes: frozenset[str]) -> None:
        self._hashes = recalled_hashes
        self._values_left = _MAX_VALUES
        self._characters_left = _LONGEST_TEXT

    def remove_from(self, value: JsonValue, depth: int) -> JsonValue:
        self._values_left -= 1
        if depth > _MAX_DEPTH or self._values_left < 0:
            return value
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, list):
            return self._list(value, depth)
        return self._object(value, depth) if isinstance(value, dict) else value

    def _text(self, text: str, depth: int) -> JsonValue:
        self._characters_left -= len(text)
        if self._characters_left < 0 or not text.strip():
            return text
        rest = without_echoes(text, self._hashes)
        if rest != text:
            return rest
        if text.lstrip()[0] not in "[{":
            return text
        try:
            value: JsonValue = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
        result = self.remove_from(value, depth + 1)
        return text if result is value else "" if _is_empty(result) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))

    def _list(self, values: list[JsonValue], depth: int) -> JsonValue:
        results = [self.remove_from(each, depth + 1) for each in values]
        if all(new is old for new, old in zip(results, values, strict=True)):
            return values
        return [new for new, old in zip(results, values, strict=True) if new is old or not _is_empty(new)]

    def _object(self, fields: dict[str, JsonValue], depth: int) -> JsonValue:
        results = {name: self.remove_from(value, depth + 1) for name, value in fields.items()}
        echoes = {name for name, value in results.items() if value is not fields[name]}
        if not echoes:
            return fields
        emptied = {name for name in echoes if _is_empty(results[name])}
        # A recall's answer, and a memory in it, is an echo as a whole: its properties and scores belong to the memory too.
        if _RECALL_ID in fields or ("content" in emptied and "id" in fields):
            return {}
        rest = {name: value for name, value in results.items() if name not in emptied}
        return {} if emptied and _says_nothing(rest) else rest


def _is_empty(value: JsonValue) -> bool:
    return value is None or value in ("", [], {})


def _says_nothing(value: JsonValue) -> bool:
    """Whether a value has nothing to remember in addition to an echo: only ids, times, and counts and ranks of memories."""
    if isinstance(value, dict):
        return all(_BESIDE_A_MEMORY.fullmatch(name) is not None or _says_nothing(each) for name, each in value.items())
    if isinstance(value, list):
        return all(map(_says_nothing, value))
    if isinstance(value, str):
        return not value.strip() or _ID_OR_TIME.fullmatch(value.strip()) is not None
    return value is None or isinstance(value, bool)
