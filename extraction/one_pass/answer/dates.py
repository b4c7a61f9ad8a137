"""When an event happened, of what a model wrote for its date."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from extraction.one_pass.answer.coercion import as_text, as_time
from memory.dates.calendar import month_span, year_span
from memory.dates.event_date import UNKNOWN_DATE, EventDate
from memory.dates.mentions import resolve_dates, unclear_dates
from memory.records.limits import is_recordable_time

_DAYS: Final = re.compile(r"\d{4}(?:[-/]\d{1,2}(?:[-/]\d{1,2})?)?")
_PART: Final = r"\d{4}(?:-\d{1,2}(?:-\d{1,2})?)?"
_BETWEEN: Final = re.compile(rf"({_PART})\s*(?:/|\.\.|–|to|until|\s-\s)\s*({_PART})")
_UNKNOWN: Final = frozenset({"unknown", "none", "n/a", "?", "undated", "unspecified", "not said", "not known"})
_LATEST_YEAR_AHEAD: Final = 100
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class When:
    """When an event happened."""

    event_time: datetime
    """Of a date its beginning; of an unknown one, when it was said."""
    date: EventDate | None = None
    """How exactly that is known; None: to the moment, or it was when it was said."""
    is_understood: bool = True
    """Whether what the model wrote is a date. What is none leaves it unknown when it was."""


def read_when(value: Any, said_at: datetime) -> When:
    """Reads a date: ISO 8601 to the year, month, day or minute, a span of two, ``unknown``, or words such as "last week".

    A day that is the message's own adds nothing to the moment at which it was said.

    Args:
        value: What the model wrote; no blank.
        said_at: When the messages were said, in the speaker's zone.
    """
    text = as_text(value, longest=_LONGEST)
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
    return When(time)


def _days(text: str) -> EventDate | None:
    between = _BETWEEN.fullmatch(text)
    if between is not None:
        return EventDate(_span(between[1])[0], _span(between[2])[1])
    return EventDate(*_span(text)) if _DAYS.fullmatch(text) else None


def _span(text: str) -> tuple[date, date]:
    year, *rest = map(int, re.split("[-/]", text))
    if len(rest) == 2:
        return (date(year, *rest),) * 2
    return month_span(year, rest[0])[:2] if rest else year_span(year)[:2]


def _in_words(text: str, said_on: date) -> EventDate | None:
    """The one time that the words name. Of several, nobody knows which is meant."""
    if as_time(text, zone=None) is not None or unclear_dates(text, said_on):
        # A moment is more exact than its day.
        return None
    mentions = resolve_dates(text, said_on)
    return EventDate(mentions[0].first, mentions[0].last) if len(mentions) == 1 else None
