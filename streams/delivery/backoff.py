"""How long to wait before a try is repeated."""

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
