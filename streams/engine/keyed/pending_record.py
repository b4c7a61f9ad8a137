"""One record in flight, as the scheduler sees it."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from runtime.kafka import TopicPartition
from streams.engine.failures.failure_budget import FailureBudget

R = TypeVar("R")


class Status(Enum):
    """How far the processing of a record has come."""

    WAITING = auto()
    RUNNING = auto()
    COMPUTED = auto()
    """Its outputs are known, but its partition was revoked before they could be written."""
    WRITING = auto()
    """Its outputs are on their way to the broker."""
    PARKING = auto()
    """The record itself is on its way to its partition's parking lot."""
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
    """The assignment under which it was last delivered; None: its partition is revoked."""
    is_parked: bool = False
    """Whether it came back from the parking lot: its place in the log is acknowledged already."""
    status: Status = Status.WAITING
    started_at: float = 0.0
    """When its last attempt began, on the scheduler's clock."""
    attempts: int = 0
    failure_budget: FailureBudget = field(default_factory=FailureBudget)
    first_attempt_at: datetime | None = None
    """When its first attempt began, by the wall clock."""
    result: Any = None
    """What was computed of it, until it is written."""
    refusals: int = 0
    """How often Kafka has refused what came of it as too large."""
    is_queued: bool = False
    """Whether it waits in the queue for a slot."""
    is_loaded: bool = False
    """Whether the record's payload is in memory, or is being loaded."""

    @property
    def place(self) -> tuple[TopicPartition, int, bool]:
        """What tells it from the others in flight: a replay delivers records again that are parked."""
        return self.partition, self.offset, self.is_parked
