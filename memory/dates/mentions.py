"""Relative dates made absolute: what "yesterday" or "two weeks ago" means on the day of the message."""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial

from memory.dates.calendar import SEASONS, Precision, day_in_words
from memory.dates.readings import PATTERNS, is_date_like, tense_around


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMention:
    """A part of a text that names a time."""

    start: int
    end: int
    """Its offset in the text; exclusive."""
    first: date
    last: date
    """The first and the last day it names."""
    precision: Precision
    is_relative: bool
    """Whether the date depends on the day of the message."""

    @property
    def label(self) -> str:
        """The absolute date in words: ``7 May 2023``, ``week of 1 May 2023``, ``April 2023``, ``summer 2022``, ``2022``.

        What may be any day of several is ``1 May 2023 to 7 May 2023``.
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


def resolve_dates(text: str, message_date: date) -> list[DateMention]:
    """Finds the dates in a text and makes them absolute.

    A weekday, a day or a month without a year is the nearest past or future one, by the tense of its sentence. If the tense is unknown, it
    is the nearest of all. "The other day" and "a few weeks ago" are one of several days; what only guesswork could resolve ("soon") is left
    out.

    Args:
        text: A message, in English.
        message_date: The day of the message, in the speaker's time zone.

    Returns:
        The mentions in the order of the text; none overlaps another.
    """
    found: list[DateMention] = []
    for mention in sorted(_candidates(text, message_date), key=lambda each: (each.start, -each.end)):
        if not found or mention.start >= found[-1].end:
            found.append(mention)
    return found


def _candidates(text: str, message_date: date) -> Iterator[DateMention]:
    for pattern, is_relative, reading in PATTERNS:
        for match in filter(is_date_like, pattern.finditer(text)):
            try:
                span = reading(match, message_date, partial(tense_around, text, match.start(), match.end()))
            except (ValueError, OverflowError):
                continue
            if span is not None:
                first, last, precision = span
                yield DateMention(
                    start=match.start(), end=match.end(), first=first, last=last, precision=precision, is_relative=is_relative
                )
