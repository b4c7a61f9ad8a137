"""State of a user's events touched on the newest day of recalls."""

from dataclasses import dataclass
from typing import Final

import orjson

MAX_TOUCHED: Final = 2000
"""Remembered events of one user. Further events of that day are touched with each recall."""


@dataclass(frozen=True, slots=True)
class TouchedDay:
    """The events that were touched on one day."""

    day: int
    """Days since 1970 (UTC). They only limit how often an event is touched: no day or week of a user depends on them."""
    ids: frozenset[str]

    def with_ids(self, day: int, ids: frozenset[str]) -> "TouchedDay":
        """Adds events touched on a day that is not earlier than this one."""
        known = self.ids | ids if day == self.day else ids
        return TouchedDay(day, known if len(known) <= MAX_TOUCHED else self.ids)


class TouchedCodec:
    """Writes and reads :class:`TouchedDay`."""

    def encode(self, state: TouchedDay) -> bytes:
        """The row's bytes."""
        return orjson.dumps([state.day, sorted(state.ids)])

    def decode(self, raw: bytes) -> TouchedDay:
        """The row that :meth:`encode` wrote."""
        day, ids = orjson.loads(raw)
        return TouchedDay(day, frozenset(ids))
