"""Dates of events, as exactly as they are known: a day, a month, a year, a span of them, or unknown.

Written as in ISO 8601-2 (EDTF): ``2023-05-08``, ``2023-05``, ``2023``, ``2023-05-01/2023-05-07``; and ``unknown``. Each date has one text.
An event without a date happened at its moment, ``event_time``; with one, that is the beginning of its first day.
"""

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field

from memory.dates.calendar import month_span, year_span

_UNKNOWN: Final = "unknown"
_BETWEEN: Final = "/"
_PART: Final = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_FIRST_YEAR: Final = 1000
_LAST_YEAR: Final = 8999
"""The years of times in records (:mod:`memory.records.limits`)."""
_MONTHS: Final = frozenset(range(1, 13))


@dataclass(frozen=True, slots=True)
class EventDate:
    """A span of days; without days, the date is unknown."""

    first: date | None
    last: date | None
    """First and last day; both are None for an unknown date."""

    def __post_init__(self) -> None:
        if (self.first is None) != (self.last is None):
            raise ValueError("a date has both a first and a last day, or neither")
        if self.first is None or self.last is None:
            return
        if self.first > self.last:
            raise ValueError(f"a date ends on {self.last}, before it begins on {self.first}; write the earlier day first")
        if not _FIRST_YEAR <= self.first.year <= self.last.year <= _LAST_YEAR:
            raise ValueError(f"a date must be in the years {_FIRST_YEAR} to {_LAST_YEAR}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses a date's text, also if it is not the shortest form.

        Raises:
            ValueError: If it is no date; the message lists the forms.
        """
        if text == _UNKNOWN:
            return cls(None, None)
        parts = [_PART.fullmatch(each) for each in text.split(_BETWEEN)]
        if not 1 <= len(parts) <= 2 or None in parts:
            raise ValueError(f"{text[:40]!r} is no date; write YYYY-MM-DD, YYYY-MM, YYYY, two of them with / between, or {_UNKNOWN}")
        spans = [_span(each) for each in parts if each is not None]
        return cls(spans[0][0], spans[-1][1])

    @property
    def is_unknown(self) -> bool:
        """Whether it is not known when it was."""
        return self.first is None

    @property
    def text(self) -> str:
        """The shortest form. Equal dates have equal texts."""
        if self.first is None or self.last is None:
            return _UNKNOWN
        whole_months = self.first.day == 1 and self.last.day == calendar.monthrange(self.last.year, self.last.month)[1]
        whole_years = whole_months and self.first.month == 1 and self.last.month == 12
        length = len("2023") if whole_years else len("2023-05") if whole_months else None
        first, last = self.first.isoformat()[:length], self.last.isoformat()[:length]
        return first if first == last else f"{first}{_BETWEEN}{last}"

    def begins_at(self, zone: tzinfo | None) -> datetime | None:
        """The beginning of the first day.

        Args:
            zone: The time zone of the days.
        """
        return None if self.first is None else datetime.combine(self.first, time.min, tzinfo=zone)


UNKNOWN_DATE: Final = EventDate(None, None)


def _shortest(text: str) -> str:
    return EventDate.parse(text).text


DateText = Annotated[str, Field(max_length=40), AfterValidator(_shortest)]
"""Text of an :class:`EventDate` in records."""


def last_moment(event_time: datetime, text: str | None) -> datetime:
    """The latest moment at which an event may have happened. For an unknown date, the moment at which it was said.

    Args:
        event_time: The event's.
        text: The text of its date in the record; None: the moment is known.
    """
    last = None if text is None else EventDate.parse(text).last
    return event_time if last is None else max(event_time, datetime.combine(last, time.max, tzinfo=event_time.tzinfo))


def middle_moment(event_time: datetime, text: str | None) -> datetime:
    """One moment for an event that may have happened on several days: the middle of them.

    Args:
        event_time: The event's.
        text: The text of its date in the record; None: the moment is known.
    """
    return event_time if text is None else event_time + (last_moment(event_time, text) - event_time) / 2


def days_of(event_time: datetime, text: str | None) -> tuple[date, date] | None:
    """First and last day on which an event may have happened; None if unknown.

    Args:
        event_time: The event's.
        text: The text of its date in the record; None: the moment is known.
    """
    if text is None:
        return event_time.date(), event_time.date()
    known = EventDate.parse(text)
    return None if known.first is None or known.last is None else (known.first, known.last)


def months_of(event_time: datetime, text: str | None) -> frozenset[int]:
    """The months of the year, from 1, in one of which an event happened; empty if it may be any of them.

    Args:
        event_time: The event's.
        text: The text of its date in the record; None: the moment is known.
    """
    if text is None:
        return frozenset((event_time.month,))
    known = EventDate.parse(text)
    if known.first is None or known.last is None:
        return frozenset()
    count = (known.last.year - known.first.year) * 12 + known.last.month - known.first.month + 1
    months = frozenset((known.first.month - 1 + step) % 12 + 1 for step in range(min(count, 12)))
    return frozenset() if months == _MONTHS else months


def shown_date(event_time: datetime, text: str | None) -> str:
    """The date of an event for people and models, as exactly as it is known.

    Args:
        event_time: The event's.
        text: The text of its date in the record; None: the moment is known.
    """
    if text is None:
        return event_time.date().isoformat()
    known = EventDate.parse(text)
    return f"some day (said {event_time.date().isoformat()})" if known.is_unknown else known.text.replace(_BETWEEN, " to ")


def _span(part: re.Match[str]) -> tuple[date, date]:
    year, month, day = (int(each) if each else None for each in part.groups())
    if year is None or month is None:
        return year_span(year or 0)[:2]
    return month_span(year, month)[:2] if day is None else (date(year, month, day),) * 2
