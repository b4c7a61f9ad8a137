"""Words for days, months and seasons, and arithmetic on spans of days."""

import calendar
from datetime import date, timedelta
from typing import Final, Literal

from memory.texts.words import NUMBER_WORDS

MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
MONTHS: Final[dict[str, int]] = {
    **{name: number for number, name in enumerate(MONTH_NAMES, start=1)},
    **{name[:3]: number for number, name in enumerate(MONTH_NAMES, start=1)},
    "sept": 9,
}
"""Numbers of the months, by name and by abbreviation."""

WEEKDAYS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tues tue", "wednesday wed", "thursday thurs thur thu", "friday fri", "saturday sat", "sunday sun")
    )
    for name in names.split()
}
"""From Monday, 0, as :meth:`datetime.date.weekday` counts."""

SEASONS: Final[dict[str, int]] = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""First month of each season, on the northern hemisphere."""

NUMBERS: Final[dict[str, int]] = {"a": 1, "an": 1, "couple": 2} | {
    word: number for word, number in NUMBER_WORDS.items() if 1 <= number <= 12
}
"""Number words that often count days, weeks, months and years."""

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
        year: Year of the month to count from.
        month: Number of that month, from 1.
        count: May be negative.
    """
    years, months = divmod(month - 1 + count, 12)
    return year + years, months + 1


def quarter_span(year: int, quarter: int) -> Span:
    """One calendar quarter, from 1 to 4."""
    first_month = 3 * quarter - 2
    return date(year, first_month, 1), month_span(year, first_month + 2)[1], "between"


def iso_week_span(year: int, week: int) -> Span:
    """One week of ISO 8601, from Monday.

    Raises:
        ValueError: If the year has no such week.
    """
    return week_span(date.fromisocalendar(year, week, 1))


def nth_weekday(year: int, month: int, weekday: int, position: int) -> Span:
    """The nth weekday of a month.

    Args:
        year: The month's year.
        month: The month's number, from 1.
        weekday: From Monday, 0.
        position: From 1; -1 is the last one.

    Raises:
        ValueError: If the month has no such day.
    """
    first, last, _ = month_span(year, month)
    if position == -1:
        return day_span(last - timedelta(days=(last.weekday() - weekday) % 7))
    day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (position - 1))
    if position < 1 or day > last:
        raise ValueError(f"{first:%B} {year} has no weekday number {position}")
    return day_span(day)


def last_weekday(name: str, today: date) -> date:
    """The last day before today with the weekday's name."""
    return today - timedelta(days=(today.weekday() - WEEKDAYS[name.lower()] - 1) % 7 + 1)


def next_weekday(name: str, today: date) -> date:
    """The first day after today with the weekday's name."""
    return today + timedelta(days=(WEEKDAYS[name.lower()] - today.weekday() - 1) % 7 + 1)


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
    """The days that "a few units ago" may mean: from six units (seven for days) back to two units.

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
