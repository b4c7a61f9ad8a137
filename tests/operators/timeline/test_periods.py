"""Weeks, months and years of a timeline."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from operators.timeline.periods import DAY, WEEK, merged_through, month_of, period_of, start_of_week, week_of, year_of

TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2080, 1, 1), timezones=st.just(UTC)).map(lambda each: int(each.timestamp() * 1_000_000))


def microseconds(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1_000_000)


def test_a_period_is_named_as_the_calendar_has_it() -> None:
    time = microseconds(2026, 5, 6)
    assert [each(time).name for each in (week_of, month_of, year_of)] == ["2026-W19", "2026-05", "2026"]
    week = week_of(time)
    assert (week.first_day.isoformat(), week.last_day.isoformat()) == ("2026-05-04", "2026-05-10")


def test_a_week_belongs_to_the_month_of_its_thursday() -> None:
    assert month_of(microseconds(2026, 4, 30)).name == month_of(microseconds(2026, 5, 3)).name == "2026-04"
    assert year_of(microseconds(2024, 12, 30)).name == "2025"


@given(time=TIMES)
def test_longer_periods_are_made_of_whole_shorter_ones(time: int) -> None:
    week, month, year = week_of(time), month_of(time), year_of(time)
    assert week.start <= time < week.end
    assert year.start <= month.start <= week.start < week.end <= month.end <= year.end
    assert month_of(week.end - 1) == month
    assert year_of(month.end - 1) == year_of(month.start) == year


@given(time=TIMES, weeks=st.integers(1, 200))
def test_a_period_grows_exactly_at_the_stated_time(time: int, weeks: int) -> None:
    period = period_of(time, through=start_of_week(time) + weeks * WEEK)
    assert period is not None
    then = merged_through(period)
    if then is None:
        assert period.level == "year"
        return
    before, after = period_of(time, through=then - WEEK), period_of(time, through=then)
    assert before == period
    assert after is not None
    assert after.end - after.start > period.end - period.start + DAY
    assert after.start <= period.start < period.end <= after.end


@given(time=TIMES)
def test_a_week_that_has_not_passed_is_no_summary(time: int) -> None:
    assert period_of(time, through=start_of_week(time)) is None
    assert period_of(time, through=start_of_week(time) + WEEK) == week_of(time)
