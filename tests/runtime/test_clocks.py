from datetime import UTC, datetime, timedelta, timezone

import pytest

from runtime.clocks import ForwardClock, ManualClock, SteadyClock, SystemClock, boot_time


def test_the_system_clock_returns_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert now.utcoffset() == timedelta(0)
    assert before <= now <= datetime.now(UTC)


def test_a_steady_clock_passes_over_steps_of_the_machines() -> None:
    wall, booted = ManualClock(datetime(2024, 5, 1, tzinfo=UTC)), 100.0
    clock = SteadyClock(wall=wall, boot=lambda: booted)
    assert clock.now() == wall.now()
    booted += 2.5
    wall.set(datetime(2031, 1, 1, tzinfo=UTC))
    assert clock.now() == datetime(2024, 5, 1, 0, 0, 2, 500_000, tzinfo=UTC)


def test_a_steady_clock_begins_with_the_machines() -> None:
    before = datetime.now(UTC)
    clock = SteadyClock()
    assert before <= clock.now() <= datetime.now(UTC) + timedelta(seconds=1)
    assert 0 <= boot_time() - boot_time() + 1 <= 1


def test_a_forward_clock_passes_over_steps_back() -> None:
    wall, booted = ManualClock(datetime(2024, 5, 1, tzinfo=UTC)), 100.0
    clock = ForwardClock(wall=wall, boot=lambda: booted)
    booted += 2
    wall.set(datetime(2024, 4, 30, 20, tzinfo=UTC))
    assert clock.now() == datetime(2024, 5, 1, 0, 0, 2, tzinfo=UTC)
    booted += 1
    assert clock.now() == datetime(2024, 5, 1, 0, 0, 3, tzinfo=UTC), "time passes after the step"
    wall.set(datetime(2024, 5, 1, 1, tzinfo=UTC))
    assert clock.now() == wall.now(), "a correction forward is taken over"


def test_a_manual_clock_changes_only_when_moved() -> None:
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
