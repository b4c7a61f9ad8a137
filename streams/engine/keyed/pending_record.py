"""One record in flight: its progress, and the failures that are its own fault."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from runtime.kafka import TopicPartition

R = TypeVar("R")


@dataclass(slots=True)
class _Failures:
    confirmed: int = 0
    """Failures followed by a success of another record: the dependency was available."""
    doubtful: int = 0
    """Failures since then: either the record's fault or the beginning of an outage."""
    has_opened: bool = False
    """It kept failing while the breaker was open, and too few other records failed for an outage. The next success shows the cause."""
    last_at: float = 0.0


class FailureBudget:
    """Failures of one record, counted per dependency.

    A failure during an outage says nothing about the record, nor do the failures just before the outage was known. A record that opens
    the breaker alone may be faulty, or it may be the only record there is. Of its failures with an open breaker, each counts that preceded
    by a served call; all others count as one, once another record has succeeded. Times are seconds on any steady clock.
    """

    __slots__ = ("_failures",)

    def __init__(self) -> None:
        self._failures: dict[str, _Failures] = {}

    def record_failure(
        self, dependency: str, *, now: float, last_success_at: float, is_open: bool, is_unavailable: bool, is_served: bool
    ) -> int:
        """Counts a failure.

        Args:
            dependency: The dependency that failed.
            now: The time of the failure.
            last_success_at: Start of the newest call that succeeded for any record.
            is_open: Whether the dependency's circuit breaker is not closed.
            is_unavailable: Whether many records have opened it.
            is_served: Whether the dependency accepted another call right after the failure.

        Returns:
            The failures with this dependency that are the record's own.
        """
        failures = self._failures.setdefault(dependency, _Failures())
        if last_success_at > failures.last_at:
            failures.confirmed += failures.doubtful + failures.has_opened
            failures.doubtful, failures.has_opened = 0, False
        failures.doubtful = 0 if is_open else failures.doubtful + 1
        failures.confirmed += is_open and is_served
        failures.has_opened = is_open and not is_served and not is_unavailable
        failures.last_at = now
        return failures.confirmed + failures.doubtful


class Status(Enum):
    """Progress of a record."""

    WAITING = auto()
    RUNNING = auto()
    COMPUTED = auto()
    """Its outputs are computed, but its partition was revoked before they were written."""
    WRITING = auto()
    """Its outputs are being committed."""
    PARKING = auto()
    """The record itself is being written to the parked records."""
    DONE = auto()


@dataclass(slots=True, eq=False)
class PendingRecord(Generic[R]):
    """One record in flight."""

    partition: TopicPartition
    offset: int
    key: Hashable
    tenant: str
    record: R
    generation: int | None
    """The assignment that delivered it last; None: its partition is revoked."""
    is_parked: bool = False
    """Whether it was parked and has come back: its place in the log is acknowledged already."""
    status: Status = Status.WAITING
    started_at: float = 0.0
    """Start of its last attempt, on the scheduler's clock."""
    attempts: int = 0
    failure_budget: FailureBudget = field(default_factory=FailureBudget)
    first_attempt_at: datetime | None = None
    """Start of its first attempt, on the wall clock."""
    result: Any = None
    """Its computed outputs, until they are written."""
    refusals: int = 0
    """Number of times that Kafka refused its outputs as too large."""
    is_queued: bool = False
    """Whether it is queued for a slot."""
    is_loaded: bool = False
    """Whether its payload is in memory or being loaded."""

    @property
    def place(self) -> tuple[TopicPartition, int, bool]:
        """Identity among the records in flight: a replay delivers parked records a second time."""
        return self.partition, self.offset, self.is_parked
