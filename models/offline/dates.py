"""Relative dates made absolute: what "yesterday" or "two weeks ago" means on the day it is said."""

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from models.offline.calendar_words import MONTHS, NUMBERS, SEASONS, WEEKDAYS

Precision = Literal["day", "week", "weekend", "month", "season", "year"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DateMention:
    """A stretch of a text that names a time."""

    start: int
    end: int
    """Where it lies in the text, the end behind its last character."""
    first: date
    last: date
    """The first and the last day it names."""
    precision: Precision
    is_relative: bool
    """Whether the text alone does not tell the date."""

    @property
    def label(self) -> str:
        """The absolute date in words: ``7 May 2023``, ``week of 1 May 2023``, ``April 2023``, ``summer 2022``, ``2022``."""
        match self.precision:
            case "day":
                return _in_words(self.first)
            case "week":
                return f"week of {_in_words(self.first)}"
            case "weekend":
                return f"weekend of {_in_words(self.first)}"
            case "month":
                return f"{calendar.month_name[self.first.month]} {self.first.year}"
            case "season":
                name = next(name for name, month in SEASONS.items() if month == self.first.month)
                return f"{name} {self.first.year}"
            case "year":
                return str(self.first.year)


def resolve_dates(text: str, said_on: date) -> list[DateMention]:
    """Finds the dates in a text and makes them absolute.

    A weekday, a day or a month without a year is the nearest one before or behind, by the tense of its sentence; where that does not
    tell, the nearest of all. What only guesswork could resolve ("a few weeks ago", "soon") is left out.

    Args:
        text: What was said, in English.
        said_on: The day on which it was said, where the speaker is.

    Returns:
        The mentions in the order of the text; none overlaps another.
    """
    found: list[DateMention] = []
    for mention in sorted(_candidates(text, said_on), key=lambda each: (each.start, -each.end)):
        if not found or mention.start >= found[-1].end:
            found.append(mention)
    return found


def _in_words(day: date) -> str:
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


_Span = tuple[date, date, Precision]
_Tense = Literal["past", "future", "unknown"]
_Reading = Callable[[re.Match[str], date, _Tense], _Span | None]


def _alternatives(words: dict[str, int]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_MONTH: Final = rf"(?P<month>{_alternatives(MONTHS)})\b"
_WEEKDAY: Final = rf"(?P<weekday>{_alternatives(WEEKDAYS)})\b"
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{_alternatives(NUMBERS)})(?: of)?"
_UNIT: Final = r"(?P<unit>day|week|month|year)s?"
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_WHICH: Final = r"(?P<which>last|past|previous|this past|this|next|coming|this coming)"
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|went|got|took|saw|met|made|came|left|bought|gave|found|told|said|ran|won|began|ate|been|since|[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_FUTURE: Final = re.compile(
    r"\b(?:will|won['’]t|going to|gonna|plan(?:ning|s)?|next|upcoming|tomorrow|shall|by|until|before|due|deadline|must|need|arrives?|"
    r"starts?|leaves?|opens?|ends?|visit|want|hope|hoping|should|could|can|see you)\b|['’]ll\b",
    re.IGNORECASE,
)
_BACKWARD: Final = frozenset({"last", "past", "previous", "this past"})


def _candidates(text: str, said_on: date) -> Iterator[DateMention]:
    for pattern, is_relative, reading in _PATTERNS:
        for match in pattern.finditer(text):
            try:
                span = reading(match, said_on, _tense_around(text, match.start(), match.end()))
            except (ValueError, OverflowError):
                continue
            if span is not None:
                first, last, precision = span
                yield DateMention(
                    start=match.start(), end=match.end(), first=first, last=last, precision=precision, is_relative=is_relative
                )


def _tense_around(text: str, start: int, end: int) -> _Tense:
    """Whether the sentence of a mention tells of the past or of the future; a word for the past outweighs one for the future."""
    opening = max(text.rfind(mark, 0, start) for mark in ".!?\n") + 1
    closing = min((place for mark in ".!?\n" if (place := text.find(mark, end)) >= 0), default=len(text))
    around = f"{text[opening:start]} {text[start:end].split()[0]} {text[end:closing]}"
    return "past" if _PAST.search(around) else "future" if _FUTURE.search(around) else "unknown"


def _by_tense(earlier: _Span, later: _Span, said_on: date, tense: _Tense) -> _Span:
    """The one that the tense asks for; the nearer one where it does not tell."""
    if tense == "unknown":
        return earlier if said_on - earlier[1] <= later[0] - said_on else later
    return earlier if tense == "past" else later


def _day(day: date) -> _Span:
    return day, day, "day"


def _week(day: date) -> _Span:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6), "week"


def _weekend(day: date) -> _Span:
    saturday = day - timedelta(days=day.weekday()) + timedelta(days=5)
    return saturday, saturday + timedelta(days=1), "weekend"


def _month(year: int, month: int) -> _Span:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]), "month"


