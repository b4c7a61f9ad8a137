"""How long a server wishes its callers to wait."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite


def retry_after_seconds(header: str | None, *, now: datetime) -> float | None:
    """Reads a ``Retry-After`` header: seconds, or an HTTP date (RFC 9110, 10.2.3).

    Args:
        header: As it came; None: there was none.
        now: The time, aware.

    Returns:
        None where it is missing or unreadable.
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
        # A year or a zone of more digits than a machine's integer has.
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
