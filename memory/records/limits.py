"""What a record from outside may hold: what keeps these limits, every stage can process. Intake and the sessions stage check it alike."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, AwareDatetime, JsonValue

from memory.errors import RecordTooLargeError

EARLIEST_TIME: Final = datetime(1000, 1, 1, tzinfo=UTC)
LATEST_TIME: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""Far enough from the ends of the calendar that no zone, and no step of days, months or years, leads out of it."""

MAX_NESTING: Final = 100
"""Lists and objects inside each other, in one value."""

WINDOW_HEAD_BYTES: Final = 16 * 1024
"""Bytes of a window's record that are kept free for its fields beside the messages: names may hold characters of six bytes each."""


def is_recordable_time(time: datetime) -> bool:
    """Whether a record may bear an aware time."""
    return EARLIEST_TIME <= time < LATEST_TIME


def max_messages_bytes(max_record_bytes: int) -> int:
    """How many bytes of messages fit into a window's record; one message alone may have as many.

    Args:
        max_record_bytes: The largest value of a record (`VARVE_KAFKA__MAX_RECORD_BYTES`).
    """
    return max_record_bytes - WINDOW_HEAD_BYTES


def check_message_size(raw: bytes, max_record_bytes: int) -> None:
    """Refuses a message that no window could hold.

    Args:
        raw: The message as it lies in the log.
        max_record_bytes: The largest value of a record.

    Raises:
        RecordTooLargeError: If it is too large; says by how much.
    """
    limit = max_messages_bytes(max_record_bytes)
    if len(raw) > limit:
        raise RecordTooLargeError(f"a message of {len(raw)} bytes is over the limit of {limit}")


def check_parsed_size(parsed: object, max_record_bytes: int) -> None:
    """Refuses a message that no window could hold before anything is made of it: of one that is too large, only so much is looked at.

    Args:
        parsed: The message as it came, parsed. It has at least the bytes that are counted: a character may take several.
        max_record_bytes: The largest value of a record.

    Raises:
        RecordTooLargeError: If it is too large.
    """
    limit = max_messages_bytes(max_record_bytes)
    room, waiting = limit, [parsed]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            # Of each member the quotes, the colon and the comma.
            room -= 1 + 4 * len(value)
            if room >= 0:
                room -= sum(map(len, value))
                waiting += value.values()
        elif isinstance(value, list):
            room -= 1 + len(value)
            if room >= 0:
                waiting += value
        else:
            room -= len(value) + 2 if isinstance(value, str) else 1
        if room < 0:
            raise RecordTooLargeError(f"a message of {limit - room} bytes or more is over the limit of {limit}")


def _recordable(time: datetime) -> datetime:
    if not is_recordable_time(time):
        raise ValueError(f"a time lies from the year {EARLIEST_TIME.year} on and before the year {LATEST_TIME.year}")
    return time


def _shallow(value: Any, room: int = MAX_NESTING) -> Any:
    if isinstance(value, dict | list):
        if not room:
            raise ValueError(f"lists and objects may be nested {MAX_NESTING} deep; write what is deeper as text")
        for part in value.values() if isinstance(value, dict) else value:
            # Most parts are neither, and every message is checked.
            if type(part) in (dict, list):
                _shallow(part, room - 1)
    return value


Time = Annotated[AwareDatetime, AfterValidator(_recordable)]
"""A time with its zone, away from the ends of the calendar."""

ForeignJson = Annotated[JsonValue, AfterValidator(lambda value: _shallow(value))]
"""Any JSON of an application, not nested too deeply."""
