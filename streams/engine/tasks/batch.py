"""One step of a stage that handles its partition in order: some records in; outputs, state changes and rejections out."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.errors import RecordError
from runtime.kafka import OutgoingRecord
from streams.engine.faust.cooperative import Yielder
from streams.engine.record_spans import RecordSpans
from streams.engine.records import ConsumedRecord, propagate_context
from streams.engine.state.partition_state import PartitionState
from streams.errors import PoisonRecordError, TransientError


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that goes to the dead letters, and why."""

    record: ConsumedRecord
    reason: str
    detail: str
    raw_answer: str | None = None

    @classmethod
    def of(cls, record: ConsumedRecord, error: Exception) -> "Rejection":
        """The rejection of a record that an error speaks against, or that a defect of ours broke on."""
        if isinstance(error, (RecordError, PoisonRecordError)):
            raw_answer = error.raw_answer if isinstance(error, PoisonRecordError) else None
            return cls(record, error.reason, str(error) or type(error).__name__, raw_answer)
        return cls(record, "unexpected", f"{type(error).__name__}: {error}")


@dataclass(slots=True)
class Batch:
    """The records of one step, and what comes of them. Nothing of it takes effect before the step is committed."""

    partition: int
    records: Sequence[ConsumedRecord]
    state: PartitionState[Any]
    now: datetime
    """By the worker's steady clock, by which it measures silence: no time to be kept or shown."""
    outputs: list[OutgoingRecord] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    may_write: Callable[[], bool] = lambda: True
    """Whether the partition is ours: a handler that itself writes somewhere asks right before it does."""
    spans: RecordSpans = field(default_factory=RecordSpans)
    """Of its records."""
    awaited: TransientError | None = None
    """What a record of it has to wait for: nothing of the batch will count, and a handler shows nothing more of it to anybody."""
    is_erasing: bool = False
    """Whether it removes what an erased user said: then the local table's files are rewritten after the commit."""

    async def each(self, handle: Callable[[ConsumedRecord], Awaitable[None] | None]) -> None:
        """Calls ``handle`` for every record in order; one that it rejects goes to the dead letters and holds up no other.

        Where a record may take long, ``handle`` returns an awaitable, and yields to the event loop meanwhile.
        What a rejected record has emitted is dropped. ``handle`` must not change state before it has found the record good.
        Behind a record that has to wait the others are handled, too, though nothing of the batch counts then: what they have to wait for
        is asked for at once, and not by one attempt after the other.

        Raises:
            streams.errors.TransientError: A record failed for now, or has to wait: then all others were handled.
        """
        yielder = Yielder()
        for record in self.records:
            await yielder.maybe_yield()
            emitted = len(self.outputs)
            try:
                pending = handle(record)
                if pending is not None:
                    await pending
            except TransientError as failure:
                if failure.counts_as_attempt:
                    raise
                self.awaited = self.awaited or failure
            except (RecordError, PoisonRecordError) as error:
                del self.outputs[emitted:]
                self.reject(record, error)
        if self.awaited is not None:
            raise self.awaited

    def emit(self, output: OutgoingRecord, cause: ConsumedRecord) -> None:
        """Adds a record to be produced, which comes of ``cause`` and bears its context."""
        self.outputs.append(propagate_context(output, self.spans.context_of(cause)))

    def reject(self, record: ConsumedRecord, error: Exception) -> None:
        """Sends a record to the dead letters."""
        self.rejections.append(Rejection.of(record, error))


class BatchHandler(ABC):
    """What one stage does for one partition; a new one for each assignment. Only :meth:`handle` has to be written."""

    @abstractmethod
    async def handle(self, batch: Batch) -> None:
        """Handles the records in order.

        Raises:
            streams.errors.TransientError: Nothing of the batch counts; it is tried again later.
        """

    async def recover(self, state: PartitionState[Any], now: datetime) -> None:  # noqa: B027 - most stages keep nothing in memory
        """Rebuilds what is kept in memory from the partition's state, before the first batch; ``now`` is as :attr:`Batch.now`."""

    def on_dead_lettered(self, state: PartitionState[Any], record: ConsumedRecord) -> None:  # noqa: B027 - most stages note nothing
        """A record that broke the stage goes to the dead letters: notes in the state what must be known when it is driven again."""

    def watermark(self, now: datetime) -> datetime | None:
        """Up to where event time has come in the partition, for a stage whose timers go by it; None: it has no such time, or not yet."""
        return None

    def due(self, now: datetime) -> list[OutgoingRecord]:
        """Commands that time has made due: produced, durable, without touching state; ``now`` is as :attr:`Batch.now`.

        Called about once a second.
        """
        return []
