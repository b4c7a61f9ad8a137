"""The dates in a text, resolved on the day of the message: what "yesterday" or "Sat 18 May" means.

The forms are in :mod:`~memory.dates.absolute`, :mod:`~memory.dates.yearless`, :mod:`~memory.dates.relative`, :mod:`~memory.dates.counted`,
:mod:`~memory.dates.weekdays`, :mod:`~memory.dates.holidays` and :mod:`~memory.dates.unclear`. The leftmost form counts, and of those that
begin at the same place the longest.
"""

import calendar
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from typing import Final

from memory.dates import absolute, counted, holidays, relative, unclear, weekdays, yearless
from memory.dates.calendar import SEASONS, Precision, day_in_words
from memory.dates.everyday_words import is_date_like
from memory.dates.grammar import NoDate, Outcome
from memory.dates.tense import tense_around
from memory.texts.prefiltered_patterns import Table

_PATTERNS: Final = Table(
    (
        (each.regex.pattern, each)
        for each in (
            *absolute.PATTERNS,
            *yearless.PATTERNS,
            *relative.PATTERNS,
            *counted.PATTERNS,
            *weekdays.PATTERNS,
            *holidays.PATTERNS,
            *unclear.PATTERNS,
        )
    ),
    re.IGNORECASE,
)
_KEPT_TEXTS: Final = 128
"""Texts whose dates are cached: the known dates of a window's texts are asked for first, and the unclear ones later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMention:
    """A part of a text that names a time."""

    start: int
    end: int
    """End offset in the text, exclusive."""
    first: date
    last: date
    """First and last day of the date."""
    precision: Precision
    is_relative: bool
    """Whether the date depends on the day of the message."""

    @property
    def label(self) -> str:
        """The absolute date in words: ``7 May 2023``, ``week of 1 May 2023``, ``April 2023``, ``summer 2022``, ``2022``.

        Any day of several is ``1 May 2023 to 7 May 2023``.
        """
        match self.precision:
            case "day":
                return day_in_words(self.first)
            case "week":
                return f"week of {day_in_words(self.first)}"
            case "weekend":
                return f"weekend of {day_in_words(self.first)}"
            case "month":
                return f"{calendar.month_name[self.first.month]} {self.first.year}"
            case "season":
                name = next(name for name, month in SEASONS.items() if month == self.first.month)
                return f"{name} {self.first.year}"
            case "year":
                return str(self.first.year)
            case "between":
                return f"{day_in_words(self.first)} to {day_in_words(self.last)}"


@dataclass(frozen=True, slots=True)
class UnclearDate:
    """A part of a text that names a time which cannot be determined: ``31 June``, ``week 23``, ``years ago``."""

    start: int
    end: int
    """End offset in the text, exclusive."""


def resolve_dates(text: str, message_date: date) -> list[DateMention]:
    """Finds the dates in a text and makes them absolute.

    A weekday, a day or a month without a year is the nearest past or future one, by the tense of its sentence. If the tense is unknown, it
    is the nearest of all. "The other day" and "a few weeks ago" are one of several days. A date that cannot be determined is left out;
    :func:`unclear_dates` returns it.

    Args:
        text: A message, in English.
        message_date: The day of the message, in the speaker's time zone.

    Returns:
        The mentions in the order of the text, without overlaps.
    """
    return [each for each in _dates_in(text, message_date) if isinstance(each, DateMention)]


def unclear_dates(text: str, message_date: date) -> list[UnclearDate]:
    """Finds the dates in a text that cannot be determined. An event with such a date has the date ``unknown``, not the message's.

    Args:
        text: A message, in English.
        message_date: The day of the message, in the speaker's time zone.

    Returns:
        The parts of the text, in order.
    """
    return [each for each in _dates_in(text, message_date) if isinstance(each, UnclearDate)]


@lru_cache(maxsize=_KEPT_TEXTS)
def _dates_in(text: str, message_date: date) -> tuple[DateMention | UnclearDate, ...]:
    found: list[DateMention | UnclearDate] = []
    read_until = 0
    matches = ((match, pattern) for regex, pattern in _PATTERNS.possible(text) for match in regex.finditer(text))
    for match, pattern in sorted(matches, key=lambda each: (each[0].start(), -each[0].end())):
        start, end = match.span()
        if start < read_until or not (pattern.is_plain or is_date_like(match)):
            continue
        try:
            outcome = pattern.read(match, message_date, partial(tense_around, text, start, end))
        except (ValueError, OverflowError):
            # The calendar has no such day.
            outcome = NoDate.UNCLEAR
        if outcome is None:
            continue
        read_until = end
        found.extend(_result(start, end, outcome, is_relative=pattern.is_relative))
    return tuple(found)


def _result(start: int, end: int, outcome: Outcome, *, is_relative: bool) -> Iterable[DateMention | UnclearDate]:
    if isinstance(outcome, tuple):
        first, last, precision = outcome
        yield DateMention(start=start, end=end, first=first, last=last, precision=precision, is_relative=is_relative)
    elif outcome is NoDate.UNCLEAR:
        yield UnclearDate(start, end)
