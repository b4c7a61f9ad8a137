"""A span of event time in whole units, divided into buckets."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from memory.times import time_of_microseconds

TimeUnit = Literal["minute", "hour", "day", "week", "month"]

MAX_LENGTH: Final = 366

_SECOND: Final = 1_000_000
_DAY: Final = 24 * 60 * 60 * _SECOND
_FIRST_MONDAY: Final = 4 * _DAY
"""1970-01-05: weeks begin on Monday (ISO 8601)."""
_MICROSECONDS: Final[Mapping[TimeUnit, int]] = MappingProxyType(
    {"minute": 60 * _SECOND, "hour": 3600 * _SECOND, "day": _DAY, "week": 7 * _DAY, "month": round(30.436875 * _DAY)}
)
"""A month counts as a twelfth of the Gregorian year's mean length."""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The last ``length`` units; the last one contains the newest event. Units are those of the user's calendar."""

    length: int
    unit: TimeUnit = "day"

    @property
    def microseconds(self) -> int:
        """Its length; a month counts with its mean length."""
        return self.length * _MICROSECONDS[self.unit]

    def bucket_of(self, time: int) -> int:
        """The number of the unit that contains a time.

        Args:
            time: The local time: microseconds since 1970 (UTC) plus the UTC offset.
        """
        if self.unit == "month":
            date = time_of_microseconds(time)
            return date.year * 12 + date.month - 1
        return (time - (_FIRST_MONDAY if self.unit == "week" else 0)) // _MICROSECONDS[self.unit]

    def __str__(self) -> str:
        return f"{self.length} {self.unit}"
