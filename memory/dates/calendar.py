"""Words for days, months and seasons, and the spans of days that dates name."""

import calendar
from datetime import date, timedelta
from typing import Final, Literal

from memory.words import NUMBER_WORDS

MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS: Final[dict[str, int]] = {
    **{name: number for number, name in enumerate(MONTH_NAMES, start=1)},
    **{name[:3]: number for number, name in enumerate(MONTH_NAMES, start=1)},
    "sept": 9,
}
"""Their numbers, by name and by abbreviation."""

WEEKDAYS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tues tue", "wednesday wed", "thursday thurs thur thu", "friday fri", "saturday sat", "sunday sun")
    )
    for name in names.split()
}
"""From Monday, 0, as :meth:`datetime.date.weekday` counts."""

SEASONS: Final[dict[str, int]] = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""The first month of each, on the northern half of the earth."""

NUMBERS: Final[dict[str, int]] = {"a": 1, "an": 1, "couple": 2} | {
    word: number for word, number in NUMBER_WORDS.items() if 1 <= number <= 12
}
"""The numbers that people count days, weeks, months and years by in words."""

Precision = Literal["day", "week", "weekend", "month", "season", "year", "between"]
Span = tuple[date, date, Precision]
"""The first and the last day, and how exact the words were."""


def day_span(day: date) -> Span:
    """One day."""
    return day, day, "day"


def week_span(day: date) -> Span:
    """The week of a day, from Monday."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6), "week"


def weekend_span(day: date) -> Span:
    """The weekend of a day's week."""
    saturday = day - timedelta(days=day.weekday()) + timedelta(days=5)
    return saturday, saturday + timedelta(days=1), "weekend"


def month_span(year: int, month: int) -> Span:
    """One month."""
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]), "month"


def year_span(year: int) -> Span:
    """One year."""
    return date(year, 1, 1), date(year, 12, 31), "year"


def season_span(year: int, first_month: int) -> Span:
    """The three months from a season's first one."""
    end_year, end_month = add_months(year, first_month, 2)
    return date(year, first_month, 1), month_span(end_year, end_month)[1], "season"


def add_months(year: int, month: int, count: int) -> tuple[int, int]:
    """The year and the month that are ``count`` months later.

    Args:
        year: Of the month to count from.
        month: Its number, from 1.
        count: May be negative.
    """
    years, months = divmod(month - 1 + count, 12)
    return year + years, months + 1


def relative_span(message_date: date, unit: str, count: int) -> Span:
    """The day, week, month or year that is ``count`` units from a day. Days and single weeks give one day, longer units a whole span.

    Args:
        message_date: The day to count from.
        unit: ``day``, ``week``, ``month`` or ``year``.
        count: May be negative.
    """
    match unit:
        case "day":
            return day_span(message_date + timedelta(days=count))
        case "week":
            return day_span(message_date + timedelta(weeks=count)) if abs(count) == 1 else week_span(message_date + timedelta(weeks=count))
        case "month":
            return month_span(*add_months(message_date.year, message_date.month, count))
        case _:
            return year_span(message_date.year + count)


def few_units_ago(message_date: date, unit: str) -> Span:
    """What "a few days ago" may mean: from six of the units back to two of them, from seven of days.

    Args:
        message_date: The day to count from.
        unit: ``day``, ``week``, ``month`` or ``year``.
    """
    first = relative_span(message_date, unit, -7 if unit == "day" else -6)[0]
    return first, relative_span(message_date, unit, -2)[1], "between"


def the_other_day(message_date: date) -> Span:
    """One of the seven days before."""
    return message_date - timedelta(days=7), message_date - timedelta(days=1), "between"


def day_in_words(day: date) -> str:
    """A day as ``8 May 2023``."""
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"
