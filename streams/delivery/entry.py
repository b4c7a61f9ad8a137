"""One record in work, as the scheduler sees it."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from streams.delivery.failure_budget import FailureBudget

R = TypeVar("R")

Place = tuple[str, int]
"""Topic and partition."""


class Status(Enum):
    """How far the work on a record has come."""

    WAITING = auto()
    RUNNING = auto()
    COMPUTED = auto()
    """Its outputs are known, but its partition was taken away before they could be written."""
    WRITING = auto()
    """Its outputs are on their way to the broker."""
    DONE = auto()


@dataclass(slots=True, eq=False)
class Entry(Generic[R]):
    """One record in work."""

    place: Place
    offset: int
    key: Hashable
    tenant: str
    record: R
    generation: int | None
    """The assignment under which it was last delivered; None: its partition is not ours now."""
    status: Status = Status.WAITING
    started: float = 0.0
    tries: int = 0
    failure_budget: FailureBudget = field(default_factory=FailureBudget)
    begun: datetime | None = None
    """When it was first worked on, by the wall clock."""
    result: Any = None
    """What was computed of it, until it is written."""
    is_ready: bool = False
    """Whether it is in line to be started."""
    in_hand: bool = False
    """Whether the record's contents are held, or being read again."""
