"""Scheduler's view of one record in flight."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from runtime.kafka import TopicPartition
from streams.engine.failures.failure_budget import FailureBudget

R = TypeVar("R")


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
