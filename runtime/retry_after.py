"""Parses ``Retry-After`` headers."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite


def retry_after_seconds(header: str | None, *, now: datetime) -> float | None:
    """Reads a ``Retry-After`` header: seconds, or an HTTP date (RFC 9110, 10.2.3).

    Args:
        header: The header's value, if any.
        now: The current time (aware).

    Returns:
            The seconds to wait; None if the header is missing or invalid.
    """
    if not header:
        return None
    try:
        seconds = float(header)
        return max(0.0, seconds) if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        # The year or the zone has too many digits for a machine integer.
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
