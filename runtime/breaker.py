"""A circuit breaker: calls to what is away stop, instead of burning retries."""

from enum import StrEnum


class BreakerState(StrEnum):
    """Whether calls go out."""

    CLOSED = "closed"
    """All do."""
    OPEN = "open"
    """None does."""
    HALF_OPEN = "half_open"
    """One does, as a trial; what becomes of it closes the breaker or opens it again."""


class CircuitBreaker:
    """Opens after failures in a row; half-open after its reset time, it lets one trial at a time find out whether the other side is back.

    Time is a number of seconds on any steady clock, given by the caller.

    Args:
        failures: So many failures in a row open it, at least 1.
        reset_s: So long it stays open, in seconds. A trial that has not reported for so long makes room for another.

    Raises:
        ValueError: If either is not positive.
    """

    def __init__(self, *, failures: int, reset_s: float) -> None:
        if failures < 1 or reset_s <= 0:
            raise ValueError(f"a breaker needs at least 1 failure and a positive reset time, got {failures} and {reset_s}")
        self.threshold = failures
        """So many failures in a row open it."""
        self._reset_s = reset_s
        self._failures = 0
        self._half_open_at: float | None = None
        self._trial_expires_at: float | None = None

    @property
    def is_closed(self) -> bool:
        """Whether all calls go out."""
        return self._half_open_at is None

    def state(self, now: float) -> BreakerState:
        """The state at a moment."""
        if self._half_open_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if now < self._half_open_at else BreakerState.HALF_OPEN

    def permits(self, now: float) -> bool:
        """Whether a call may go out. Asking changes nothing: a caller that goes ahead says so by :meth:`start_trial`."""
        return self.retry_after(now) == 0

    def start_trial(self, now: float) -> None:
        """A call that was permitted goes out. In the half-open state it is the trial, and no other is permitted until it reports."""
        if self.state(now) is BreakerState.HALF_OPEN and self.permits(now):
            self._trial_expires_at = now + self._reset_s

    def cancel_trial(self) -> None:
        """The trial was not made: another is permitted."""
        self._trial_expires_at = None

    def retry_after(self, now: float) -> float:
        """Seconds until a call is permitted, unless a report changes it; 0 if one is permitted now."""
        if self._half_open_at is None:
            return 0.0
        permitted_at = self._half_open_at if self._trial_expires_at is None else self._trial_expires_at
        return max(0.0, permitted_at - now)

    def record_success(self) -> None:
        """A call came through: closes the breaker."""
        self._failures = 0
        self._half_open_at = None
        self._trial_expires_at = None

    def record_failure(self, now: float) -> None:
        """A call failed because the other side is away or overwhelmed."""
        self._failures += 1
        if self._failures >= self.threshold:
            self._half_open_at = now + self._reset_s
            self._trial_expires_at = None
