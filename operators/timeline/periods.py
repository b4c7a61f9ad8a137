"""The calendar of a timeline: weeks, months and years, and the period that summarises an event.

Weeks are ISO 8601 weeks. A week belongs to the month and the year of its Thursday, so every longer period consists of whole shorter ones.
Times are local: microseconds since 1970 (UTC) plus the UTC offset of the user's zone.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

from memory.times import microseconds_of, time_of_microseconds

Level = Literal["week", "month", "year"]

DAY: Final = 86_400_000_000
WEEK: Final = 7 * DAY
_FIRST_MONDAY: Final = 4 * DAY
_TO_THURSDAY: Final = 3 * DAY


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """One week, month or year."""

    start: int
    end: int
    """Exclusive."""
    level: Level

    @property
    def name(self) -> str:
        """``2026-W19``, ``2026-05`` or ``2026``."""
        thursday = _date(self.start + _TO_THURSDAY)
        if self.level == "week":
            return f"{thursday.isocalendar().year:04d}-W{thursday.isocalendar().week:02d}"
        return f"{thursday.year:04d}-{thursday.month:02d}" if self.level == "month" else f"{thursday.year:04d}"

    @property
    def first_day(self) -> date:
        """Its first day."""
        return _date(self.start)

    @property
    def last_day(self) -> date:
        """Its last day."""
        return _date(self.end - 1)


def week_of(time: int) -> Period:
    """The week that a time falls into."""
    start = start_of_week(time)
    return Period(start, start + WEEK, "week")


def start_of_week(time: int) -> int:
    """Beginning of the week of a time."""
    return (time - _FIRST_MONDAY) // WEEK * WEEK + _FIRST_MONDAY


def month_of(time: int) -> Period:
    """The month that the week of a time belongs to."""
    first = _date(start_of_week(time) + _TO_THURSDAY).replace(day=1)
    return Period(_first_week(first), _first_week((first + timedelta(days=32)).replace(day=1)), "month")


def year_of(time: int) -> Period:
    """The year that the week of a time belongs to."""
    year = _date(start_of_week(time) + _TO_THURSDAY).year
    return Period(_first_week(date(year, 1, 1)), _first_week(date(year + 1, 1, 1)), "year")


def period_of(time: int, *, through: int) -> Period | None:
    """The period whose summary has an event of that time; None: its week is not summarised yet.

    The weeks of a month are joined once the next month is summarised and a week after it; the months of a year in the same way.

    Args:
        time: The event time.
        through: End of the last summarised week.
    """
    if time >= through:
        return None
    recent_weeks = month_of(month_of(through - 1).start - 1).start
    if time >= recent_weeks:
        return week_of(time)
    return month_of(time) if time >= year_of(year_of(recent_weeks).start - 1).start else year_of(time)


def merged_through(period: Period) -> int | None:
    """The first ``through`` with which a period's summary is part of a longer one's; None: it never is."""
    if period.level == "week":
        return month_of(month_of(period.start).end).end + WEEK
    return month_of(year_of(year_of(period.start).end).end).end + WEEK if period.level == "month" else None


def _date(time: int) -> date:
    return time_of_microseconds(time).date()


def _first_week(first: date) -> int:
    """Beginning of the first week whose Thursday is not before a day."""
    start = microseconds_of(datetime(first.year, first.month, first.day, tzinfo=UTC))
    week = start_of_week(start)
    return week if week + _TO_THURSDAY >= start else week + WEEK
