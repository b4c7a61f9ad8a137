"""How often a record is tried, and how long to wait between attempts, in the words of Temporal's ``RetryPolicy``."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_MOST_EXPONENT: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff with full jitter: any wait up to the interval, which spreads the attempts most (Brooker 2015)."""

    initial_interval_s: float
    backoff_coefficient: float = 2.0
    maximum_interval_s: float
    maximum_attempts: int

    def interval_s(self, attempt: int, *, retry_after: float | None, uniform: Callable[[float, float], float] = random.uniform) -> float:
        """Seconds to wait behind an attempt.

        Args:
            attempt: Its number, from 1.
            retry_after: The dependency's own word, in seconds: never earlier.
            uniform: The source of jitter.
        """
        ceiling = self.initial_interval_s * self.backoff_coefficient ** min(attempt - 1, _MOST_EXPONENT)
        return max(uniform(0, min(self.maximum_interval_s, ceiling)), retry_after or 0.0)
