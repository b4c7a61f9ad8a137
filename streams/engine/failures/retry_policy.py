"""How often a record is tried, and how long to wait between attempts, in the words of Temporal's ``RetryPolicy``."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from runtime.backoff import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Waits with jitter between the attempts with a record, and a maximum of attempts."""

    backoff: Backoff
    maximum_attempts: int

    def interval_s(self, attempt: int, *, retry_after: float | None, uniform: Callable[[float, float], float] = random.uniform) -> float:
        """Seconds to wait behind an attempt.

        Args:
            attempt: Its number, from 1.
            retry_after: The dependency's own word, in seconds: never earlier.
            uniform: The source of jitter.
        """
        return max(self.backoff.jittered_s(attempt, uniform=uniform), retry_after or 0.0)
