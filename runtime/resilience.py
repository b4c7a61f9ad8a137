"""Behaviour after failures: growing waiting times, and a circuit breaker that stops calls to an unavailable dependency."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

_MOST_EXPONENT: Final = 30
"""Larger exponents could overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """An exponential backoff in the words of Temporal's ``RetryPolicy``. Times in seconds."""

    initial_interval_s: float
    """The interval after the first failure."""
    backoff_coefficient: float = 2.0
    """Factor between an interval and the previous one."""
    maximum_interval_s: float

    def __post_init__(self) -> None:
        if self.initial_interval_s <= 0 or self.maximum_interval_s <= 0:
            raise ValueError(
                "initial_interval_s and maximum_interval_s must be above 0, "
                f"got {self.initial_interval_s:g} and {self.maximum_interval_s:g}"
            )
        if self.backoff_coefficient < 1:
            raise ValueError(f"backoff_coefficient must be at least 1, got {self.backoff_coefficient:g}")

    def interval_s(self, failures: int) -> float:
        """The interval in seconds after the given number of failures in a row (from 1)."""
        return min(self.maximum_interval_s, self.initial_interval_s * self.backoff_coefficient ** min(failures - 1, _MOST_EXPONENT))

    def jittered_s(self, failures: int, *, uniform: Callable[[float, float], float] = random.uniform) -> float:
        """A random time up to the interval ("full jitter", Brooker 2015): it spreads the retries of many processes best.

        Args:
            failures: Number of failures in a row, from 1.
            uniform: The source of jitter.
        """
        return uniform(0, self.interval_s(failures))


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPolicy:
    """Waiting times between crashes in a row. The number of restarts is unlimited."""

    backoff: Backoff = field(default_factory=lambda: Backoff(initial_interval_s=0.5, maximum_interval_s=30.0))
    reset_after_s: float = 60.0
    """A crash after a run of this length counts as the first one."""

    def crashes_in_a_row(self, before: int, *, ran_s: float) -> int:
        """Counts a crash."""
        return 1 if ran_s >= self.reset_after_s else before + 1


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
        return self.retry_after_s(now) == 0

    def start_trial(self, now: float) -> None:
        """Records that a permitted call starts. In the half-open state it is the trial; no other call is permitted until its result."""
        if self.state(now) is BreakerState.HALF_OPEN and self.permits(now):
            self._trial_expires_at = now + self._reset_s

    def cancel_trial(self) -> None:
        """Cancels the trial: another one is permitted."""
        self._trial_expires_at = None

    def retry_after_s(self, now: float) -> float:
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
