"""One step of a stage that handles its partition in order: some records in; outputs, state changes and refusals out."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from memory.errors import RecordError
from streams.delivery.cooperative import Yielder
from streams.delivery.records import Delivered, Outgoing
from streams.delivery.state import PartitionState
from streams.errors import PoisonRecordError


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that goes to the dead letters."""

    record: Delivered
    reason: str
    detail: str
    raw_answer: str | None = None

    @classmethod
    def of(cls, record: Delivered, error: Exception) -> "Refusal":
        """The refusal of a record that an error speaks against, or that a defect of ours broke on."""
        if isinstance(error, (RecordError, PoisonRecordError)):
            raw_answer = error.raw_answer if isinstance(error, PoisonRecordError) else None
            return cls(record, error.reason, str(error) or type(error).__name__, raw_answer)
        return cls(record, "unexpected", f"{type(error).__name__}: {error}")


@dataclass(slots=True)
class Batch:
    """The records of one step, and what comes of them. Nothing of it takes effect before the step is committed."""

    partition: int
    records: Sequence[Delivered]
    state: PartitionState[Any]
    outputs: list[Outgoing] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    may_write: Callable[[], bool] = lambda: True
    """Whether the partition is ours: a handler that itself writes somewhere asks right before it does."""

    async def each(self, handle: Callable[[Delivered], Awaitable[None] | None]) -> None:
        """Calls ``handle`` for every record in order; one that it refuses goes to the dead letters and holds up no other.

        Where a record may take long, ``handle`` gives something to wait for, and lets the loop turn meanwhile.
        What a refused record has emitted is dropped. ``handle`` must not change state before it has found the record good.
        """
        yielder = Yielder()
        for record in self.records:
            await yielder.maybe_yield()
            emitted = len(self.outputs)
            try:
                under_way = handle(record)
                if under_way is not None:
                    await under_way
            except (RecordError, PoisonRecordError) as error:
                del self.outputs[emitted:]
                self.refuse(record, error)

    def emit(self, output: Outgoing, cause: Delivered) -> None:
        """Adds a record to be produced, which comes of ``cause`` and bears its context."""
        self.outputs.append(output.caused_by(cause))

    def refuse(self, record: Delivered, error: Exception) -> None:
        """Sends a record to the dead letters."""
        self.refusals.append(Refusal.of(record, error))


class BatchHandler(Protocol):
    """What one stage does for one partition; a new one for each assignment."""

    async def recover(self, state: PartitionState[Any], now: datetime) -> None:
        """Rebuilds what is kept in memory from the partition's state, before the first batch."""
        ...

    async def handle(self, batch: Batch) -> None:
        """Handles the records in order.

        Raises:
            streams.errors.TransientError: Nothing of the batch counts; it is tried again later.
        """
        ...

    def on_dead_lettered(self, state: PartitionState[Any], record: Delivered) -> None:
        """A record that broke the stage goes to the dead letters: notes in the state what must be known when it is driven again."""
        ...

    def due(self, now: datetime) -> list[Outgoing]:
        """Commands that time has made due: produced, durable, without touching state. Called about once a second."""
        ...
