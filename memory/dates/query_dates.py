"""The times that a question asks for: "last May", "two weeks before 11 August", "between the 3rd and the 5th", "before Christmas"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from memory.dates.absolute import DECADES
from memory.dates.calendar import MONTHS, NUMBERS, SEASONS, WEEKDAYS, relative_span
from memory.dates.holidays import HOLIDAY_WORDS, holidays_in
from memory.dates.mentions import DateMention, resolve_dates

_AROUND: Final = timedelta(days=30)
"""Length of a plain "before" or "after": people date events by what was near them."""
_DAY: Final = timedelta(days=1)
_LOOKED_BACK: Final = 60
"""Characters before a date that are searched for "two weeks before the"."""
_READ: Final = 1000
"""Characters of a question that are read, from its beginning. The rest is pasted text, whose dates are not part of the question."""
_MOST_SPANS: Final = 8


@dataclass(frozen=True, slots=True)
class AskedSpan:
    """Days that a question asks for."""

    first: date
    last: date

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1


@dataclass(frozen=True, slots=True)
class AskedOffset:
    """A time that is counted from an event instead of a date: "two weeks before the trip"."""

    anchor: str
    """The start of the count, in the question's words."""
    unit: str
    """``day``, ``week``, ``month`` or ``year``."""
    count: int
    """Negative: before the anchor."""

    def from_days(self, first: date, last: date) -> AskedSpan | None:
        """The days; None if the calendar has no such days.

        Args:
            first: The anchor's first day.
            last: Its last one.
        """
        try:
            return _counted(first, last, self.unit, self.count)
        except (ValueError, OverflowError):
            return None


def asked_spans(query: str, today: date) -> list[AskedSpan]:
    """Finds the times that a question asks for.

    Relative dates count from the day that the question names in full ("last week, as of 6 November 2023"), and else from today. "Before"
    and "after" a date mean the month next to it, "since" the time from then to today.

    Args:
        query: The question, in English.
        today: The day on which it is asked.

    Returns:
        In the question's order, each once, at most eight; empty where it names no time.
    """
    query = query[:_READ]
    if not may_name_date(query):
        return []
    mentions = _mentions(query, today)
    full_date = next((each.first for each in mentions if not each.is_relative and each.precision == "day"), None)
    if full_date is not None:
        mentions = _mentions(query, full_date)
    found: list[AskedSpan] = []
    before: DateMention | None = None
    for mention in mentions:
        try:
            if before is not None and _AND.fullmatch(query, before.end, mention.start) and _FROM.search(_head(query, before)):
                found[-1:] = [AskedSpan(min(before.first, mention.first), max(before.last, mention.last))]
            else:
                found.append(_at_its_side(_head(query, mention), mention, today))
        except (ValueError, OverflowError):
            # The calendar has no such day.
            before = None
        else:
            before = mention
    return [*dict.fromkeys(found)][:_MOST_SPANS]


def may_name_date(query: str) -> bool:
    """Whether a text has a digit or any word of dates. Most questions have none, so the costly patterns are skipped.

    Args:
        query: The question, in English.
    """
    return not _DATE_WORDS.isdisjoint(_WORD.findall(query.lower()))


def asked_offset(query: str) -> AskedOffset | None:
    """Finds a time that is counted from an event instead of a date; None if there is none.

    Args:
        query: The question, in English.
    """
    query = query[:_READ]
    match = _COUNTED.search(query)
    anchor = _ANCHOR.match(query, match.end()) if match else None
    return AskedOffset(anchor[0].strip(), _unit(match), _signed(match)) if match and anchor else None


