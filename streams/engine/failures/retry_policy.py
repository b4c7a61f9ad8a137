"""Attempts per record and waits between them, in the terms of Temporal's ``RetryPolicy``."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from runtime.backoff import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Maximum number of attempts with a record, and jittered waits between them."""

    backoff: Backoff
    maximum_attempts: int

    def interval_s(self, attempt: int, *, retry_after: float | None, uniform: Callable[[float, float], float] = random.uniform) -> float:
        """Seconds to wait after attempt number ``attempt`` (from 1); at least ``retry_after`` seconds, which the dependency asked for."""
        return max(self.backoff.jittered_s(attempt, uniform=uniform), retry_after or 0.0)
