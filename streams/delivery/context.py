"""What all the work of one stage shares: where refused records go, how failures are waited out."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from runtime.breaker import CircuitBreaker
from runtime.logs import logger
from runtime.metrics import Metrics
from streams.delivery.backoff import Backoff
from streams.delivery.batch import Refusal
from streams.delivery.dead_letters import dead_letter
from streams.delivery.intake import Intake
from streams.delivery.outbox import Outbox
from streams.delivery.pacer import Pacer
from streams.delivery.records import Delivered, Outgoing
from streams.errors import TransientError

_log = logger(__name__)
_LONGEST_WAIT_S: Final = 60.0


@dataclass(slots=True, kw_only=True)
class StageContext:
    """What the drivers of a worker share."""

    stage: str
    outbox: Outbox
    metrics: Metrics
    backoff: Backoff
    new_breaker: Callable[[], CircuitBreaker]
    dead_letters_topic: str
    changelog_topic: str | None
    """None: the stage keeps no state."""
    max_batch: int
    max_batch_bytes: int
    pacer: Pacer
    intake: Intake
    may_write: Callable[[int], bool]
    """Whether the worker still holds its partitions under the given generation."""
    breakers: dict[str, CircuitBreaker] = field(default_factory=dict)
    failed_at: dict[str, float] = field(default_factory=dict)
    """When each dependency last failed, on the monotonic clock."""
    served_at: float = -1.0
    """When the newest call of a handler began that got through, on the monotonic clock."""

    def breaker(self, dependency: str) -> CircuitBreaker:
        """The breaker of a dependency."""
        if dependency not in self.breakers:
            self.breakers[dependency] = self.new_breaker()
        return self.breakers[dependency]

    def succeeded(self, *, begun: float) -> None:
        """The handler got through: what it depends on is there, unless it failed another since.

        Args:
            begun: When the handler began, on the monotonic clock. A slow call that began before an outage says nothing of it.
        """
        self.served_at = max(self.served_at, begun)
        for dependency, breaker in self.breakers.items():
            if begun > self.failed_at.get(dependency, -1.0):
                breaker.succeeded()

    def failed(self, failure: TransientError) -> None:
        """The handler did not get through."""
        if failure.is_try:
            self.failed_at[failure.dependency] = time.monotonic()
            self.breaker(failure.dependency).failed(self.failed_at[failure.dependency])

    def wait_s(self, failure: TransientError, tries: int) -> float:
        """How long to wait before the next try, in seconds: the back-off, or until the dependency's breaker lets one call through."""
        self.metrics.retries.labels(self.stage).inc()
        wait = self.backoff.wait(tries, retry_after=failure.retry_after)
        if failure.is_try:
            wait = max(wait, self.breaker(failure.dependency).retry_after(time.monotonic()))
        # Looked at again in a minute at the latest: an endpoint may come back sooner than it said.
        wait = min(wait, _LONGEST_WAIT_S)
        _log.warning("trying again", stage=self.stage, tries=tries, wait_s=round(wait, 2), why=str(failure))
        return wait

    async def wait_out(self, failure: TransientError, tries: int) -> None:
        """Notes the failure, and waits before the next try."""
        self.failed(failure)
        await asyncio.sleep(self.wait_s(failure, tries))

    def trial_in_s(self) -> float:
        """Seconds until the breakers of what is away let one call try; 0 where nothing is away, or one may try now."""
        now = time.monotonic()
        return max((breaker.retry_after(now) for breaker in self.breakers.values()), default=0.0)

    def trial_begins(self) -> None:
        """A call begins: of what is away, no other tries for a while."""
        now = time.monotonic()
        for breaker in self.breakers.values():
            breaker.permits(now)

    def trial_did_not_tell(self) -> None:
        """The call that was to try did not get to it: another may at once."""
        now = time.monotonic()
        for breaker in self.breakers.values():
            breaker.renew_trial(now)

    def measure_age(self, record: Delivered) -> None:
        """Measures how long ago the application produced what a record comes of, now that the stage is done with it."""
        self.metrics.age_seconds.labels(self.stage).observe(max(0.0, time.time() - record.produced_ms / 1000))

    def letter(self, refusal: Refusal, tries: int, first_time: datetime) -> Outgoing:
        """The dead letter of a refused record, counted."""
        self.metrics.dead_letters.labels(self.stage, refusal.reason).inc()
        return dead_letter(
            self.dead_letters_topic,
            refusal.record,
            stage=self.stage,
            reason=refusal.reason,
            detail=refusal.detail,
            tries=tries,
            first_time=first_time,
            last_time=datetime.now(UTC),
            raw_answer=refusal.raw_answer,
        )
