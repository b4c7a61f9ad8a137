"""Waiting times after failures: they grow with each failure, up to a maximum."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
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
        """Counts a crash.

        Args:
            before: The count before this crash.
            ran_s: How long the process had run, in seconds.
        """
        return 1 if ran_s >= self.reset_after_s else before + 1
