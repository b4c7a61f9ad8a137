"""Limits of records from outside: every stage can process records within them. Intake and the sessions stage check them alike."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, JsonValue

from memory.errors import RecordTooLargeError

EARLIEST_TIME: Final = datetime(1000, 1, 1, tzinfo=UTC)
LATEST_TIME: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""Far enough from the ends of the calendar that no time zone and no step of days, months or years exceeds it."""

MAX_NESTING: Final = 100
"""Maximum nesting depth of lists and objects in a value."""

WINDOW_HEAD_BYTES: Final = 16 * 1024
"""Bytes of a window's record that are reserved for its fields without the messages: names may have characters of six bytes each."""


def is_recordable_time(time: datetime) -> bool:
    """Whether a record may contain the (aware) time."""
    return EARLIEST_TIME <= time < LATEST_TIME


def max_messages_bytes(max_record_bytes: int) -> int:
    """Limit for the messages in a window's record, and for a single message, in bytes.

    Args:
        max_record_bytes: The largest value of a record (`VARVE_KAFKA__MAX_RECORD_BYTES`).
    """
    return max_record_bytes - WINDOW_HEAD_BYTES


def check_message_size(raw: bytes, max_record_bytes: int) -> None:
    """Rejects a message that is too large for a window.

    Args:
        raw: The message as in the log.
        max_record_bytes: The largest value of a record.

    Raises:
        RecordTooLargeError: If it is too large.
    """
    limit = max_messages_bytes(max_record_bytes)
    if len(raw) > limit:
        raise RecordTooLargeError(f"a message of {len(raw)} bytes is over the limit of {limit}; shorten or split it")


def check_parsed_size(parsed: object, max_record_bytes: int) -> None:
    """Rejects a message that is too large for a window, before further processing; stops counting at the limit.

    Args:
        parsed: The parsed message. The count is a lower bound of its bytes, because a character may take several.
        max_record_bytes: The largest value of a record.

    Raises:
        RecordTooLargeError: If it is too large.
    """
    limit = max_messages_bytes(max_record_bytes)
    room, waiting = limit, [parsed]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            # Quotes, colon and comma of each member.
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
            raise RecordTooLargeError(f"a message of {limit - room} bytes or more is over the limit of {limit}; shorten or split it")


def _recordable(time: datetime) -> datetime:
    if not is_recordable_time(time):
        raise ValueError(f"timestamp out of range: the year must be between {EARLIEST_TIME.year} and {LATEST_TIME.year - 1}")
    return time


def _not_in_1970(value: Any) -> Any:
    is_year = (
        len(value) <= 4 and value.isdecimal() if isinstance(value, str) else isinstance(value, int | float) and value < LATEST_TIME.year
    )
    if is_year:
        raise ValueError("a number this small would be a time in 1970: write ISO 8601 with a UTC offset, such as 2024-01-01T00:00:00Z")
    return value


def _shallow(value: Any, room: int = MAX_NESTING) -> Any:
    if isinstance(value, dict | list):
        if not room:
            raise ValueError(f"lists and objects may be nested at most {MAX_NESTING} deep; write deeper values as text")
        for part in value.values() if isinstance(value, dict) else value:
            # A fast check, because every message is checked and most parts are neither.
            if type(part) in (dict, list):
                _shallow(part, room - 1)
    return value


Time = Annotated[AwareDatetime, AfterValidator(_recordable)]
"""An aware time, not near the ends of the calendar."""

RequestTime = Annotated[Time, BeforeValidator(_not_in_1970)]
"""A time that a caller names. A year alone is refused: it would be read as seconds since 1970."""

ForeignJson = Annotated[JsonValue, AfterValidator(lambda value: _shallow(value))]
"""Any JSON of an application, not nested too deeply."""
