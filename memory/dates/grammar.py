"""Parts of the date patterns, and helpers that the readings share.

A :class:`Pattern` finds a text that may be a date, and its reading decides what it means. The readings are in
:mod:`memory.dates.absolute` (the text contains the year), :mod:`memory.dates.yearless` (the year follows from the tense),
:mod:`memory.dates.relative`, :mod:`memory.dates.counted` and :mod:`memory.dates.weekdays` (relative to the message's day).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from typing import Final

from memory.dates.calendar import MONTHS, SEASONS, WEEKDAYS, Span
from memory.dates.number_words import NUMBER_IN_WORDS, number_from_words
from memory.dates.tense import Tense


class NoDate(Enum):
    """A text that looks like a date without naming known days. Nothing inside it is read as another date."""

    UNCLEAR = auto()
    """A date that cannot be determined: 31 June, or a text with several meanings."""
    NONE = auto()
    """No date: a repetition ("every Monday") or an identifier."""


TenseOf = Callable[[], Tense]
"""Finds the tense around a mention. It is costly, so only the readings that depend on it call it."""
Outcome = Span | NoDate | None
"""None: the text is not a date, and a part of it may be one."""
Reading = Callable[[re.Match[str], date, TenseOf], Outcome]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One form of dates."""

    regex: re.Pattern[str]
    read: Reading
    is_relative: bool = False
    """Whether the date depends on the day of the message."""
    is_plain: bool = False
    """Whether the form excludes everyday words, so that "may" and "sat" need no further check."""


def compiled(pattern: str, *, isolated: bool = False) -> re.Pattern[str]:
    """A pattern that matches whole tokens only.

    Args:
        pattern: The pattern.
        isolated: Whether hyphens, slashes, dots and the like next to it make it a part of something else: a path, a phone number.
    """
    if isolated:
        return re.compile(rf"(?<![\w./#+-])(?:{pattern})(?![\w/+-])(?!\.\w)", re.IGNORECASE)
    return re.compile(rf"(?<!\w)(?<!\d[.,/:-])(?:{pattern})(?!\w)(?![./:-]\d)", re.IGNORECASE)


def alternatives(words: dict[str, int]) -> str:
    """A pattern of the words, longest first."""
    return "|".join(sorted(words, key=len, reverse=True))


_WEEKDAY_NAMES: Final = alternatives(WEEKDAYS)
_ABBREVIATION_DOT: Final = r"(?:(?:(?<=\b[a-z]{3})|(?<=\bsept))(?<!may)\.(?=[ -]?\d))?"
MONTH: Final = rf"(?P<month>{alternatives(MONTHS)})\b{_ABBREVIATION_DOT}"
SECOND_MONTH: Final = rf"(?P<month2>{alternatives(MONTHS)})\b{_ABBREVIATION_DOT}"
WEEKDAY: Final = rf"(?P<weekday>{_WEEKDAY_NAMES})\b"
ON_WEEKDAY: Final = (
    rf"(?:(?:(?:on|by|until|till|before|after|since|from|for|this|next) )?(?P<on_weekday>{_WEEKDAY_NAMES})\b[.,]{{0,2}}\s+(?:the\s+)?)?"
)
"""The optional weekday before a date: "Sat 18 May" is one date."""
SEASON: Final = rf"(?P<season>{alternatives(SEASONS)})\b"
DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
SECOND_DAY: Final = r"(?P<day2>[0-3]?\d)(?:st|nd|rd|th)?"
YEAR: Final = r"(?P<year>(?:1[6-9]|20)\d\d)"
SECOND_YEAR: Final = r"(?P<year2>(?:1[6-9]|20)\d\d)"
SHORT_YEAR: Final = r"['’](?P<short_year>\d\d)"
ANY_YEAR: Final = rf"(?:{YEAR}|{SHORT_YEAR})"
COUNT: Final = rf"(?P<count>\d{{1,3}}|(?:a )?couple(?: of)?|{NUMBER_IN_WORDS}|an?)"
UNIT: Final = r"(?P<unit>day|week|fortnight|month|year|decade)s?"
WHICH: Final = r"(?P<which>last|past|previous|this past|this|next|coming|this coming)"
TO: Final = r"\s*(?:-|–|—|\bto\b|\btill\b|\buntil\b|\bthrough\b|\bthru\b)\s*(?:the\s+)?"
FROM: Final = r"(?:(?P<between>between\s+)|from\s+)?(?:the\s+)?"
LINK: Final = rf"(?(between)(?:{TO}|\s+and\s+(?:the\s+)?)|{TO})"
"""Between the ends of a span that :data:`FROM` opens; "and" only after "between"."""
NO_TIME: Final = r"(?!\s*(?:[ap]\.?m\b|o['’]clock|:\d|h\b|%|°))"
"""After a number: it is not the time of day ("till 5 pm")."""
NO_NAME: Final = r"(?!\s+(?:street|st\.|road|rd\b|avenue|ave\b|lane|drive|square|court|boulevard)\b|['’]s\b)"
"""After a date: it is no address ("12 May Street") and no person ("chapter 12 of May's book")."""
ORDINALS: Final[dict[str, int]] = {
    **{word: number for number, word in enumerate(("first", "second", "third", "fourth", "fifth"), start=1)},
    **{word: number for number, word in enumerate(("1st", "2nd", "3rd", "4th", "5th"), start=1)},
    "last": -1,
}
_BACKWARD: Final = frozenset({"last", "past", "previous", "this past"})


