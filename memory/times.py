"""Times and time zones: exact conversion to integers since 1970 (UTC) as used in states and timers, and zones by their IANA names. Pure."""

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND: Final = timedelta(microseconds=1)
_MILLISECOND: Final = timedelta(milliseconds=1)

_CACHED: Final = 1024


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


def checked_zone_name(name: str) -> str:
    """Returns the name of a time zone.

    Raises:
        ValueError: If there is no such zone.
    """
    _zone(name)
    return name


def in_zone(time: datetime, name: str) -> datetime:
    """The same moment with the UTC offset that a zone has then.

    Args:
        time: An aware time.
        name: The zone.

    Raises:
        ValueError: If there is no such zone.
    """
    local = time.astimezone(_zone(name))
    return local.replace(tzinfo=timezone(local.utcoffset() or timedelta()))


@lru_cache(maxsize=_CACHED)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not the IANA name of a time zone, such as Europe/Oslo or UTC") from error
