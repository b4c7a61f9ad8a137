"""What an OpenAI-compatible endpoint's errors mean to us: what may pass by itself, and what may not."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Final

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from models.errors import InputRefusedError, ModelConfigurationError, ModelError, ModelTimeoutError, OverloadedError, TransientModelError

_TRANSIENT_STATUS: Final = frozenset({408, 409, 425})
_INPUT_STATUS: Final = frozenset({400, 413, 422})


def model_error(error: APIError, *, endpoint: str, now: datetime) -> ModelError:
    """The error of ours that an error of the client stands for.

    Args:
        error: What the client raised.
        endpoint: The endpoint's name, for the message.
        now: The time, for a ``Retry-After`` that is a date.

    Returns:
        An :class:`OverloadedError` for 429; a :class:`ModelTimeoutError` for time-outs; a :class:`TransientModelError` for lost
        connections, 408, 409, 425, 5xx and streams that break; an :class:`InputRefusedError` for 400, 413 and 422; a
        :class:`ModelConfigurationError` for every other refusal.
    """
    if isinstance(error, APITimeoutError):
        return ModelTimeoutError(f"{endpoint} did not answer in time")
    if isinstance(error, APIConnectionError):
        return TransientModelError(f"{endpoint} cannot be reached: {error.__cause__ or error}")
    if isinstance(error, APIStatusError):
        said = f"{endpoint} answered {error.status_code}: {error.message}"
        wait = retry_after_seconds(error.response.headers.get("retry-after"), now=now)
        if error.status_code == 429:
            return OverloadedError(said, retry_after=wait)
        if error.status_code in _TRANSIENT_STATUS or error.status_code >= 500:
            return TransientModelError(said, retry_after=wait)
        return InputRefusedError(said) if error.status_code in _INPUT_STATUS else ModelConfigurationError(said)
    return TransientModelError(f"{endpoint} broke its answer off: {error.message}")


def retry_after_seconds(header: str | None, *, now: datetime) -> float | None:
    """Reads a ``Retry-After`` header: seconds, or an HTTP date (RFC 9110, 10.2.3). None where it is missing or cannot be read."""
    if not header:
        return None
    try:
        seconds = float(header)
        return max(0.0, seconds) if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
