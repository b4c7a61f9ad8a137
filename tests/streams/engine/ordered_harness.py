"""An ordered task, its handler and its log; the broker's part is scripted, to fail when a test says so."""

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from runtime.clocks import ManualClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from streams.engine.failures.suspects import JournalEntry
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.engine.tasks.batch_interval import BatchInterval, BatchLimits
from streams.engine.tasks.ordered_task import OrderedTask
from streams.errors import PoisonRecordError, TransientError
from tests.streams.engine.doubles import LETTERS, ScriptedLog
from tests.streams.harness import PausedPartitions, delivered, journal_after, stage_context, until

GENERATION = 3


@dataclass
class Behaviour:
    """Scripted behaviour of a test's handlers, and a record of their calls."""

    transient_failures: int = 0
    waits: dict[int, int] = field(default_factory=dict)
    """How often a record of an offset still has to wait."""
    at_handling: Callable[[], None] = lambda: None
    """Called while a batch is handled."""
    handled: list[list[int]] = field(default_factory=list)
    commands: list[OutgoingRecord] = field(default_factory=list)
    watermark: datetime | None = None
    times_due: int = 0
    """How often a handler was asked what is due."""
    recovered: list[list[bytes]] = field(default_factory=list)
    times: dict[str, datetime] = field(default_factory=dict)
    """The newest time that a handler received, by the method."""


class CountingHandler(BatchHandler):
    """Counts per key, emits the count, and fails as a record's value says."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.is_recovered = False

    async def recover(self, state: PartitionState[Any], now: datetime) -> None:
        self.behaviour.times["recover"] = now
        assert not self.is_recovered, "a handler outlives no take-over: what it remembers may not have been committed"
        self.is_recovered = True
        self.behaviour.recovered.append([key for key, _ in state.scan()])

    def on_dead_lettered(self, state: PartitionState[Any], record: ConsumedRecord) -> None:
        if record.key in (b"noted", b"half noted"):
            state.put(b"passed over", record.offset, position=record.offset)
        if record.key == b"half noted":
            raise ZeroDivisionError("a bug in noting, too")

    def watermark(self, now: datetime) -> datetime | None:
        return self.behaviour.watermark

    def due(self, now: datetime) -> list[OutgoingRecord]:
        self.behaviour.times_due += 1
        self.behaviour.times["due"] = now
        return self.behaviour.commands

    async def handle(self, batch: Batch) -> None:
        self.behaviour.handled.append([record.offset for record in batch.records])
        self.behaviour.times["handle"] = batch.now
        self.behaviour.at_handling()
        await batch.each(lambda record: self._one(batch, record))
        if self.behaviour.transient_failures:
            self.behaviour.transient_failures -= 1
            raise TransientError("not now", dependency="store")

    def _one(self, batch: Batch, record: ConsumedRecord) -> None:
        if (record.value or b"").startswith(b"poison"):
            raise PoisonRecordError("bad", "a poison record")
        if self.behaviour.waits.get(record.offset, 0):
            self.behaviour.waits[record.offset] -= 1
            raise TransientError("not known yet", dependency="control", counts_as_attempt=False)
        key = record.key or b""
        count = (batch.state.get(key) or 0) + 1
        batch.state.put(key, count, position=record.offset)
        batch.emit(OutgoingRecord("varve.out", key, b"%d" % count), record)
        if record.value == b"bug":
            raise ZeroDivisionError("a bug after the first change of state")


class Counts:
    def encode(self, state: int) -> bytes:
        return b"%d" % state

    def decode(self, raw: bytes) -> int:
        return int(raw)


class ProcessorHarness:
    """An ordered task and the objects that it works with."""

    def __init__(
        self,
        log: ScriptedLog | None = None,
        left: Iterable[JournalEntry] = (),
        *,
        max_queued: int = 100,
        max_queued_bytes: int = 1_000_000,
        interval_s: float = 0.0,
    ) -> None:
        journal, self.entries = journal_after(left)
        self.log = ScriptedLog() if log is None else log
        self.writer = self.log.writer()
        self.behaviour = Behaviour()
        self.generation = GENERATION
        self.paused = PausedPartitions()
        self.metrics = Metrics()
        self.clock = ManualClock(datetime(2024, 5, 1, tzinfo=UTC))
        context = stage_context(
            lambda partition: self.writer,
            metrics=self.metrics,
            dead_letters_topic=LETTERS,
            flow_control=self.paused,
            limits=BatchLimits(max_records=3, max_bytes=1000, interval=BatchInterval(minimum_s=interval_s, maximum_s=interval_s)),
            journal=journal,
            clock=self.clock,
            may_write=lambda generation: generation == self.generation,
        )
        self.processor = OrderedTask(
            partition=0,
            generation=GENERATION,
            new_handler=lambda: CountingHandler(self.behaviour),
            codec=Counts(),
            cache_bytes=100_000,
            max_queued=max_queued,
            max_queued_bytes=max_queued_bytes,
            writer=self.writer,
            context=context.task,
        )

    def record(self, offset: int, value: bytes = b"good", key: bytes = b"k") -> ConsumedRecord:
        record = delivered("source", offset, key, value, headers=(("mine", b"\xff"),))
        return ConsumedRecord(record.topic, 0, offset, key, value, record.headers, time.time())

    def put(self, *records: ConsumedRecord) -> None:
        for record in records:
            self.processor.put(record)

    async def finished(self) -> None:
        await until(lambda: self.processor.backlog == 0 or self.processor.failure is not None, deadline_s=20)
        assert self.processor.failure is None

    def counts(self) -> dict[bytes, int]:
        """The states, as the changelog has them; the local table has the same."""
        assert self.writer.table.rows == self.log.changelog
        return {key: int(row[8:]) for key, row in self.log.changelog.items()}


@asynccontextmanager
async def ordered_harness(
    log: ScriptedLog | None = None, left: Iterable[JournalEntry] = (), **settings: Any
) -> AsyncIterator[ProcessorHarness]:
    harness = ProcessorHarness(log, left, **settings)
    try:
        yield harness
    finally:
        await harness.processor.stop()
