"""Holidays that people date things by."""

import calendar
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final

from memory.dates.calendar import MONTHS
from memory.dates.mentions import DateMention
from memory.dates.readings import Tense, tense_around


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


def holidays_in(text: str, today: date) -> Iterator[DateMention]:
    """Finds holidays. Without a year it is the last one before today, unless its sentence is about what lies ahead.

    Args:
        text: English.
        today: The day on which it is said.

    Yields:
        The mentions in the order of the text.
    """
    for match in _HOLIDAY.finditer(text.replace("’", "'")):
        day_of = _HOLIDAYS[" ".join(match["name"].lower().split())]
        try:
            day = _which(day_of, match, today, tense_around(text, match.start("name"), match.end("name")))
        except ValueError:
            # No calendar has its year.
            continue
        yield DateMention(start=match.start(), end=match.end(), first=day, last=day, precision="day", is_relative=not match["year"])


def _which(day_of: Callable[[int], date], match: re.Match[str], today: date, tense: Tense) -> date:
    if match["year"]:
        return day_of(int(match["year"]))
    this, which = day_of(today.year), (match["which"] or "").lower()
    if which == "this":
        return this
    if which == "next" or (not which and tense == "future"):
        return this if this >= today else day_of(today.year + 1)
    return this if this < today else day_of(today.year - 1)


_HOLIDAYS: Final[dict[str, Callable[[int], date]]] = {
    "christmas eve": lambda year: date(year, 12, 24),
    "christmas": lambda year: date(year, 12, 25),
    "new year's eve": lambda year: date(year, 12, 31),
    "new year's day": lambda year: date(year, 1, 1),
    "valentine's day": lambda year: date(year, 2, 14),
    "halloween": lambda year: date(year, 10, 31),
    "thanksgiving": thanksgiving,
    "easter": easter,
}
HOLIDAY_WORDS: Final = frozenset(name.split()[0] for name in _HOLIDAYS) - {"new"} | {"year", "valentine"}
"""One of these, without what stands behind an apostrophe, is in each of their names."""
_NAMES: Final = "|".join(name.replace(" ", r"\s+") for name in _HOLIDAYS)
_HOLIDAY: Final = re.compile(
    rf"\b(?:(?P<which>last|past|previous|next|this)\s+)?(?P<name>{_NAMES})\b(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d)\b)?", re.IGNORECASE
)
