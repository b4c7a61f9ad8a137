"""Holidays that people date things by."""

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final

from memory.dates.calendar import MONTHS, Span, day_span
from memory.dates.grammar import NoDate, Outcome, Pattern, TenseOf, step_of
from memory.dates.tense import Tense, tense_around


def easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus 1991, chapter 8)."""
    golden, (century, of_century) = year % 19, divmod(year, 100)
    leaps, rest = divmod(century, 4)
    epact = (19 * golden + century - leaps - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    quarter, left = divmod(of_century, 4)
    to_sunday = (32 + 2 * rest + 2 * quarter - epact - left) % 7
    month, day = divmod(epact + to_sunday - 7 * ((golden + 11 * epact + 22 * to_sunday) // 451) + 114, 31)
    return date(year, month, day + 1)


def thanksgiving(year: int) -> date:
    """The fourth Thursday of November, as in the United States."""
    november = MONTHS["november"]
    return date(year, november, 22 + (calendar.THURSDAY - date(year, november, 22).weekday()) % 7)


def holidays_in(text: str, today: date) -> Iterator[tuple[int, int, date, bool]]:
    """Finds holidays in a question. Without a year it is the last one before today, unless the sentence is about the future.

    Args:
        text: English.
        today: The day on which it is said.

    Yields:
        Start and end offset, the day, and whether the text names its year, in the order of the text.
    """
    for match in _HOLIDAY.finditer(text):
        try:
            day = _day_of(match, today, tense_around(text, match.start("name"), match.end("name")))
        except ValueError:
            # The calendar has no such year.
            continue
        yield match.start(), match.end(), day, bool(match["year"])


def _day_of(match: re.Match[str], today: date, tense: Tense) -> date:
    name = " ".join(match["name"].lower().replace("’", "'").split())
    day_of = _HOLIDAYS[name]
    if match["year"]:
        return day_of(int(match["year"]))
    this, step = day_of(today.year), step_of(match["which"]) if match["which"] else None
    if step == 0:
        return this
    if step == 1 or (step is None and tense == "future"):
        return this if this >= today else day_of(today.year + 1)
    return this if this < today else day_of(today.year - 1)


def _read_holiday(match: re.Match[str], today: date, tense_of: TenseOf) -> Outcome:
    """A holiday in a statement: a time only after a preposition or with its year ("I love Christmas" is none)."""
    if not (match["which"] or match["year"] or match["preposition"]):
        return None
    if match["which"] or match["year"]:
        return _span(match, today, "unknown")
    tense = tense_of()
    return NoDate.UNCLEAR if tense == "unknown" else _span(match, today, tense)


def _span(match: re.Match[str], today: date, tense: Tense) -> Span:
    return day_span(_day_of(match, today, tense))


_HOLIDAYS: Final[dict[str, Callable[[int], date]]] = {
    "christmas eve": lambda year: date(year, 12, 24),
    "christmas day": lambda year: date(year, 12, 25),
    "christmas": lambda year: date(year, 12, 25),
    "boxing day": lambda year: date(year, 12, 26),
    "new year's eve": lambda year: date(year, 12, 31),
    "new year's day": lambda year: date(year, 1, 1),
    "valentine's day": lambda year: date(year, 2, 14),
    "halloween": lambda year: date(year, 10, 31),
    "thanksgiving": thanksgiving,
    "good friday": lambda year: easter(year) - timedelta(days=2),
    "easter sunday": easter,
    "easter monday": lambda year: easter(year) + timedelta(days=1),
    "easter": easter,
}
HOLIDAY_WORDS: Final = frozenset(name.split()[0] for name in _HOLIDAYS) - {"new", "good"} | {"year", "valentine", "friday"}
"""One of these, without the part after an apostrophe, is in the name of each holiday."""
_NAMES: Final = "|".join(name.replace(" ", r"\s+").replace("'", "['’]") for name in _HOLIDAYS)
_HOLIDAY: Final = re.compile(
    rf"\b(?:(?:(?P<preposition>on|at|over|since|by|until|till)\s+)?(?:(?P<which>last|past|previous|next|this)\s+)?)(?P<name>{_NAMES})\b"
    r"(?:,?\s+(?:of\s+)?(?:(?P<year>(?:19|20)\d\d)\b))?",
    re.IGNORECASE,
)
PATTERNS: Final = (Pattern(_HOLIDAY, _read_holiday, is_relative=True),)
