"""Errors of an OpenAI-compatible API: which ones are temporary, which ones are not, and how long ``Retry-After`` says to wait."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final

import orjson
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from memory.texts.text import join_surrogates
from models.errors import (
    InputRefusedError,
    ModelConfigurationError,
    ModelError,
    ModelTimeoutError,
    OverloadedError,
    TransientModelError,
)

_TRANSIENT_STATUS: Final = frozenset({408, 409, 425})
_CREDENTIALS_STATUS: Final = frozenset({401, 403})
_INPUT_STATUS: Final = frozenset({400, 413, 422})
_TRANSIENT_CODES: Final = frozenset({"json_validate_failed"})
"""They come with status 400, but are about what the model produced, not about the request."""
_ECHOES: Final = frozenset({"input", "failed_generation"})
"""Fields that repeat the request or the answer; they say nothing about what is refused."""
_MAX_MESSAGE_CHARS: Final = 2000


def model_error(error: APIError, *, endpoint: str, now: datetime) -> ModelError:
    """Maps an error of the client to one of ours.

    Args:
        error: The error that the client raised.
        endpoint: The endpoint's name, for the message.
        now: The time, for a ``Retry-After`` that is a date.

    Returns:
        A :class:`ModelTimeoutError` for time-outs; a :class:`TransientModelError` for lost connections and for streams that break
        without a status; otherwise as :func:`error_for_status`.
    """
    if isinstance(error, APITimeoutError):
        return ModelTimeoutError(f"{endpoint} did not answer in time")
    if isinstance(error, APIConnectionError):
        return TransientModelError(f"the connection to {endpoint} failed: {error.__cause__ or error}")
    if isinstance(error, APIStatusError):
        message = f"{endpoint} answered {error.status_code}: {error_message(error)}"
        if error.code in _TRANSIENT_CODES:
            return TransientModelError(message)
        return error_for_status(error.status_code, message, retry_after_s=_retry_after(error.response.headers, now=now))
    return error_for_status(status_from_code(error.code), f"{endpoint} broke its answer off: {error_message(error)}")


def error_for_status(status: int | None, message: str, *, retry_after_s: float | None = None) -> ModelError:
    """Maps an HTTP status to one of our errors.

    Args:
        status: The status; None where the endpoint gave none.
        message: The message of the error.
        retry_after_s: The endpoint's ``Retry-After``, in seconds.

    Returns:
        An :class:`OverloadedError` for 429; a :class:`TransientModelError` for 408, 409, 425, 5xx and None; an
        :class:`InputRefusedError` for 400, 413 and 422; a :class:`ModelConfigurationError` for every other refusal.
    """
    if status == 429:
        return OverloadedError(message, retry_after_s=retry_after_s)
    if status is None or status in _TRANSIENT_STATUS or status >= 500:
        return TransientModelError(message, retry_after_s=retry_after_s)
    if status in _INPUT_STATUS:
        return InputRefusedError(message)
    error = ModelConfigurationError(message)
    error.refuses_credentials = status in _CREDENTIALS_STATUS
    return error


def status_from_code(code: object) -> int | None:
    """The HTTP status that an error inside an answer carries as its code; None where the code is no status."""
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isascii() and code.isdigit()) else 0
    return status if 400 <= status < 600 else None


def error_message(error: APIError) -> str:
    """The message of an error, in whatever form the endpoint gives it: the client itself reads only OpenAI's."""
    return message_in_body(error.body) or error.message


def message_in_body(body: object) -> str:
    """The message in an error's body, without what it repeats of the request."""
    message = body.get("message") if isinstance(body, Mapping) else body
    text = message if isinstance(message, str) else "" if body is None else _json_of(body)
    return join_surrogates(text.strip()[:_MAX_MESSAGE_CHARS])


def _json_of(body: object) -> str:
    try:
        return orjson.dumps(_without_echoes(body), default=repr).decode()
    except (orjson.JSONEncodeError, RecursionError):
        return "its error cannot be shown: it is nested too deeply, or has half of a character"


def _retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    milliseconds = retry_after_seconds(headers.get("retry-after-ms"), now=now)
    return retry_after_seconds(headers.get("retry-after"), now=now) if milliseconds is None else milliseconds / 1000


def _without_echoes(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _without_echoes(each) for name, each in value.items() if name not in _ECHOES}
    return [_without_echoes(each) for each in value] if isinstance(value, list) else value


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
