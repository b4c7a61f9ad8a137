"""Time zones by their IANA names. Pure: the data comes with the Python package ``tzdata``."""

from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_CACHED: Final = 1024


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
