"""Stretches of days: the day, week, month, season or year that a date names."""

import calendar
from datetime import date, timedelta
from typing import Literal

Precision = Literal["day", "week", "weekend", "month", "season", "year"]
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
    end_year, end_month = moved_month(year, first_month, 2)
    return date(year, first_month, 1), month_span(end_year, end_month)[1], "season"


def moved_month(year: int, month: int, by: int) -> tuple[int, int]:
    """The year and the month that lie so many months further."""
    years, months = divmod(month - 1 + by, 12)
    return year + years, months + 1


def shifted(said_on: date, unit: str, count: int) -> Span:
    """``count`` units from a day; days and single weeks are exact, longer spans as coarse as the words are."""
    match unit:
        case "day":
            return day_span(said_on + timedelta(days=count))
        case "week":
            return day_span(said_on + timedelta(weeks=count)) if abs(count) == 1 else week_span(said_on + timedelta(weeks=count))
        case "month":
            return month_span(*moved_month(said_on.year, said_on.month, count))
        case _:
            return year_span(said_on.year + count)
