"""Circuit breaker: stops calls to an unavailable dependency."""

from enum import StrEnum


class BreakerState(StrEnum):
    """State of a breaker."""

    CLOSED = "closed"
    """All calls are permitted."""
    OPEN = "open"
    """No call is permitted."""
    HALF_OPEN = "half_open"
    """One trial call is permitted; its result closes the breaker or opens it again."""


class CircuitBreaker:
    """Opens after failures in a row. After its reset time it is half-open and permits one trial call at a time.

    Times are seconds on any monotonic clock, passed by the caller.

    Args:
        failures: Number of failures in a row that open it, at least 1.
        reset_s: How long it stays open, in seconds. A trial without a result expires after the same time.

    Raises:
        ValueError: If either is not positive.
    """

    def __init__(self, *, failures: int, reset_s: float) -> None:
        if failures < 1 or reset_s <= 0:
            raise ValueError(f"a breaker needs at least 1 failure and a positive reset time, got {failures} and {reset_s}")
        self.threshold = failures
        """Number of failures in a row that open it."""
        self._reset_s = reset_s
        self._failures = 0
        self._half_open_at: float | None = None
        self._trial_expires_at: float | None = None

    @property
    def is_closed(self) -> bool:
        """Whether all calls are permitted."""
        return self._half_open_at is None

    def state(self, now: float) -> BreakerState:
        """The state at the given time."""
        if self._half_open_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if now < self._half_open_at else BreakerState.HALF_OPEN

    def permits(self, now: float) -> bool:
        """Whether a call is permitted. Does not change the state; a caller that makes the call calls :meth:`start_trial` first."""
        return self.retry_after(now) == 0

    def start_trial(self, now: float) -> None:
        """Records that a permitted call starts. In the half-open state it is the trial; no other call is permitted until its result."""
        if self.state(now) is BreakerState.HALF_OPEN and self.permits(now):
            self._trial_expires_at = now + self._reset_s

    def cancel_trial(self) -> None:
        """Cancels the trial: another one is permitted."""
        self._trial_expires_at = None

    def retry_after(self, now: float) -> float:
        """Seconds until a call is permitted, if no result changes that; 0 if one is permitted now."""
        if self._half_open_at is None:
            return 0.0
        permitted_at = self._half_open_at if self._trial_expires_at is None else self._trial_expires_at
        return max(0.0, permitted_at - now)

    def record_success(self) -> None:
        """Records a successful call: closes the breaker."""
        self._failures = 0
        self._half_open_at = None
        self._trial_expires_at = None

    def record_failure(self, now: float) -> None:
        """Records a call that failed because the dependency is unavailable or overloaded."""
        self._failures += 1
        if self._failures >= self.threshold:
            self._half_open_at = now + self._reset_s
            self._trial_expires_at = None
