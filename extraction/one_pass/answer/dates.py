"""Reads the date that a model wrote for an event."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from extraction.one_pass.answer.coercion import as_text, as_time
from memory.dates.calendar import month_span, year_span
from memory.dates.event_date import UNKNOWN_DATE, EventDate
from memory.dates.mentions import resolve_dates, unclear_dates
from memory.records.limits import is_recordable_time

_DAYS: Final = re.compile(r"\d{4}(?:[-/.]\d{1,2}(?:[-/.]\d{1,2})?)?")
_PLACEHOLDERS: Final = re.compile(r"(\d{4}(?:-\d{1,2})?)(?:-(?:XX|\?\?|00|__|MM|DD)){1,2}", re.IGNORECASE)
"""A date whose month or day is marked as unknown."""
_WEEK: Final = re.compile(r"(\d{4})-?W(\d{1,2})(?:-?([1-7]))?", re.IGNORECASE)
_QUARTER: Final = re.compile(r"(\d{4})[-\s]?Q([1-4])|Q([1-4])[-\s/]?(\d{4})", re.IGNORECASE)
_DECADE: Final = re.compile(r"(\d{3})0'?s|(\d{3})[X?]", re.IGNORECASE)
_APPROXIMATELY: Final = re.compile(
    r"\A(?:about|around|approximately|approx\.?|circa|ca?\.|~)\s*|\s*[~?]\Z|\s*\((?:approximate|estimated)\)\Z", re.IGNORECASE
)
_PART: Final = r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?|-?[WQ]\d{1,2})?"
_BETWEEN: Final = re.compile(rf"({_PART})\s*(?:/|\.\.|–|to|until|\s-\s)\s*({_PART})")
_UNKNOWN: Final = frozenset({"unknown", "none", "n/a", "?", "undated", "unspecified", "not said", "not known"})
_LATEST_YEAR_AHEAD: Final = 100
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class When:
    """The time of an event."""

    event_time: datetime
    """The beginning of the date; if the date is unknown, when the event was said."""
    date: EventDate | None = None
    """How exactly that is known; None: to the moment, or it was when it was said."""
    is_understood: bool = True
    """Whether what the model wrote is a date. What is none leaves it unknown when it was."""


def read_when(value: Any, said_at: datetime) -> When:
    """Reads a date: ISO 8601 to the year, month, day or minute, a span of two, ``unknown``, or words such as "last week".

    A day that is the message's own adds nothing to the moment at which it was said.

    Also ISO weeks (``2024-W14``), quarters, decades, dates with placeholders (``2024-05-XX``), and two dates in a list or an object.

    Args:
        value: The text of the model; not blank.
        said_at: When the messages were said, in the speaker's zone.
    """
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list) and len(value) == 2:
        value = "/".join(dict.fromkeys(as_text(each, longest=_LONGEST) for each in value))
    text = _APPROXIMATELY.sub("", as_text(value, longest=_LONGEST))
    if text.casefold().strip(".") in _UNKNOWN:
        return When(said_at, UNKNOWN_DATE)
    try:
        known = _days(text) or _in_words(text, said_at.date())
    except ValueError:
        known = None
    if known is None:
        return _moment(text, said_at) or When(said_at, UNKNOWN_DATE, is_understood=False)
    begins_at = known.begins_at(said_at.tzinfo)
    if begins_at is None or not is_recordable_time(begins_at) or begins_at.year > said_at.year + _LATEST_YEAR_AHEAD:
        return When(said_at, UNKNOWN_DATE, is_understood=False)
    is_own_day = known.first == known.last == said_at.date()
    return When(said_at) if is_own_day else When(begins_at, known)


def _moment(text: str, said_at: datetime) -> When | None:
    time = as_time(text, zone=said_at.tzinfo)
    if time is None or not is_recordable_time(time) or time.year > said_at.year + _LATEST_YEAR_AHEAD:
        return None
    # A model may write the moment in UTC; days are counted in the zone of the message.
    return When(time.astimezone(said_at.tzinfo))


def _days(text: str) -> EventDate | None:
    between = _BETWEEN.fullmatch(text)
    if between is not None:
        first, last = _span(between[1]), _span(between[2])
        return EventDate(first[0], last[1]) if first is not None and last is not None else None
    span = _span(text)
    return None if span is None else EventDate(*span)


def _span(text: str) -> tuple[date, date] | None:
    """The first and the last day of a date in digits; None if it is no such date.

    Raises:
        ValueError: If the calendar has no such date.
    """
    if placeholder := _PLACEHOLDERS.fullmatch(text):
        text = placeholder[1]
    if week := _WEEK.fullmatch(text):
        first = date.fromisocalendar(int(week[1]), int(week[2]), int(week[3] or 1))
        return first, first if week[3] else first + timedelta(days=6)
    if quarter := _QUARTER.fullmatch(text):
        year, number = int(quarter[1] or quarter[4]), int(quarter[2] or quarter[3])
        return month_span(year, 3 * number - 2)[0], month_span(year, 3 * number)[1]
    if decade := _DECADE.fullmatch(text):
        year = int(decade[1] or decade[2]) * 10
        return date(year, 1, 1), date(year + 9, 12, 31)
    if not _DAYS.fullmatch(text):
        return None
    year, *rest = map(int, re.split("[-/.]", text))
    if len(rest) == 2:
        return (date(year, *rest),) * 2
    return month_span(year, rest[0])[:2] if rest else year_span(year)[:2]


def _in_words(text: str, said_on: date) -> EventDate | None:
    """The time that the words name; None if they name several."""
    if as_time(text, zone=None) is not None or unclear_dates(text, said_on):
        # A moment is more exact than its day.
        return None
    mentions = resolve_dates(text, said_on)
    return EventDate(mentions[0].first, mentions[0].last) if len(mentions) == 1 else None
