"""Lines of WhatsApp's text exports. Pure.

A message begins with its time and its sender, and may have further lines::

    [31/12/2023, 23:59:59] Ann: Happy new year      iOS
    12/31/23, 11:59 PM - Ann: Happy new year         Android

The form of the time depends on the language and region of the telephone, and is the same in the whole file: the first line decides it, so
that lines of other chats that somebody pasted into a message stay part of the message. No line says whether the day or the month is first:
all dates of the file together decide.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from varve.errors import ImportFileError
from varve.imports.messages import DateOrder

MARKS: Final = "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff"
"""Invisible marks of the direction of text."""
_EVENING: Final = ("pm", "nachm", "ös", "μμ", "下午", "午後", "오후", "م")
_HALF: Final = r"(?:[ap]\.?\s?m\.?(?!\w)|vorm\.?|nachm\.?|öö|ös|π\.?\s?μ\.?|μ\.?\s?μ\.?|上午|下午|午前|午後|오전|오후|ص|م)"
_MARK: Final = f"[{MARKS}]*"
_TIME: Final = (
    rf"(?P<first>\d{{4}}|\d{{1,2}})(?P<separator>[./-])\s?(?P<second>\d{{1,2}})(?P=separator)\s?(?P<third>\d{{4}}|\d{{1,2}})\.?{_MARK}[,،]?\s*{_MARK}"
    rf"(?:(?:à|às|klo|um|kl\.?|at)\s+)?(?:(?P<before>{_HALF})\s*)?"
    rf"(?P<hour>\d{{1,2}})(?P<colon>[:.])(?P<minute>\d\d)(?:(?P=colon)(?P<seconds>\d\d))?(?:\s*(?P<after>{_HALF}))?"
)
_BRACKETED: Final = re.compile(rf"{_MARK}\[{_TIME}{_MARK}\]\s?", re.IGNORECASE)
_DASHED: Final = re.compile(rf"{_MARK}{_TIME}{_MARK}\s[-–]\s", re.IGNORECASE)
_GROUPS: Final = ("first", "separator", "second", "third", "before", "hour", "minute", "seconds", "after")
_SENDER: Final = re.compile(r"(?P<sender>[^:\n]{1,100}(?::\S[^:\n]{0,100})*?):(?: |$)")
_QUOTES: Final = (("“", "”"), ("«", "»"))
_CENTURY: Final = 2000
_NOON: Final = 12
_LONGEST: Final = 1 << 20
"""Characters of a message. WhatsApp's own limit is 65,536."""


@dataclass(frozen=True, slots=True)
class Style:
    """The form of the times of a file, as far as every line shows it."""

    is_bracketed: bool
    separator: str
    has_seconds: bool
    has_halves: bool
    """Whether the hours count to 12."""
    is_year_first: bool
    """Whether the first number has four digits."""


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of a message."""

    style: Style
    numbers: tuple[int, int, int]
    """Day, month and year, in the order of the line."""
    clock: tuple[int, int, int]
    rest: str
    """The text after the time."""

    def time(self, order: DateOrder) -> datetime | None:
        """The local time; None if there is no such time."""
        first, second, third = self.numbers
        day, month, year = {"day-first": (first, second, third), "month-first": (second, first, third)}.get(order, (third, second, first))
        try:
            return datetime(year if year >= _NOON * 100 else _CENTURY + year, month, day, *self.clock)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A message, or a line that WhatsApp wrote."""

    line: int
    """Number of its first line."""
    time: datetime | None
    """Local time; None for lines before the first message."""
    sender: str | None
    """None: WhatsApp wrote it."""
    lines: tuple[str, ...]
    """The lines of its text."""


def start_of(line: str) -> Start | None:
    """Reads the beginning of a message; None if the line continues one."""
    found = _BRACKETED.match(line) or _DASHED.match(line)
    if found is None:
        return None
    first, separator, second, third, before, hour, minute, seconds, after = found.group(*_GROUPS)
    half = before or after
    clock = _clock(int(hour), int(minute), int(seconds or 0), half)
    if clock is None:
        return None
    style = Style(found.re is _BRACKETED, separator, seconds is not None, half is not None, len(first) == len("2023"))
    return Start(style, (int(first), int(second), int(third)), clock, line[found.end() :])


