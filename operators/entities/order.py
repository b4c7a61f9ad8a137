"""Breaks ties between changes with equal event times: the higher order is the newer.

Ties are common: all events of a message have one event time, as do events whose date is known only to the day or month. An order is a
63-bit number, stored in records and states.
"""

from datetime import datetime
from typing import Final

_SEQUENCE_BITS: Final = 14
_PLACE_BITS: Final = 10
_BY_HAND: Final = 1 << 62
"""Above every order of an event before the year 9000 (:data:`memory.records.limits.LATEST_TIME`)."""


def order_of(said_at: datetime, *, sequence: int, place: int) -> int:
    """The order of an event's changes.

    The event of the later second is newer; within a second, the event of the later window of the session (an import may give all messages
    one time), then the later event in its window. Each session numbers its own windows, so between sessions only the second is meaningful.

    Args:
        said_at: Time of the event's message.
        sequence: Its window's number in the session.
        place: Its place in the window's extraction.
    """
    seconds = max(0, int(said_at.timestamp()))
    return (seconds << _SEQUENCE_BITS | _at_most(sequence, _SEQUENCE_BITS)) << _PLACE_BITS | _at_most(place, _PLACE_BITS)


def order_by_hand(offset: int) -> int:
    """The order of a value that a person set, from the offset of the correction. It wins over extracted values of the same time."""
    return _BY_HAND + offset


def _at_most(number: int, bits: int) -> int:
    return min(number, (1 << bits) - 1)
