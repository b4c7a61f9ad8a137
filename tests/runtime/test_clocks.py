from datetime import UTC, datetime, timedelta, timezone

import pytest

from runtime.clocks import ManualClock, SystemClock


def test_the_system_clock_tells_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert now.utcoffset() == timedelta(0)
    assert before <= now <= datetime.now(UTC)


def test_a_manual_clock_stands_until_it_is_moved() -> None:
    clock = ManualClock(datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert clock.now().tzinfo is UTC
    clock.advance(timedelta(minutes=-1))
    assert clock.now() == datetime(2024, 5, 1, 9, 59, tzinfo=UTC)
    clock.set(datetime(2025, 1, 1, tzinfo=UTC))
    assert clock.now() == datetime(2025, 1, 1, tzinfo=UTC)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="with a zone"):
        ManualClock(datetime(2024, 5, 1))
