"""Health of the dependencies that a stage's handlers call: circuit breakers, and waits between attempts."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from memory.positions import LogPosition
from runtime.logs import logger
from runtime.resilience import Backoff, CircuitBreaker
from streams.engine.stage_metrics import StageMetrics
from streams.errors import TransientError

_log = logger(__name__)
_MAXIMUM_WAIT_S: Final = 60.0
"""Upper bound, because an endpoint may recover before its Retry-After."""
_NEVER: Final = -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Maximum number of attempts with a record, and jittered waits between them, in the terms of Temporal's ``RetryPolicy``."""

    backoff: Backoff
    maximum_attempts: int

    def interval_s(self, attempt: int, *, retry_after_s: float | None, uniform: Callable[[float, float], float] = random.uniform) -> float:
        """Seconds to wait after attempt number ``attempt`` (from 1); at least ``retry_after_s`` seconds, which the dependency asked for."""
        return max(self.backoff.jittered_s(attempt, uniform=uniform), retry_after_s or 0.0)


class DependencyHealth:
    """Availability of each dependency, as the handler calls of one worker show it.

    Args:
        metrics: Counts the retries.
        retry_policy: Attempts per record, and waits between them.
        new_breaker: Creates the circuit breaker of a dependency.
    """

    def __init__(self, *, metrics: StageMetrics, retry_policy: RetryPolicy, new_breaker: Callable[[], CircuitBreaker]) -> None:
        self._metrics = metrics
        self.retry_policy = retry_policy
        self._new_breaker = new_breaker
        self._breakers: dict[str, CircuitBreaker] = {}
        self._last_failure_at: dict[str, float] = {}
        """Time of each dependency's last failure, on the monotonic clock."""
        self._failed: dict[str, set[LogPosition]] = {}
        """Records that failed with each dependency since its last success; at most as many as open its breaker."""
        self._last_success_at = _NEVER

    @property
    def last_success_at(self) -> float:
        """Start of the newest successful handler call, on the monotonic clock."""
        return self._last_success_at

    def breaker(self, dependency: str) -> CircuitBreaker:
        """The breaker of a dependency."""
        if dependency not in self._breakers:
            self._breakers[dependency] = self._new_breaker()
        return self._breakers[dependency]

    def record_success(self, *, started_at: float) -> None:
        """Records a handler's success: its dependencies are available, unless one has failed since.

        Args:
            started_at: Start of the call, on the monotonic clock. A slow call that began before an outage says nothing about it.
        """
        self._last_success_at = max(self._last_success_at, started_at)
        for dependency, breaker in self._breakers.items():
            if started_at > self._last_failure_at.get(dependency, _NEVER):
                breaker.record_success()
                self._failed.pop(dependency, None)

    def record_failure(self, failure: TransientError, position: LogPosition | None = None) -> None:
        """Records a handler's failure, with the position of the record if it was a single one."""
        if not failure.counts_as_attempt:
            return
        now = time.monotonic()
        self._last_failure_at[failure.dependency] = now
        breaker = self.breaker(failure.dependency)
        breaker.record_failure(now)
        failed = self._failed.setdefault(failure.dependency, set())
        if position is not None and failure.concerns_record and len(failed) < breaker.threshold:
            failed.add(position)

    def is_unavailable(self, dependency: str) -> bool:
        """Whether a dependency is unavailable for everyone: its breaker is open, and enough different records have failed to open it."""
        breaker = self.breaker(dependency)
        return not breaker.is_closed and len(self._failed.get(dependency, ())) >= breaker.threshold

    def retry_interval_s(self, failure: TransientError, attempt: int) -> float:
        """Seconds to wait after an attempt: by the retry policy, and until the dependency's breaker permits a call."""
        self._metrics.count_retry()
        wait_s = self.retry_policy.interval_s(attempt, retry_after_s=failure.retry_after_s)
        if failure.counts_as_attempt:
            wait_s = max(wait_s, self.breaker(failure.dependency).retry_after_s(time.monotonic()))
        wait_s = min(wait_s, _MAXIMUM_WAIT_S)
        _log.warning("retry_scheduled", stage=self._metrics.stage, attempt=attempt, wait_s=round(wait_s, 2), error=str(failure))
        return wait_s

    async def back_off(self, failure: TransientError, attempt: int) -> None:
        """Records the failure, and waits before the next attempt."""
        self.record_failure(failure)
        await asyncio.sleep(self.retry_interval_s(failure, attempt))

    def outage_s(self) -> float:
        """Seconds until all open breakers permit a call; 0 if none is open, or a trial is permitted now."""
        now = time.monotonic()
        return max((breaker.retry_after_s(now) for breaker in self._breakers.values()), default=0.0)

    def start_trials(self) -> None:
        """Starts the trial of each half-open breaker."""
        now = time.monotonic()
        for breaker in self._breakers.values():
            breaker.start_trial(now)

    def cancel_trials(self) -> None:
        """Permits another trial: the trial call did not reach the dependency."""
        for breaker in self._breakers.values():
            breaker.cancel_trial()
