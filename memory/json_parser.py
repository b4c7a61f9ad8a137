"""The lenient parser of one JSON container, as models write them: see :mod:`memory.lenient_json`."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

_MAX_DEPTH: Final = 32
_IGNORED: Final = r"[\s\ufeff\u200b\u2060]"
_SPACE: Final = re.compile(rf"(?:{_IGNORED}+|//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)|```\w*)*", re.DOTALL)
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD: Final = re.compile(r"[^\s,:=;()\[\]{}\"'`，：]+")
_LITERALS: Final[dict[str, bool | None]] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": None,
    "undefined": None,
    "infinity": None,
}
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“”", "‘": "’", "«": "»", "”": "”"}
"""The marks that end a quoted text, by the mark that begins it."""
_TRIPLE_QUOTES: Final = ('"""', "'''")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SEPARATOR: Final = re.compile(r"\s*+(?:[:：]|=>?)")
_COMMAS: Final = (",", ";", "，")
_CLOSES: Final = ("]", "}")
_LIST_ENDS: Final = {"[": "]", "(": ")"}
_CONTINUES_TEXT: Final = re.compile(r"\s*+\+\s*+(?=[\"'])")
"""Between two texts that are joined to one, as JavaScript and Python write it."""
_ENDS_VALUE: Final = re.compile(
    rf"""{_IGNORED}*+(?:[}}\])]|\Z|//|\#|/\*|```  # the container's end, the text's end, a comment
        |[,;，]{_IGNORED}*+(?:["'`“„«‘{{\[(}}\])]|-?\d|\Z|//|\#|/\*  # a comma, and what can follow one
        |(?:true|false|null|None|True|False)\b|\w+{_IGNORED}*+[:：])
        )
      |[^\S\n]*+\n{_IGNORED}*+["'`“{{\[]  # a forgotten comma at the end of a line""",
    re.VERBOSE,
)
INTEGERS: Final = range(-(2**63), 2**64)
"""Integers that orjson reads as such; both readers turn others into floats."""
_CODE_UNIT: Final = re.compile(r"[0-9a-fA-F]{4}")
_MISSING: Final = object()
MOST_REPEATED: Final = 16
"""Limits the comparisons per value: an answer may repeat one name ten thousand times."""


@dataclass(frozen=True, slots=True)
class Partial:
    """A truncated list or object, with its complete items."""

    value: dict[str, Any] | list[Any]


@dataclass(frozen=True, slots=True)
class Repeated:
    """The different values that an object has for one name, in their order. JSON does not define which of them counts.

    Of more than :data:`MOST_REPEATED` values, it has the first ones and the last one.
    """

    values: tuple[Any, ...]


def members_of(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object of name and value pairs; a name that has several different values gets a :class:`Repeated`."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name not in members:
            members[name] = value
            continue
        known = members[name]
        values = known.values if isinstance(known, Repeated) else (known,)
        if not any(type(each) is type(value) and each == value for each in values):
            members[name] = Repeated((*values[: MOST_REPEATED - 1], value))
    return members


class ContainerParser:
    """Parses the container that begins at a position of a text."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self._position = position
        self._cut = False

    @property
    def position(self) -> int:
        """The position after the last character that was read."""
        return self._position

    @property
    def is_cut(self) -> bool:
        """Whether the text ended before the container did."""
        return self._cut

    def parse(self) -> Any:
        """The container. Call it once."""
        return self._value(depth=0)

    def _value(self, *, depth: int) -> Any:
        mark = self._peek()
        if mark == "{" or mark in _LIST_ENDS:
            if depth >= _MAX_DEPTH:
                self._cut = True
                return _MISSING
            self._position += 1
            return self._object(depth) if mark == "{" else self._list(depth, end=_LIST_ENDS[mark])
        if mark in _QUOTES:
            return self._string()
        return self._bare()

    def _list(self, depth: int, *, end: str) -> list[Any] | Partial:
        items: list[Any] = []
        while True:
            self._skip()
            mark = self._peek()
            if mark == "":
                self._cut = True
                return Partial(items)
            if mark in _CLOSES or mark == end:
                # A wrong closing bracket ends this list and is left for the enclosing container.
                self._position += mark == end
                return items
            start = self._position
            value = self._value(depth=depth + 1)
            if self._cut:
                return Partial([*items, value] if isinstance(value, Partial) else items)
            if value is not _MISSING:
                items.append(value)
            self._position += self._position == start

    def _object(self, depth: int) -> dict[str, Any] | Partial:
        members: list[tuple[str, Any]] = []
        while True:
            self._skip()
            mark = self._peek()
            if mark == "":
                self._cut = True
                return Partial(members_of(members))
            if mark in _CLOSES:
                self._position += mark == "}"
                return members_of(members)
            start = self._position
            name = self._name()
            if separator := _SEPARATOR.match(self._text, self._position):
                self._position = separator.end()
                self._skip()
                value = _MISSING if self._peek() in (*_CLOSES, *_COMMAS) else self._value(depth=depth + 1)
                if self._cut or (self._peek() == "" and value is _MISSING):
                    return Partial(members_of([*members, (name, value)] if isinstance(value, Partial) else members))
                if value is not _MISSING:
                    members.append((name, value))
            if self._cut:
                return Partial(members_of(members))
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
        for quotes in _TRIPLE_QUOTES:
            if self._text.startswith(quotes, self._position) and (end := self._text.find(quotes, self._position + 3)) > 0:
                text, self._position = self._text[self._position + 3 : end], end + 3
                return text
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
            elif joint := _CONTINUES_TEXT.match(self._text, self._position):
                self._position = joint.end() + 1
            else:
                parts.append(stop.group())
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
            if self._peek() not in _COMMAS:
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
