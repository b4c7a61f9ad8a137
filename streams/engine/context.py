"""State shared by the partitions of one worker: production of records, and waits after failures."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from memory.positions import LogPosition
from runtime.background import BackgroundWorks
from runtime.breaker import CircuitBreaker
from runtime.clocks import Clock, SteadyClock
from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from runtime.metrics import Metrics
from streams.engine.failures.crash_journal import CrashJournal
from streams.engine.failures.dead_letters import SMALLEST_LIMIT, dead_letter, is_letter, reason_of
from streams.engine.failures.retry_policy import RetryPolicy
from streams.engine.faust.flow_control import FlowControl
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Rejection
from streams.engine.tasks.batch_interval import BatchInterval
from streams.engine.tasks.checkpointer import Writer
from streams.errors import TransientError

_log = logger(__name__)
_MAXIMUM_WAIT_S: Final = 60.0
"""Upper bound, because an endpoint may recover before its Retry-After."""
_NEVER: Final = -1.0


@dataclass(slots=True, kw_only=True)
class StageContext:
    """State shared by the partitions of a worker."""

    stage: str
    new_writer: Callable[[int], Writer]
    """Creates the writer of a partition."""
    metrics: Metrics
    retry_policy: RetryPolicy
    new_breaker: Callable[[], CircuitBreaker]
    dead_letters_topic: str
    dead_letters_limit: int
    """Size limit of that topic's records, in bytes."""
    max_batch: int
    max_batch_bytes: int
    batch_interval: BatchInterval
    claims: CrashJournal
    """The records that the worker's handlers process, and the suspects."""
    flow_control: FlowControl
    park_after_s: float
    """A keyed stage parks the records of a tenant that has to wait longer."""
    may_write: Callable[[int], bool]
    """Whether the worker still owns its partitions under the given generation."""
    fetch_position: Callable[[int, int | None], int | None] = lambda partition, next_offset: None
    """Start of a partition's next fetch, if it is after the given next offset and no record is in between."""
    clock: Clock = field(default_factory=SteadyClock)
    """Clock for measuring silence; all handlers of the worker get its time."""
    background: BackgroundWorks = field(default_factory=BackgroundWorks)
    """Work that runs in the background. A driver adds its own before the worker starts."""
    breakers: dict[str, CircuitBreaker] = field(default_factory=dict)
    last_failure_at: dict[str, float] = field(default_factory=dict)
    """Time of each dependency's last failure, on the monotonic clock."""
    failed: dict[str, set[LogPosition]] = field(default_factory=dict)
    """Records that failed with each dependency since its last success; at most as many as open its breaker."""
    last_success_at: float = _NEVER
    """Start of the newest successful handler call, on the monotonic clock."""

    def breaker(self, dependency: str) -> CircuitBreaker:
        """The breaker of a dependency."""
        if dependency not in self.breakers:
            self.breakers[dependency] = self.new_breaker()
        return self.breakers[dependency]

    def record_success(self, *, started_at: float) -> None:
        """Records a handler's success: its dependencies are available, unless one has failed since.

        Args:
            started_at: Start of the call, on the monotonic clock. A slow call that began before an outage says nothing about it.
        """
        self.last_success_at = max(self.last_success_at, started_at)
        for dependency, breaker in self.breakers.items():
            if started_at > self.last_failure_at.get(dependency, _NEVER):
                breaker.record_success()
                self.failed.pop(dependency, None)

    def record_failure(self, failure: TransientError, place: LogPosition | None = None) -> None:
        """Records a handler's failure, with the position of the record if it was a single one."""
        if not failure.counts_as_attempt:
            return
        now = time.monotonic()
        self.last_failure_at[failure.dependency] = now
        breaker = self.breaker(failure.dependency)
        breaker.record_failure(now)
        failed = self.failed.setdefault(failure.dependency, set())
        if place is not None and failure.concerns_record and len(failed) < breaker.threshold:
            failed.add(place)

    def is_away(self, dependency: str) -> bool:
        """Whether a dependency is unavailable for everyone: its breaker is open, and enough different records have failed to open it."""
        breaker = self.breaker(dependency)
        return not breaker.is_closed and len(self.failed.get(dependency, ())) >= breaker.threshold

    def retry_interval_s(self, failure: TransientError, attempt: int) -> float:
        """Seconds to wait after an attempt: by the retry policy, and until the dependency's breaker permits a call."""
        self.metrics.retries.labels(self.stage).inc()
        wait_s = self.retry_policy.interval_s(attempt, retry_after=failure.retry_after)
        if failure.counts_as_attempt:
            wait_s = max(wait_s, self.breaker(failure.dependency).retry_after(time.monotonic()))
        wait_s = min(wait_s, _MAXIMUM_WAIT_S)
        _log.warning("retry_scheduled", stage=self.stage, attempt=attempt, wait_s=round(wait_s, 2), error=str(failure))
        return wait_s

    async def back_off(self, failure: TransientError, attempt: int) -> None:
        """Records the failure, and waits before the next attempt."""
        self.record_failure(failure)
        await asyncio.sleep(self.retry_interval_s(failure, attempt))

    def outage_s(self) -> float:
        """Seconds until all open breakers permit a call; 0 if none is open, or a trial is permitted now."""
        now = time.monotonic()
        return max((breaker.retry_after(now) for breaker in self.breakers.values()), default=0.0)

    def start_trials(self) -> None:
        """Starts the trial of each half-open breaker."""
        now = time.monotonic()
        for breaker in self.breakers.values():
            breaker.start_trial(now)

    def cancel_trials(self) -> None:
        """Permits another trial: the trial call did not reach the dependency."""
        for breaker in self.breakers.values():
            breaker.cancel_trial()

    def measure_age(self, record: ConsumedRecord) -> None:
        """Measures the time since the application produced the original record, when the stage has finished it."""
        self.metrics.age_seconds.labels(self.stage).observe(max(0.0, time.time() - record.produced_ms / 1000))

    async def dead_letter(
        self, rejection: Rejection, *, attempts: int, first_attempt_at: datetime, is_smallest: bool = False
    ) -> list[OutgoingRecord]:
        """The dead letter of a rejected record, with its parts; :meth:`count_dead_letters` counts it after the commit.

        Args:
            rejection: The record and the reason.
            attempts: Number of attempts.
            first_attempt_at: Time of the first attempt.
            is_smallest: Whether to create the smallest letter, because the broker has refused a larger one.
        """
        # Compressing a very large record would block the event loop, and with it the worker's heartbeat.
        return await asyncio.to_thread(
            dead_letter,
            self.dead_letters_topic,
            rejection.record,
            limit=SMALLEST_LIMIT if is_smallest else self.dead_letters_limit,
            stage=self.stage,
            reason=rejection.reason,
            detail=rejection.detail,
            attempts=attempts,
            first_attempt_at=first_attempt_at,
            last_attempt_at=datetime.now(UTC),
            raw_answer=rejection.raw_answer,
        )

    def log_refused_letter(self, record: ConsumedRecord, error: Exception) -> None:
        """Logs that the broker refuses a dead letter, which happens only if its topic's ``max.message.bytes`` was reduced."""
        _log.error("dead_letter_refused", stage=self.stage, topic=self.dead_letters_topic, source=str(record.position), error=str(error))

    def count_dead_letters(self, committed: Iterable[OutgoingRecord]) -> None:
        """Counts the dead letters among committed outputs."""
        for output in committed:
            if is_letter(output, self.dead_letters_topic):
                self.metrics.dead_letters.labels(self.stage, reason_of(output)).inc()
