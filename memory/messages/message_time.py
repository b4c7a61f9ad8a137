"""The time at which a message was said: its type, and advice for the forms that applications send by mistake."""

import re
from datetime import UTC, date, datetime
from math import inf
from typing import Annotated, Any, Final

from pydantic import AfterValidator, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from memory.records.limits import Time

EARLIEST_MESSAGE: Final = datetime(1971, 1, 1, tzinfo=UTC)
"""Earlier times of messages are clocks that were never set: 0 is 1 January 1970."""

_FORMS: Final = "ISO 8601 with a UTC offset, such as 2024-05-06T18:00:00Z, or seconds or milliseconds since 1970"
_MOST_MILLISECONDS: Final = 253_402_300_799_999
"""The last millisecond of the year 9999."""
_MOST_MICROSECONDS: Final = 1000 * _MOST_MILLISECONDS
_NUMBER: Final = re.compile(r"\s*\d{1,30}(?:\.\d{0,30})?\s*")
_WITHOUT_OFFSET: Final = re.compile(r"\s*\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?\s*", re.IGNORECASE)
_ZONE_NAME: Final = re.compile(r"\[([\w/+-]{1,64})\]\s*$")
_END_OF_DAY: Final = re.compile(r"\d[T ]24:00", re.IGNORECASE)


def _with_advice(value: Any, validate: ValidatorFunctionWrapHandler) -> datetime:
    try:
        time: datetime = validate(value)
    except ValidationError as error:
        refusal = error.errors(include_url=False, include_context=False, include_input=False)[0]
        if refusal["type"] == "value_error":
            raise  # A limit of this package: the error names it.
        raise ValueError(_advice(value) or f"{refusal['msg']}; write {_FORMS}") from error
    return time


def _advice(value: Any) -> str | None:
    """Advice for a refused time: the right form; None if its form is unknown."""
    number = _number(value)
    if number is not None:
        if not _MOST_MILLISECONDS < number < inf:
            return None
        unit, factor = ("microseconds", "1,000") if number <= _MOST_MICROSECONDS else ("nanoseconds", "1,000,000")
        return f"it seems to count {unit} since 1970: divide it by {factor} to get milliseconds, or write {_FORMS}"
    if not isinstance(value, str):
        return None
    if (zone := _ZONE_NAME.search(value)) is not None:
        return f"remove the zone's name {zone[0].strip()!r}, and write it into time_zone: {zone[1]!r}; event_time is {_FORMS}"
    if _END_OF_DAY.search(value):
        return "24:00 is not a time of this day: write 00:00 of the next day"
    if _is_day(value.strip()):
        return f"a day needs a time, too: write {value.strip()}T00:00:00Z, or the offset of its time zone instead of Z"
    if _WITHOUT_OFFSET.fullmatch(value) and _is_day(value.strip()[:10]):
        return "it has no UTC offset, so its moment is unknown: append Z if it is UTC, or an offset such as +02:00"
    return None


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return abs(value)
    return float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def _said(time: datetime) -> datetime:
    if time < EARLIEST_MESSAGE:
        raise ValueError(
            f"{time.isoformat()} is before {EARLIEST_MESSAGE.year}, so the time was probably never set: give the time at which the message "
            f"was said, as {_FORMS}"
        )
    return time


SaidTime = Annotated[Time, AfterValidator(_said), WrapValidator(_with_advice)]
"""The time of a message: 1971 or later."""