@dataclass(slots=True)
class Dates:
    """Evidence of the order of the numbers in the dates of a file."""

    style: Style | None = None
    count: int = 0
    invalid: Counter[DateOrder] = field(default_factory=Counter)
    """Number of dates that do not exist in each order."""
    first_invalid: dict[DateOrder, int] = field(default_factory=dict)
    """The line of the first of them."""
    backward: Counter[DateOrder] = field(default_factory=Counter)
    """How often a time is before the previous one."""
    last: dict[DateOrder, datetime] = field(default_factory=dict)
    differ: int | None = None
    """The first line whose date differs between the orders."""

    def add(self, number: int, line: str) -> None:
        """Reads a line."""
        start = start_of(line)
        if start is None or start.style != (self.style or start.style):
            return
        times = {each: start.time(each) for each in self.orders(start.style)}
        if not any(times.values()):
            return
        self.style = start.style
        self.count += 1
        if len(set(times.values())) > 1:
            self.differ = self.differ or number
        for order, time in times.items():
            if time is None:
                self.invalid[order] += 1
                self.first_invalid.setdefault(order, number)
                continue
            if order in self.last and time < self.last[order]:
                self.backward[order] += 1
            self.last[order] = time

    @staticmethod
    def orders(style: Style) -> tuple[DateOrder, ...]:
        """The orders that the form of the times allows."""
        if style.is_year_first:
            return ("year-first",)
        return ("day-first",) if style.separator == "." else ("day-first", "month-first")

    def order(self) -> DateOrder | None:
        """The order of all dates: the one in which all of them exist, or else the one in which time moves forward. None: unknown."""
        if self.style is None:
            return None
        possible = [each for each in self.orders(self.style) if each not in self.invalid]
        if len(possible) > 1 and self.differ is not None:
            least = min(self.backward[each] for each in possible)
            possible = [each for each in possible if self.backward[each] == least]
            return possible[0] if len(possible) == 1 else None
        return possible[0] if possible else None


def chat_entries(lines: Iterable[tuple[int, str]], style: Style, order: DateOrder, *, place: str) -> Iterator[ChatEntry]:
    """The entries of a file. Every line is part of exactly one.

    Args:
        lines: The numbered lines.
        style: The form of the times.
        order: The order of the numbers of a date.
        place: The name of the file, for errors.

    Raises:
        ImportFileError: If a message is too long.
    """
    number, size, time, sender, texts = 0, 0, None, None, list[str]()
    for at, line in lines:
        start = start_of(line)
        began = start.time(order) if start is not None and start.style == style else None
        if start is None or began is None:
            number, size = number or at, size + len(line)
            if size > _LONGEST:
                raise ImportFileError(f"{place}, line {number}: a message above {_LONGEST} characters; is --format right?")
            texts.append(line)
            continue
        if number:
            yield ChatEntry(number, time, sender, tuple(texts))
        number, size, time = at, len(line), began
        sender, text = _sender_of(start.rest)
        texts = [text]
    if number:
        yield ChatEntry(number, time, sender, tuple(texts))


def _clock(hour: int, minute: int, second: int, half: str | None) -> tuple[int, int, int] | None:
    if half is not None:
        if not 1 <= hour <= _NOON:
            return None
        word = re.sub(r"[.\s]", "", half).casefold()
        hour = hour % _NOON + (_NOON if word in {each.casefold() for each in _EVENING} else 0)
    return (hour, minute, second) if hour < 2 * _NOON and max(minute, second) < 60 else None


def _sender_of(rest: str) -> tuple[str | None, str]:
    """The sender and the first line of the text. A colon inside quotation marks is part of a line that WhatsApp wrote."""
    found = _SENDER.match(rest)
    if found is None:
        return None, rest
    name = found["sender"]
    if name.count('"') % 2 or any(name.count(left) != name.count(right) for left, right in _QUOTES):
        return None, rest
    bare = name.strip(MARKS + " \u202f\xa0~")
    return (bare, rest[found.end() :]) if bare else (None, rest)
