"""One step of a stage that handles its partition in order: records in; outputs, state changes and rejections out."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.errors import RecordError
from memory.keys import PADDING
from runtime.kafka import OutgoingRecord
from runtime.pieces import Yielder
from streams.engine.record_spans import RecordSpans
from streams.engine.records import ConsumedRecord, propagate_context
from streams.engine.state.partition_state import PartitionState
from streams.errors import PoisonRecordError, TransientError


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that goes to the dead letters, with the reason."""

    record: ConsumedRecord
    reason: str
    detail: str
    raw_answer: str | None = None

    @classmethod
    def of(cls, record: ConsumedRecord, error: Exception) -> "Rejection":
        """The rejection of a record that is invalid, or on which the stage's code failed."""
        if isinstance(error, (RecordError, PoisonRecordError)):
            raw_answer = error.raw_answer if isinstance(error, PoisonRecordError) else None
            return cls(record, error.reason, str(error) or type(error).__name__, raw_answer)
        return cls(record, "unexpected", f"{type(error).__name__}: {error}")


@dataclass(slots=True)
class Batch:
    """Records of one step, and the results. No result takes effect before the step is committed."""

    partition: int
    records: Sequence[ConsumedRecord]
    state: PartitionState[Any]
    now: datetime
    """The worker's steady clock, for measuring silence; not to be stored or shown."""
    outputs: list[OutgoingRecord] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    may_write: Callable[[], bool] = lambda: True
    """Whether the partition is still owned: a handler that writes elsewhere checks this immediately before."""
    spans: RecordSpans = field(default_factory=RecordSpans)
    """Spans of its records."""
    awaited: TransientError | None = None
    """Failure that a record must wait for: the batch is discarded, and a handler publishes no more of its results."""
    is_erasing: bool = False
    """Whether it removes the words of an erased user: then the files of the local table are compacted after the commit."""

    async def each(self, handle: Callable[[ConsumedRecord], Awaitable[None] | None]) -> None:
        """Calls ``handle`` for every record in order; a record that it rejects goes to the dead letters and does not stop the others.

        If a record may take long, ``handle`` returns an awaitable, which yields to the event loop. A rejected record's outputs are dropped.
        ``handle`` must not change state before it has validated the record. After a record that has to wait, others are handled too, but
        nothing of the batch counts: so the handler requests everything that they wait for at once, and not one attempt after the other.

        Raises:
            streams.errors.TransientError: A record failed for now, or has to wait; all others were handled.
        """
        yielder = Yielder()
        for record in self.records:
            await yielder.maybe_yield()
            if record.key == PADDING:
                continue
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
        """Adds an output made from ``cause``, with its trace context."""
        self.outputs.append(propagate_context(output, self.spans.context_of(cause)))

    def reject(self, record: ConsumedRecord, error: Exception) -> None:
        """Sends a record to the dead letters."""
        self.rejections.append(Rejection.of(record, error))


class BatchHandler(ABC):
    """Processing of one partition by one stage; a new object for each restore. Only :meth:`handle` is abstract."""

    @abstractmethod
    async def handle(self, batch: Batch) -> None:
        """Handles the records in order.

        Raises:
            streams.errors.TransientError: Nothing of the batch counts; it is retried later.
        """

    async def recover(self, state: PartitionState[Any], now: datetime) -> None:  # noqa: B027 - most stages keep nothing in memory
        """Rebuilds in-memory data from the partition's state, before the first batch; ``now`` is as :attr:`Batch.now`."""

    def on_dead_lettered(self, state: PartitionState[Any], record: ConsumedRecord) -> None:  # noqa: B027 - most stages note nothing
        """Records in the state that a record went to the dead letters, if a redrive needs to know."""

    def watermark(self, now: datetime) -> datetime | None:
        """The partition's event time, for a stage with event-time timers; None: there is none, or not yet."""
        return None

    def due(self, now: datetime) -> list[OutgoingRecord]:
        """Commands whose time has come, for the log; must not change state. ``now`` is as :attr:`Batch.now`.

        Called about once a second.
        """
        return []
