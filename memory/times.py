"""Exact conversion between times and integers since 1970 (UTC), as used in states and timers."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND: Final = timedelta(microseconds=1)
_MILLISECOND: Final = timedelta(milliseconds=1)


def microseconds_of(time: datetime) -> int:
    """An aware time in microseconds."""
    return (time - EPOCH) // _MICROSECOND


def offset_of(time: datetime) -> int:
    """The UTC offset of an aware time, in microseconds: days and weeks of its user begin by it."""
    return (time.utcoffset() or timedelta()) // _MICROSECOND


def milliseconds_of(time: datetime) -> int:
    """An aware time in milliseconds, rounded down."""
    return (time - EPOCH) // _MILLISECOND


def time_of_microseconds(microseconds: int) -> datetime:
    """The time (UTC) for microseconds since 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


def time_of_milliseconds(milliseconds: int) -> datetime:
    """The time (UTC) for milliseconds since 1970."""
    return EPOCH + timedelta(milliseconds=milliseconds)
