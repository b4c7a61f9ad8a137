"""Times as numbers and back."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from memory.times import EPOCH, microseconds_of, milliseconds_of, time_of_microseconds, time_of_milliseconds

ZONES = st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours)))


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES))
def test_microseconds_lose_nothing(time: datetime) -> None:
    assert time_of_microseconds(microseconds_of(time)) == time


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES))
def test_milliseconds_are_rounded_down(time: datetime) -> None:
    assert timedelta() <= time - time_of_milliseconds(milliseconds_of(time)) < timedelta(milliseconds=1)


def test_a_time_before_1970_is_negative() -> None:
    before = datetime(1969, 12, 31, 23, 59, 59, 999_500, tzinfo=UTC)
    assert (microseconds_of(before), milliseconds_of(before)) == (-500, -1)
    assert time_of_microseconds(0) == EPOCH
