"""A partition processor and all that it touches: the broker's part is scripted, to fail on cue."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runtime.kafka import OutgoingRecord
from streams.delivery.batch import Batch, BatchHandler
from streams.delivery.partition_processor import PartitionProcessor
from streams.delivery.records import ConsumedRecord
from streams.delivery.state import PartitionState, Row
from streams.errors import PoisonRecordError, TransientError
from tests.streams.harness import InMemoryRows, delivered, stage_context, until

GENERATION = 3
CHANGELOG = "g-state-changelog"
LETTERS = "varve.dead-letters"


@dataclass
class Journal:
    """Everything that became durable, in its order."""

    entries: list[tuple[str, Any]] = field(default_factory=list)

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.entries]

    def of(self, kind: str) -> list[Any]:
        return [what for each, what in self.entries if each == kind]


class ScriptedProducer:
    """Takes records as the broker would, or fails as often as it is told to."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.failures: dict[str, int] = {}
        self.gate: dict[str, asyncio.Event] = {}
        self.entered = asyncio.Event()

    async def send(self, records: Sequence[OutgoingRecord], *, may_write: Callable[[], bool]) -> list[int]:
        kind = {CHANGELOG: "changelog", LETTERS: "letters"}.get(records[-1].topic, "outputs")
        self.entered.set()
        if kind in self.gate:
            await self.gate[kind].wait()
        if not may_write():
            raise TransientError("taken away", dependency="assignment")
        if self.failures.get(kind, 0) > 0:
            self.failures[kind] -= 1
            raise TransientError("no broker", dependency="kafka")
        self.journal.entries.append((kind, list(records)))
        return list(range(len(records)))


class JournaledRows(InMemoryRows):
    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self.journal = journal

    def write(self, rows: list[Row], changelog_offset: int) -> None:
        super().write(rows, changelog_offset)
        self.journal.entries.append(("state", [row.key for row in rows]))


@dataclass
class Taken:
    """A record with its acknowledgement."""

    record: ConsumedRecord
    journal: Journal

    def ack(self) -> None:
        self.journal.entries.append(("ack", self.record.offset))


class Script(BatchHandler):
    """A handler that counts per key, emits the count, and misbehaves where a record's value says so."""

    def __init__(self) -> None:
        self.transient = 0
        self.handled: list[list[int]] = []
        self.commands: list[OutgoingRecord] = []
        self.recovered: list[bytes] | None = None

    async def recover(self, state: PartitionState[Any], now: datetime) -> None:
        self.recovered = [key for key, _ in state.scan()]

    def on_dead_lettered(self, state: PartitionState[Any], record: ConsumedRecord) -> None:
        if record.key in (b"noted", b"half noted"):
            state.put(b"passed over", record.offset, position=record.offset)
        if record.key == b"half noted":
            raise ZeroDivisionError("a bug in noting, too")

    def due(self, now: datetime) -> list[OutgoingRecord]:
        return self.commands

    async def handle(self, batch: Batch) -> None:
        self.handled.append([record.offset for record in batch.records])
        await batch.each(lambda record: self._one(batch, record))
        if self.transient:
            self.transient -= 1
            raise TransientError("not now", dependency="store")

    def _one(self, batch: Batch, record: ConsumedRecord) -> None:
        if record.value == b"poison":
            raise PoisonRecordError("bad", "a poison record")
        key = record.key or b""
        count = (batch.state.get(key) or 0) + 1
        batch.state.put(key, count, position=record.offset)
        batch.emit(OutgoingRecord("varve.out", key, b"%d" % count), record)
        if record.value == b"bug":
            raise ZeroDivisionError("a bug behind the first change of state")


class Counts:
    def encode(self, state: int) -> bytes:
        return b"%d" % state

    def decode(self, raw: bytes) -> int:
        return int(raw)


class Scene:
    """A partition processor and all that it touches."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.producer = ScriptedProducer(self.journal)
        self.rows = JournaledRows(self.journal)
        self.handler = Script()
        self.generation = GENERATION
        context = stage_context(
            self.producer,
            dead_letters_topic=LETTERS,
            changelog_topic=CHANGELOG,
            max_batch=3,
            may_write=lambda generation: generation == self.generation,
        )
        state = PartitionState(self.rows, Counts(), cache_bytes=100_000)
        self.processor = PartitionProcessor(partition=0, generation=GENERATION, handler=self.handler, state=state, context=context)

    def record(self, offset: int, value: bytes = b"good", key: bytes = b"k") -> Taken:
        record = delivered("source", offset, key, value, headers=(("mine", b"\xff"),))
        return Taken(ConsumedRecord(record.topic, 0, offset, key, value, record.headers, time.time()), self.journal)

    async def put(self, *records: Taken) -> None:
        for record in records:
            await self.processor.put(record, limit=100)

    async def finished(self) -> None:
        async with asyncio.timeout(60):
            await until(lambda: self.processor.backlog == 0)
        assert self.processor.failure is None

    def counts(self) -> dict[bytes, int]:
        return {key: int(row[8:]) for key, row in self.rows.rows.items()}


@asynccontextmanager
async def processor() -> AsyncIterator[Scene]:
    scene = Scene()
    try:
        yield scene
    finally:
        await scene.processor.stop()
