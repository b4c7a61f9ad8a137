"""Clocks that tests can drive (docs/internals/architecture.md, invariant 6)."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


def boot_time() -> float:
    """Seconds of a monotonic clock that also counts while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clock(Protocol):
    """A wall clock."""

    def now(self) -> datetime:
        """The current time (aware, UTC)."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The machine's time, in UTC."""
        return datetime.now(UTC)


class SteadyClock:
    """The wall-clock time at the start plus the monotonic time since then: changes of the machine's clock do not affect it.

    Args:
        boot: A monotonic clock that also counts while the machine sleeps, in seconds.
    """

    def __init__(self, *, wall: Clock | None = None, boot: Callable[[], float] = boot_time) -> None:
        self._boot = boot
        self._began_at = (wall or SystemClock()).now()
        self._booted = boot()

    def now(self) -> datetime:
        """The time in UTC, with the error that the wall clock had at the start."""
        return self._began_at + timedelta(seconds=self._boot() - self._booted)


class ForwardClock:
    """The machine's clock, but it never goes back: after a step back it continues from the time before the step.

    Args:
        wall: The clock.
        boot: A monotonic clock that also counts while the machine sleeps, in seconds.
    """

    def __init__(self, *, wall: Clock | None = None, boot: Callable[[], float] = boot_time) -> None:
        self._wall = wall or SystemClock()
        self._boot = boot
        self._latest = self._wall.now()
        self._booted = boot()

    def now(self) -> datetime:
        """The time in UTC: never earlier than an earlier result plus the time since then."""
        booted = self._boot()
        self._latest = max(self._wall.now(), self._latest + timedelta(seconds=booted - self._booted))
        self._booted = booted
        return self._latest


class ManualClock:
    """A clock that changes only when it is moved.

    Args:
        start: An aware time.

    Raises:
        ValueError: If the time has no zone.
    """

    def __init__(self, start: datetime) -> None:
        self._now = _in_utc(start)

    def now(self) -> datetime:
        """The time of the clock, in UTC."""
        return self._now

    def advance(self, step: timedelta) -> None:
        """Moves the clock; a negative step moves it back."""
        self._now += step

    def set(self, now: datetime) -> None:
        """Moves the clock to an aware time.

        Raises:
            ValueError: If the time has no zone.
        """
        self._now = _in_utc(now)


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is None:
        raise ValueError(f"a clock needs a time with a zone, got {time.isoformat()}")
    return time.astimezone(UTC)