_WORD: Final = re.compile(r"[a-z]+|[0-9]")
_DATE_WORDS: Final = frozenset(
    {*MONTHS, *WEEKDAYS, *SEASONS, *HOLIDAY_WORDS, *"0123456789"}
    | {f"{unit}{plural}" for unit in ("day", "week", "weekend", "month", "year") for plural in ("", "s")}
    | {*DECADES, "ago", "quarter", "quarters", "fortnight", "fortnights", "decade", "decades"}
    | {"yesterday", "today", "tonight", "tomorrow", "night", "morning", "afternoon", "evening"}
)
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})(?:\s+of)?"
_UNITS: Final = "day|week|month|year"
_SIDES: Final = r"(?P<side>before|prior\s+to|after|following)"
_COUNTED: Final = re.compile(rf"\b(?:{_COUNT}\s+(?P<unit>{_UNITS})s?|the\s+(?P<one>{_UNITS}))\s+{_SIDES}\s+", re.IGNORECASE)
_COUNTED_FROM: Final = re.compile(rf"{_COUNTED.pattern}(?:the\s+)?$", re.IGNORECASE)
_WEEKDAY: Final = re.compile(
    rf"\bthe\s+(?P<weekday>{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})\s+{_SIDES}\s+(?:the\s+)?$", re.IGNORECASE
)
_SIDE: Final = re.compile(r"\b(?P<side>before|prior\s+to|by|until|till|after|following|since)\s+(?:the\s+)?$", re.IGNORECASE)
_LATELY: Final = re.compile(rf"\b(?:last|past|previous)\s+{_COUNT}\s+(?P<unit>{_UNITS})s?\b", re.IGNORECASE)
_ANCHOR: Final = re.compile(r"[^,.;:?!]{2,60}")
_AND: Final = re.compile(r"\s*(?:and|to|until|till|-|–)\s*(?:on\s+)?(?:the\s+)?", re.IGNORECASE)
_FROM: Final = re.compile(r"\b(?:between|from)\s+(?:the\s+)?$", re.IGNORECASE)
_PREPOSITION: Final = re.compile(
    r"(?:in|on|at|over|for|around|through|since|during|from|until|till|by|before|after)\s+(?:the\s+year\s+)?", re.IGNORECASE
)


def _mentions(query: str, today: date) -> list[DateMention]:
    holidays = [
        DateMention(start=start, end=end, first=day, last=day, precision="day", is_relative=not has_year)
        for start, end, day, has_year in holidays_in(query, today)
    ]
    others = [each for each in resolve_dates(query, today) if not any(each.start < day.end and day.start < each.end for day in holidays)]
    return sorted([*others, *holidays, *_lately(query, today)], key=lambda each: each.start)


def _lately(query: str, today: date) -> Iterator[DateMention]:
    """Spans such as "in the last two weeks"."""
    for match in _LATELY.finditer(query):
        try:
            first = relative_span(today, match["unit"].lower(), -_number(match["count"]))[0]
        except (ValueError, OverflowError):
            continue
        yield DateMention(start=match.start(), end=match.end(), first=first, last=today, precision="between", is_relative=True)


def _head(query: str, mention: DateMention) -> str:
    """The text before a date, with the preposition that its pattern matched."""
    preposition = _PREPOSITION.match(query, mention.start, mention.end)
    start = preposition.end() if preposition else mention.start
    return query[max(0, start - _LOOKED_BACK) : start]


def _at_its_side(head: str, mention: DateMention, today: date) -> AskedSpan:
    if counted := _COUNTED_FROM.search(head):
        return _counted(mention.first, mention.last, _unit(counted), _signed(counted))
    if weekday := _WEEKDAY.search(head):
        wanted = WEEKDAYS[weekday["weekday"].lower()]
        if _is_before(weekday):
            day = mention.first - _DAY - timedelta(days=(mention.first.weekday() - 1 - wanted) % 7)
        else:
            day = mention.last + _DAY + timedelta(days=(wanted - mention.last.weekday() - 1) % 7)
        return AskedSpan(day, day)
    side = _SIDE.search(head)
    match side["side"].lower().split()[0] if side else "":
        case "since":
            return AskedSpan(mention.first, max(today, mention.last))
        case "by" | "until" | "till":
            return AskedSpan(mention.first - _AROUND, mention.last)
        case "before" | "prior":
            return AskedSpan(mention.first - _AROUND, mention.first - _DAY)
        case "after" | "following":
            return AskedSpan(mention.last + _DAY, mention.last + _AROUND)
        case _:
            return AskedSpan(mention.first, mention.last)


def _counted(first: date, last: date, unit: str, count: int) -> AskedSpan:
    if unit == "week" and abs(count) == 1:
        # "The week before" is all of its days, and not the same weekday.
        week = 7 * _DAY
        return AskedSpan(first - week, first - _DAY) if count < 0 else AskedSpan(last + _DAY, last + week)
    return AskedSpan(*relative_span(first if count < 0 else last, unit, count)[:2])


def _unit(counted: re.Match[str]) -> str:
    return (counted["unit"] or counted["one"]).lower()


def _signed(counted: re.Match[str]) -> int:
    count = _number(counted["count"] or "a")
    return -count if _is_before(counted) else count


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


def _is_before(match: re.Match[str]) -> bool:
    return match["side"].lower().startswith(("before", "prior"))
