"""What an OpenAI-compatible endpoint's errors mean to us: what may pass by itself, and what may not."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final

import orjson
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from models.errors import InputRefusedError, ModelConfigurationError, ModelError, ModelTimeoutError, OverloadedError, TransientModelError

_TRANSIENT_STATUS: Final = frozenset({408, 409, 425})
_INPUT_STATUS: Final = frozenset({400, 413, 422})
_TRANSIENT_CODES: Final = frozenset({"json_validate_failed"})
"""Said with status 400 of what the model did, not of what it was asked."""
_ECHOES: Final = frozenset({"input", "failed_generation"})
"""What endpoints repeat of the request or of the answer: it says nothing of what they refuse."""
_LONGEST_WORDS: Final = 2000


def model_error(error: APIError, *, endpoint: str, now: datetime) -> ModelError:
    """The error of ours that an error of the client stands for.

    Args:
        error: What the client raised.
        endpoint: The endpoint's name, for the message.
        now: The time, for a ``Retry-After`` that is a date.

    Returns:
        A :class:`ModelTimeoutError` for time-outs; a :class:`TransientModelError` for lost connections and for streams that break
        without a status; else as :func:`error_of`.
    """
    if isinstance(error, APITimeoutError):
        return ModelTimeoutError(f"{endpoint} did not answer in time")
    if isinstance(error, APIConnectionError):
        return TransientModelError(f"{endpoint} cannot be reached: {error.__cause__ or error}")
    if isinstance(error, APIStatusError):
        said = f"{endpoint} answered {error.status_code}: {words_of(error)}"
        if error.code in _TRANSIENT_CODES:
            return TransientModelError(said)
        return error_of(error.status_code, said, retry_after=_retry_after(error.response.headers, now=now))
    return error_of(status_in(error.code), f"{endpoint} broke its answer off: {words_of(error)}")


def error_of(status: int | None, said: str, *, retry_after: float | None = None) -> ModelError:
    """The error of ours that a status stands for.

    Returns:
        An :class:`OverloadedError` for 429; a :class:`TransientModelError` for 408, 409, 425, 5xx and None; an
        :class:`InputRefusedError` for 400, 413 and 422; a :class:`ModelConfigurationError` for every other refusal.
    """
    if status == 429:
        return OverloadedError(said, retry_after=retry_after)
    if status is None or status in _TRANSIENT_STATUS or status >= 500:
        return TransientModelError(said, retry_after=retry_after)
    return InputRefusedError(said) if status in _INPUT_STATUS else ModelConfigurationError(said)


def status_in(code: object) -> int | None:
    """The HTTP status that an endpoint gives as an error's code inside of an answer; None where it is none."""
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isascii() and code.isdigit()) else 0
    return status if 400 <= status < 600 else None


def words_of(error: APIError) -> str:
    """What an endpoint said of an error, in whatever form: the client itself knows that of OpenAI alone."""
    return text_of(error.body) or error.message


def text_of(body: object) -> str:
    """The words in an error's body, without what it repeats of the request."""
    said = body.get("message") if isinstance(body, Mapping) else body
    text = said if isinstance(said, str) else "" if body is None else orjson.dumps(_without_echoes(body), default=repr).decode()
    return text.strip()[:_LONGEST_WORDS]


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


def _retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    milliseconds = retry_after_seconds(headers.get("retry-after-ms"), now=now)
    return retry_after_seconds(headers.get("retry-after"), now=now) if milliseconds is None else milliseconds / 1000


def _without_echoes(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _without_echoes(each) for name, each in value.items() if name not in _ECHOES}
    return [_without_echoes(each) for each in value] if isinstance(value, list) else value