def step_of(which: str) -> int:
    """-1 for "last", 0 for "this", 1 for "next"."""
    which = which.lower()
    return -1 if which in _BACKWARD else 0 if which == "this" else 1


def count_of(text: str) -> int | None:
    """The value of :data:`COUNT`; None for words that are no number."""
    text = " ".join(text.lower().split())
    if text.isdigit():
        return int(text)
    if "couple" in text:
        return 2
    return 1 if text in ("a", "an") else number_from_words(text)


def year_of(match: re.Match[str], today: date) -> int | None:
    """The year of :data:`ANY_YEAR`; None if a year of two digits may be in either century.

    Args:
        match: Match of a pattern with the group ``year``, ``short_year`` or both.
        today: The day of the message.
    """
    groups = match.groupdict()
    if groups.get("year"):
        return int(groups["year"])
    return full_year(int(groups["short_year"]), today)


def full_year(short: int, today: date) -> int | None:
    """The year of two digits: the current century until next year, the last century if that is 30 years ahead or more."""
    this = today.year - today.year % 100 + short
    return this if this <= today.year + 1 else this - 100 if this >= today.year + 30 else None


def by_tense(earlier: Span, later: Span, today: date, tense_of: TenseOf) -> Span:
    """The span that fits the tense. If the tense is unknown, the nearer one.

    Args:
        earlier: The last one before today.
        later: The next one.
        today: The day of the message.
        tense_of: Finds the tense.
    """
    tense = tense_of()
    if tense == "unknown":
        return earlier if today - earlier[1] <= later[0] - today else later
    return earlier if tense == "past" else later


_YEARS_BETWEEN_LEAP_YEARS: Final = 8
"""At most: 1900 was no leap year."""


def in_some_year(build: Callable[[int], Span], today: date, tense_of: TenseOf, *, weekday: int | None = None) -> Outcome:
    """A date without its year: the one that contains today, or the last or the next one, by weekday and tense.

    Args:
        build: The date in a year. It raises ValueError if the year does not have it.
        today: The day of the message.
        tense_of: Finds the tense.
        weekday: The weekday of its first day, if the text names one.
    """
    spans = []
    for year in range(today.year - _YEARS_BETWEEN_LEAP_YEARS, today.year + _YEARS_BETWEEN_LEAP_YEARS + 1):
        try:
            spans.append(build(year))
        except (ValueError, OverflowError):
            continue
    current = next((span for span in spans if span[0] <= today <= span[1]), None)
    earlier = next((span for span in reversed(spans) if span[1] < today), None)
    later = next((span for span in spans if span[0] > today), None)
    if weekday is not None:
        fitting = [span for span in (current, earlier, later) if span is not None and span[0].weekday() == weekday]
        return fitting[0] if len(fitting) == 1 else NoDate.UNCLEAR
    if current is not None:
        return current
    return by_tense(earlier, later, today, tense_of) if earlier and later else NoDate.UNCLEAR


def weekday_of(match: re.Match[str]) -> int | None:
    """The weekday before a date, from Monday, 0."""
    word = match["on_weekday"]
    return WEEKDAYS[word.lower()] if word else None


def month_of(match: re.Match[str], group: str = "month") -> int:
    """The number of a month's name."""
    return MONTHS[match[group].lower()]
