"""How long to wait behind a failure: longer behind each, up to a bound."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_MOST_EXPONENT: Final = 30
"""Far beyond it the power would overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """An exponential backoff in the words of Temporal's ``RetryPolicy``. Times in seconds."""

    initial_interval_s: float
    """The interval behind the first failure."""
    backoff_coefficient: float = 2.0
    """Each interval is this many times the one before."""
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
        """The interval in seconds behind so many failures in a row, from 1."""
        return min(self.maximum_interval_s, self.initial_interval_s * self.backoff_coefficient ** min(failures - 1, _MOST_EXPONENT))

    def jittered_s(self, failures: int, *, uniform: Callable[[float, float], float] = random.uniform) -> float:
        """Any time up to the interval ("full jitter"), which spreads the tries of many most (Brooker 2015).

        Args:
            failures: How many there were in a row, from 1.
            uniform: The source of jitter.
        """
        return uniform(0, self.interval_s(failures))
