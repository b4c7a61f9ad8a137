"""What the drivers of one worker share: where records are produced, how failures are waited out."""

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
"""An endpoint may come back sooner than its Retry-After said."""
_NEVER: Final = -1.0


@dataclass(slots=True, kw_only=True)
class StageContext:
    """What the drivers of a worker share."""

    stage: str
    new_writer: Callable[[int], Writer]
    """Makes what commits the work on a partition."""
    metrics: Metrics
    retry_policy: RetryPolicy
    new_breaker: Callable[[], CircuitBreaker]
    dead_letters_topic: str
    dead_letters_limit: int
    """The largest record of that topic, in bytes."""
    max_batch: int
    max_batch_bytes: int
    batch_interval: BatchInterval
    claims: CrashJournal
    """What the worker's handlers are at, and which records may have killed it."""
    flow_control: FlowControl
    park_after_s: float
    """A stage that handles by key parks the records of a tenant that has to wait for longer."""
    may_write: Callable[[int], bool]
    """Whether the worker still holds its partitions under the given generation."""
    fetch_position: Callable[[int, int | None], int | None] = lambda partition, next_offset: None
    """Where a partition's next fetch begins, if that lies behind the given next offset and no record lies between."""
    clock: Clock = field(default_factory=SteadyClock)
    """By which silence is measured. All handlers of the worker are told the time of this one."""
    background: BackgroundWorks = field(default_factory=BackgroundWorks)
    """What goes on beside the handling of records. A driver adds its own before the worker starts."""
    breakers: dict[str, CircuitBreaker] = field(default_factory=dict)
    last_failure_at: dict[str, float] = field(default_factory=dict)
    """When each dependency last failed, on the monotonic clock."""
    failed: dict[str, set[LogPosition]] = field(default_factory=dict)
    """Which records have failed with each dependency since it last served one: no more than open its breaker."""
    last_success_at: float = _NEVER
    """When the newest call of a handler that succeeded began, on the monotonic clock."""

    def breaker(self, dependency: str) -> CircuitBreaker:
        """The breaker of a dependency."""
        if dependency not in self.breakers:
            self.breakers[dependency] = self.new_breaker()
        return self.breakers[dependency]

    def record_success(self, *, started_at: float) -> None:
        """The handler succeeded: what it depends on is there, unless it failed another since.

        Args:
            started_at: When the handler began, on the monotonic clock. A slow call that began before an outage says nothing of it.
        """
        self.last_success_at = max(self.last_success_at, started_at)
        for dependency, breaker in self.breakers.items():
            if started_at > self.last_failure_at.get(dependency, _NEVER):
                breaker.record_success()
                self.failed.pop(dependency, None)

    def record_failure(self, failure: TransientError, place: LogPosition | None = None) -> None:
        """The handler failed for now, with the record at a place, if it was a single one."""
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
        """Whether a dependency is away for everyone: as many different records have failed as open its breaker, and it is open."""
        breaker = self.breaker(dependency)
        return not breaker.is_closed and len(self.failed.get(dependency, ())) >= breaker.threshold

    def retry_interval_s(self, failure: TransientError, attempt: int) -> float:
        """Seconds to wait behind an attempt: as the retry policy says, and until the dependency's breaker permits a call."""
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
        """Seconds until the breakers of all that is away permit a call; 0 where nothing is away, or a trial is permitted now."""
        now = time.monotonic()
        return max((breaker.retry_after(now) for breaker in self.breakers.values()), default=0.0)

    def start_trials(self) -> None:
        """A call begins: it is the trial of whatever is half-open."""
        now = time.monotonic()
        for breaker in self.breakers.values():
            breaker.start_trial(now)

    def cancel_trials(self) -> None:
        """The call that was the trial did not get that far: another is permitted."""
        for breaker in self.breakers.values():
            breaker.cancel_trial()

    def measure_age(self, record: ConsumedRecord) -> None:
        """Measures how long ago the application produced what a record comes of, now that the stage is done with it."""
        self.metrics.age_seconds.labels(self.stage).observe(max(0.0, time.time() - record.produced_ms / 1000))

    async def dead_letter(
        self, rejection: Rejection, *, attempts: int, first_attempt_at: datetime, is_smallest: bool = False
    ) -> list[OutgoingRecord]:
        """The dead letter of a rejected record, with its parts; :meth:`count_dead_letters` counts it when it is committed.

        Args:
            rejection: The record, and why.
            attempts: How often it was tried.
            first_attempt_at: When it was first tried.
            is_smallest: Whether it has to be as small as a letter can be: the broker has refused a larger one.
        """
        # Compressing a giant would hold the event loop, and with it the worker's pulse.
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
        """The broker refuses a dead letter: only where its topic's ``max.message.bytes`` is below what Varve made it with."""
        _log.error("dead_letter_refused", stage=self.stage, topic=self.dead_letters_topic, source=str(record.position), error=str(error))

    def count_dead_letters(self, committed: Iterable[OutgoingRecord]) -> None:
        """Counts the dead letters among outputs that are committed."""
        for output in committed:
            if is_letter(output, self.dead_letters_topic):
                self.metrics.dead_letters.labels(self.stage, reason_of(output)).inc()