def _year(year: int) -> _Span:
    return date(year, 1, 1), date(year, 12, 31), "year"


def _season(year: int, first_month: int) -> _Span:
    end_year, end_month = _moved(year, first_month, 2)
    return date(year, first_month, 1), _month(end_year, end_month)[1], "season"


def _moved(year: int, month: int, by: int) -> tuple[int, int]:
    years, months = divmod(month - 1 + by, 12)
    return year + years, months + 1


def _shift(said_on: date, unit: str, count: int) -> _Span:
    """``count`` units from a day; days and single weeks are exact, longer spans as coarse as the words are."""
    match unit:
        case "day":
            return _day(said_on + timedelta(days=count))
        case "week":
            return _day(said_on + timedelta(weeks=count)) if abs(count) == 1 else _week(said_on + timedelta(weeks=count))
        case "month":
            return _month(*_moved(said_on.year, said_on.month, count))
        case _:
            return _year(said_on.year + count)


def _count(match: re.Match[str]) -> int:
    word = match["count"].lower()
    return int(word) if word.isdigit() else NUMBERS[word]


def _read_near_day(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    word = " ".join(match[0].lower().split())
    if word == "the day before yesterday":
        return _day(said_on - timedelta(days=2))
    if word == "the day after tomorrow":
        return _day(said_on + timedelta(days=2))
    if word.startswith(("yesterday", "last night")):
        return _day(said_on - timedelta(days=1))
    return _day(said_on + timedelta(days=word.startswith("tomorrow")))


def _read_ago(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    return _shift(said_on, match["unit"].lower(), -_count(match))


def _read_ahead(match: re.Match[str], said_on: date, tense: _Tense) -> _Span | None:
    """``in two weeks`` is a date only where the future is told of: else it may be how long something took."""
    return _shift(said_on, match["unit"].lower(), _count(match)) if tense == "future" else None


def _read_which_unit(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    step = _step(match["which"])
    match match["unit"].lower():
        case "week":
            return _week(said_on + timedelta(weeks=step))
        case "weekend":
            return _weekend(said_on + timedelta(weeks=step))
        case "month":
            return _month(*_moved(said_on.year, said_on.month, step))
        case _:
            return _year(said_on.year + step)


def _step(which: str) -> int:
    which = which.lower()
    return -1 if which in _BACKWARD else 0 if which == "this" else 1


def _read_weekday(match: re.Match[str], said_on: date, tense: _Tense) -> _Span:
    ahead = (WEEKDAYS[match["weekday"].lower()] - said_on.weekday()) % 7
    this, last = _day(said_on + timedelta(days=ahead)), _day(said_on + timedelta(days=ahead - 7))
    which = (match["which"] or "").lower()
    if which in _BACKWARD:
        return last
    if which == "this":
        return this
    if which:
        return _day(said_on + timedelta(days=ahead or 7))
    return this if not ahead else _by_tense(last, this, said_on, tense)


def _read_which_month(match: re.Match[str], said_on: date, tense: _Tense) -> _Span:
    month = MONTHS[match["month"].lower()]
    which = (match["which"] or "").lower()
    if which == "this" or (not which and month == said_on.month):
        return _month(said_on.year, month)
    earlier = _month(said_on.year - (month >= said_on.month), month)
    later = _month(said_on.year + (month <= said_on.month), month)
    if which:
        return earlier if which in _BACKWARD else later
    return _by_tense(earlier, later, said_on, tense)


def _read_which_season(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    step = _step(match["which"])
    seasons = [_season(said_on.year + years, SEASONS[match["season"].lower()]) for years in (-2, -1, 0, 1)]
    if step < 0:
        return next(season for season in reversed(seasons) if season[1] < said_on)
    if step > 0:
        return next(season for season in seasons if season[0] > said_on)
    return next((season for season in seasons if season[0] <= said_on <= season[1]), seasons[2])


def _read_full(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    return _day(date(int(match["year"]), MONTHS[match["month"].lower()], int(match["day"])))


def _read_day_of_month(match: re.Match[str], said_on: date, tense: _Tense) -> _Span:
    month, day = MONTHS[match["month"].lower()], int(match["day"])
    if (month, day) == (said_on.month, said_on.day):
        return _day(said_on)
    is_ahead = (month, day) > (said_on.month, said_on.day)
    return _by_tense(_day(date(said_on.year - is_ahead, month, day)), _day(date(said_on.year + (not is_ahead), month, day)), said_on, tense)


def _read_month_of_year(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    return _month(int(match["year"]), MONTHS[match["month"].lower()])


def _read_season_of_year(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    return _season(int(match["year"]), SEASONS[match["season"].lower()])


def _read_year(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    return _year(int(match["year"]))


def _read_iso(match: re.Match[str], said_on: date, _: _Tense) -> _Span:
    return _day(date.fromisoformat(match[0]))


_SEASON: Final = rf"(?P<season>{_alternatives(SEASONS)})\b"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}(?!\w)", re.IGNORECASE)


_PATTERNS: Final[tuple[tuple[re.Pattern[str], bool, _Reading], ...]] = (
    (_compiled(r"\d{4}-\d\d-\d\d"), False, _read_iso),
    (_compiled(rf"{_DAY}(?: of)? {_MONTH},? {_YEAR}"), False, _read_full),
    (_compiled(rf"{_MONTH} {_DAY},? {_YEAR}"), False, _read_full),
    (_compiled(rf"{_MONTH},? (?:of )?{_YEAR}"), False, _read_month_of_year),
    (_compiled(rf"{_SEASON} (?:of )?{_YEAR}"), False, _read_season_of_year),
    (_compiled(rf"(?:in|since|during|from|until|by) (?:the year )?{_YEAR}"), False, _read_year),
    (_compiled(rf"(?:the )?{_DAY}(?: of)? {_MONTH}"), True, _read_day_of_month),
    (_compiled(rf"{_MONTH} (?:the )?{_DAY}"), True, _read_day_of_month),
    (
        _compiled(
            r"(?:the day before yesterday|the day after tomorrow|yesterday(?: morning| afternoon| evening| night)?|last night|"
            r"tomorrow(?: morning| afternoon| evening| night)?|today|tonight|this (?:morning|afternoon|evening))"
        ),
        True,
        _read_near_day,
    ),
    (_compiled(rf"{_COUNT} {_UNIT} (?:ago|back|earlier)"), True, _read_ago),
    (_compiled(rf"in (?:about )?{_COUNT} {_UNIT}(?:' time)?"), True, _read_ahead),
    (_compiled(rf"{_WHICH} (?P<unit>week|weekend|month|year)"), True, _read_which_unit),
    (_compiled(rf"(?:on |by |until |before |since |{_WHICH} ){_WEEKDAY}"), True, _read_weekday),
    (_compiled(rf"(?:in (?:early |late |mid-)?|since |{_WHICH} ){_MONTH}(?!,? (?:of )?\d)"), True, _read_which_month),
    (_compiled(rf"{_WHICH} {_SEASON}"), True, _read_which_season),
)
