"""Times as whole numbers since 1970 (UTC), exactly, and back: states and timers hold them so."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND: Final = timedelta(microseconds=1)
_MILLISECOND: Final = timedelta(milliseconds=1)


def microseconds_of(time: datetime) -> int:
    """An aware time in microseconds."""
    return (time - EPOCH) // _MICROSECOND


def milliseconds_of(time: datetime) -> int:
    """An aware time in milliseconds; what is finer is left out."""
    return (time - EPOCH) // _MILLISECOND


def time_of_microseconds(microseconds: int) -> datetime:
    """The time, in UTC, that lies so many microseconds behind 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


def time_of_milliseconds(milliseconds: int) -> datetime:
    """The time, in UTC, that lies so many milliseconds behind 1970."""
    return EPOCH + timedelta(milliseconds=milliseconds)
