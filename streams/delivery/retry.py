"""What is tried again, when, and when it is better not to try at all."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential backoff with full jitter."""

    first_s: float
    longest_s: float

    def wait(self, tries: int, *, retry_after: float | None, uniform: Callable[[float, float], float] = random.uniform) -> float:
        """Seconds to wait behind the ``tries``-th try (from 1).

        Args:
            tries: How often it was tried.
            retry_after: The dependency's own word, in seconds: never earlier.
            uniform: The source of jitter.
        """
        ceiling = min(self.longest_s, self.first_s * 2.0 ** min(tries - 1, 30))
        return max(uniform(ceiling / 2, ceiling), retry_after or 0.0)


class CircuitBreaker:
    """Stops calls to a dependency that is away, and lets one try from time to time.

    Args:
        failures: So many failures in a row open it.
        reset_s: So long it stays open before one call may try.
    """

    def __init__(self, *, failures: int, reset_s: float) -> None:
        self._limit = failures
        self._reset_s = reset_s
        self._failures = 0
        self._opened_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the dependency counts as away."""
        return self._opened_at is not None

    def wait_s(self, now: float) -> float:
        """How long a caller has to wait before it may try; 0: now."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self._reset_s - now)

    def succeeded(self) -> None:
        """A call went well: the breaker closes."""
        self._failures = 0
        self._opened_at = None

    def failed(self, now: float) -> None:
        """A call failed for a reason that may pass."""
        self._failures += 1
        if self._failures >= self._limit:
            self._opened_at = now
