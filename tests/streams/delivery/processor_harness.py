"""A partition processor and all that it touches."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from runtime.kafka import OutgoingRecord
from streams.delivery.batch import Batch, BatchHandler
from streams.delivery.driver import FaustRecord
from streams.delivery.partition_processor import PartitionProcessor
from streams.delivery.records import ConsumedRecord
from streams.delivery.state import PartitionState, Row
from streams.errors import PoisonRecordError, TransientError
from tests.streams.delivery.doubles import Journal, ScriptedProducer, faust_record
from tests.streams.harness import InMemoryRows, stage_context, until

GENERATION = 3
CHANGELOG = "g-state-changelog"
LETTERS = "varve.dead-letters"


class JournaledRows(InMemoryRows):
    """Rows that note each write in the journal."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self.journal = journal

    def write(self, rows: list[Row], changelog_offset: int) -> None:
        super().write(rows, changelog_offset)
        self.journal.entries.append(("state", [row.key for row in rows]))


class CountingHandler(BatchHandler):
    """Counts per key, emits the count, and misbehaves where a record's value says so."""

    def __init__(self) -> None:
        self.transient_failures = 0
        self.handled: list[list[int]] = []
        self.commands: list[OutgoingRecord] = []
        self.recovered: list[bytes] | None = None

    async def recover(self, state: PartitionState[Any], now: datetime) -> None:
        self.recovered = [key for key, _ in state.scan()]

    def on_dead_lettered(self, state: PartitionState[Any], record: ConsumedRecord) -> None:
        if record.key in (b"noted", b"half noted"):
            state.put(b"dead-lettered", record.offset, position=record.offset)
        if record.key == b"half noted":
            raise ZeroDivisionError("a bug in noting, too")

    def due(self, now: datetime) -> list[OutgoingRecord]:
        return self.commands

    async def handle(self, batch: Batch) -> None:
        self.handled.append([record.offset for record in batch.records])
        await batch.each(lambda record: self._count(batch, record))
        if self.transient_failures:
            self.transient_failures -= 1
            raise TransientError("not now", dependency="store")

    def _count(self, batch: Batch, record: ConsumedRecord) -> None:
        if record.value == b"poison":
            raise PoisonRecordError("bad", "a poison record")
        key = record.key or b""
        count = (batch.state.get(key) or 0) + 1
        batch.state.put(key, count, position=record.offset)
        batch.emit(OutgoingRecord("varve.out", key, b"%d" % count), record)
        if record.value == b"bug":
            raise ZeroDivisionError("a bug behind the first change of state")


class IntCodec:
    """Writes a count as decimal text."""

    def encode(self, state: int) -> bytes:
        return b"%d" % state

    def decode(self, raw: bytes) -> int:
        return int(raw)


class ProcessorHarness:
    """A partition processor and all that it touches."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.producer = ScriptedProducer(self.journal)
        self.rows = JournaledRows(self.journal)
        self.handler = CountingHandler()
        self.generation = GENERATION
        context = stage_context(
            self.producer,
            dead_letters_topic=LETTERS,
            changelog_topic=CHANGELOG,
            max_batch=3,
            may_write=lambda generation: generation == self.generation,
        )
        state = PartitionState(self.rows, IntCodec(), cache_bytes=100_000)
        self.processor = PartitionProcessor(partition=0, generation=GENERATION, handler=self.handler, state=state, context=context)

    def record(self, offset: int, value: bytes = b"good", key: bytes = b"k") -> FaustRecord:
        record = ConsumedRecord("varve.source", 0, offset, key, value, (("mine", b"\xff"),), time.time())
        return faust_record(record, self.journal)

    async def put(self, *records: FaustRecord) -> None:
        for record in records:
            await self.processor.put(record, limit=100)

    async def drained(self) -> None:
        async with asyncio.timeout(60):
            await until(lambda: self.processor.backlog == 0)
        assert self.processor.failure is None

    def counts(self) -> dict[bytes, int]:
        return {key: int(row[8:]) for key, row in self.rows.rows.items()}


@asynccontextmanager
async def processor_harness() -> AsyncIterator[ProcessorHarness]:
    harness = ProcessorHarness()
    try:
        yield harness
    finally:
        await harness.processor.stop()
