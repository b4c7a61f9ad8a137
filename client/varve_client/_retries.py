"""When a request is repeated, without any I/O: both clients share this module.

Every request of the clients may be repeated when its outcome is unknown: it reads, or has an ``Idempotency-Key``, or leads to the same
state when it is sent twice (feedback, and the erasure of a user).
"""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from varve_client.errors import InvalidArgumentError

MAX_ATTEMPTS: Final = 5
RETRY_FOR_S: Final = 120.0
_FIRST_WAIT_S: Final = 1.0
_LONGEST_BACKOFF_S: Final = 20.0
_TEMPORARY: Final = frozenset(
    {
        httpx.codes.TOO_MANY_REQUESTS,
        httpx.codes.BAD_GATEWAY,
        httpx.codes.SERVICE_UNAVAILABLE,
        httpx.codes.GATEWAY_TIMEOUT,
    }
)
"""Refusals that a later attempt may not get: those of the service, and those of a proxy whose service restarts."""
_BROKEN: Final = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)
"""Failed connections. A time-out is not among them: the attempt has taken as long as the caller would wait."""

_log = logging.getLogger("varve_client")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how long one request is repeated.

    Args:
        max_attempts: Most attempts of one request.
        retry_for_s: No attempt begins later than this many seconds after the first.

    Raises:
        InvalidArgumentError: If a limit cannot be one.
    """

    max_attempts: int = MAX_ATTEMPTS
    retry_for_s: float = RETRY_FOR_S

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise InvalidArgumentError(f"max_attempts must be at least 1 (1: no retry), not {self.max_attempts!r}")
        if not self.retry_for_s >= 0:
            raise InvalidArgumentError(f"retry_for_s must be 0 or more seconds, not {self.retry_for_s!r}")

    def wait_s(
        self,
        outcome: httpx.Response | httpx.RequestError,
        *,
        attempt: int,
        elapsed_s: float,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> float | None:
        """Seconds until the request is repeated. A retry is logged as a warning.

        Args:
            outcome: The response to an attempt, or why there is none.
            attempt: The number of that attempt, from 1.
            elapsed_s: Seconds since the first attempt began.
            uniform: The source of jitter.

        Returns:
            None if the request is not repeated.
        """
        if not _is_temporary(outcome) or attempt >= self.max_attempts:
            return None
        asked = None
        if isinstance(outcome, httpx.Response):
            asked = retry_after_s(outcome.headers.get("Retry-After"), now=datetime.now(UTC))
        wait_s = min(_LONGEST_BACKOFF_S, _FIRST_WAIT_S * 2 ** min(attempt - 1, 30)) * uniform(0.5, 1.0) if asked is None else asked
        if elapsed_s + wait_s > self.retry_for_s:
            return None
        _log.warning("attempt %d of %d failed (%s): the next is in %.1f s", attempt, self.max_attempts, _reason(outcome), wait_s)
        return wait_s


def retry_after_s(header: str | None, *, now: datetime) -> float | None:
    """Seconds that a ``Retry-After`` header asks for (RFC 9110, 10.2.3); None if it is missing or unreadable."""
    if not header:
        return None
    if header.isascii() and header.strip().isdigit():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())


def _is_temporary(outcome: httpx.Response | httpx.RequestError) -> bool:
    if isinstance(outcome, httpx.RequestError):
        return isinstance(outcome, _BROKEN)
    # A 409 with Retry-After: the first attempt is still being processed. Without: the change does not fit, and never will.
    return outcome.status_code in _TEMPORARY or (outcome.status_code == httpx.codes.CONFLICT and "Retry-After" in outcome.headers)


def _reason(outcome: httpx.Response | httpx.RequestError) -> str:
    if isinstance(outcome, httpx.Response):
        return f"{outcome.url} answered {outcome.status_code}"
    return f"{outcome.request.url} cannot be reached: {str(outcome) or type(outcome).__name__}"
