"""Reads JSON as language models write it: fenced, commented, with extra or missing commas, in single quotes, truncated.

Never raises. Valid JSON is read exactly; only other text is read leniently. A truncated container is returned as :class:`Partial` with its
complete items; a truncated scalar is left out.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

from memory.reasoning import strip_reasoning

_MAX_DEPTH: Final = 32
_OPENING: Final = re.compile(r"[{\[]")
_SPACE: Final = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)|```\w*)*", re.DOTALL)
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD: Final = re.compile(r"[^\s,:=\[\]{}\"'`]+")
_LITERALS: Final[dict[str, bool | None]] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": None,
    "undefined": None,
    "infinity": None,
}
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”"}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SEPARATOR: Final = re.compile(r"\s*+(?::|=>?)")
_ENDS_VALUE: Final = re.compile(
    r"""\s*+(?:[}\]]|\Z|//|\#|/\*|```  # the container's end, the text's end, a comment
        |,\s*+(?:["'`“{\[}\]]|-?\d|\Z|//|\#|/\*|(?:true|false|null|None|True|False)\b|\w+\s*+:))  # a comma, and what can follow one
      |[^\S\n]*+\n\s*+["'`“{\[]  # a forgotten comma at the end of a line""",
    re.VERBOSE,
)
INTEGERS: Final = range(-(2**63), 2**64)
"""Integers that orjson reads as such; both readers turn others into floats."""
_CODE_UNIT: Final = re.compile(r"[0-9a-fA-F]{4}")
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Partial:
    """A truncated list or object, with its complete items."""

    value: dict[str, Any] | list[Any]


def read_json(text: str) -> list[Any]:
    """The lists and objects in a model's answer, after its reasoning, in order; other text is ignored."""
    answer = strip_reasoning(text)
    try:
        value = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return _Parser(answer).containers()
    return [value] if isinstance(value, dict | list) else []


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._cut = False

    def containers(self) -> list[Any]:
        found: list[Any] = []
        while not self._cut and (opening := _OPENING.search(self._text, self._position)):
            self._position = opening.start()
            found.append(self._value(depth=0))
        return found

    def _value(self, *, depth: int) -> Any:
        mark = self._peek()
        if mark in ("{", "["):
            if depth >= _MAX_DEPTH:
                self._cut = True
                return _MISSING
            self._position += 1
            return self._object(depth) if mark == "{" else self._list(depth)
        if mark in _QUOTES:
            return self._string()
        return self._bare()

    def _list(self, depth: int) -> list[Any] | Partial:
        items: list[Any] = []
        while True:
            self._skip()
            mark = self._peek()
            if mark == "":
                self._cut = True
                return Partial(items)
            if mark in ("]", "}"):
                # A wrong closing bracket ends this list and is left for the enclosing container.
                self._position += mark == "]"
                return items
            start = self._position
            value = self._value(depth=depth + 1)
            if self._cut:
                return Partial([*items, value] if isinstance(value, Partial) else items)
            if value is not _MISSING:
                items.append(value)
            self._position += self._position == start

    def _object(self, depth: int) -> dict[str, Any] | Partial:
        members: dict[str, Any] = {}
        while True:
            self._skip()
            mark = self._peek()
            if mark == "":
                self._cut = True
                return Partial(members)
            if mark in ("]", "}"):
                self._position += mark == "}"
                return members
            start = self._position
            name = self._name()
            if separator := _SEPARATOR.match(self._text, self._position):
                self._position = separator.end()
                self._skip()
                value = _MISSING if self._peek() in ("}", "]", ",") else self._value(depth=depth + 1)
                if self._cut or (self._peek() == "" and value is _MISSING):
                    return Partial(members | ({name: value} if isinstance(value, Partial) else {}))
                if value is not _MISSING:
                    members[name] = value
            if self._cut:
                return Partial(members)
            self._position += self._position == start

    def _name(self) -> str:
        if self._peek() in _QUOTES:
            return self._string(is_name=True)
        word = _WORD.match(self._text, self._position)
        if word is None:
            return ""
        self._position = word.end()
        return word.group()

    def _string(self, *, is_name: bool = False) -> str:
        """A quoted text. A quote that no valid continuation follows is part of the text, because models forget to escape."""
        closing = _QUOTES[self._peek()]
        stops = re.compile(rf"[\\{closing}]")
        parts: list[str] = []
        self._position += 1
        while stop := stops.search(self._text, self._position):
            parts.append(self._text[self._position : stop.start()])
            self._position = stop.end()
            if stop.group() == "\\":
                parts.append(self._escape())
            elif is_name or _ENDS_VALUE.match(self._text, self._position):
                return "".join(parts)
            else:
                parts.append(closing)
        self._cut = True
        self._position = len(self._text)
        return ""

    def _escape(self) -> str:
        mark = self._text[self._position : self._position + 1]
        self._position += 1
        if mark != "u":
            return _ESCAPES.get(mark, mark)
        unit = self._code_unit()
        if unit is None:
            return ""
        if 0xD800 <= unit < 0xDC00 and self._text.startswith("\\u", self._position):
            after_high = self._position
            self._position += 2
            low = self._code_unit()
            if low is not None and 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            self._position = after_high
        return "\ufffd" if 0xD800 <= unit < 0xE000 else chr(unit)

    def _code_unit(self) -> int | None:
        digits = _CODE_UNIT.match(self._text, self._position)
        if digits is None:
            return None
        self._position = digits.end()
        return int(digits.group(), 16)

    def _bare(self) -> Any:
        if number := _NUMBER.match(self._text, self._position):
            after = _WORD.match(self._text, number.end())
            if after is None:
                self._position = number.end()
                self._cut = self._position == len(self._text)
                return _number(number.group())
        word = _WORD.match(self._text, self._position)
        if word is None:
            return _MISSING
        self._position = word.end()
        self._cut = self._position == len(self._text)
        return _LITERALS.get(word.group().lower(), word.group())

    def _skip(self) -> None:
        while True:
            space = _SPACE.match(self._text, self._position)
            self._position = space.end() if space else self._position
            if self._peek() != ",":
                return
            self._position += 1

    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]


def _number(digits: str) -> int | float | None:
    if re.fullmatch(r"[-+]?\d{1,20}", digits) and (whole := int(digits)) in INTEGERS:
        return whole
    try:
        value = float(digits)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
