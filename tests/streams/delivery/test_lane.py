"""A lane makes outputs, state and offset durable in this order, whatever fails. The broker's part is scripted here, to fail on cue."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import pytest

from runtime.breaker import CircuitBreaker
from runtime.metrics import Metrics
from streams.delivery.backoff import Backoff
from streams.delivery.batch import Batch
from streams.delivery.context import StageContext
from streams.delivery.lane import Lane
from streams.delivery.outbox import Outbox
from streams.delivery.pacer import Pacer
from streams.delivery.records import Delivered, Outgoing
from streams.delivery.state import PartitionState, Row
from streams.errors import PoisonRecord, TransientFailure
from tests.streams.steps import RowsInMemory, delivered, until

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


class ScriptedOutbox:
    """Takes records as the broker would, or fails as often as it is told to."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.failures: dict[str, int] = {}
        self.gate: dict[str, asyncio.Event] = {}
        self.entered = asyncio.Event()

    async def send(self, records: Sequence[Outgoing], *, may_write: Callable[[], bool]) -> list[int]:
        kind = {CHANGELOG: "changelog", LETTERS: "letters"}.get(records[-1].topic, "outputs")
        self.entered.set()
        if kind in self.gate:
            await self.gate[kind].wait()
        if not may_write():
            raise TransientFailure("taken away", dependency="assignment")
        if self.failures.get(kind, 0) > 0:
            self.failures[kind] -= 1
            raise TransientFailure("no broker", dependency="kafka")
        self.journal.entries.append((kind, list(records)))
        return list(range(len(records)))


class JournaledRows(RowsInMemory):
    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self.journal = journal

    def write(self, rows: list[Row], changelog_offset: int) -> None:
        super().write(rows, changelog_offset)
        self.journal.entries.append(("state", [row.key for row in rows]))


@dataclass
class Taken:
    """A record with its acknowledgement."""

    record: Delivered
    journal: Journal

    def ack(self) -> None:
        self.journal.entries.append(("ack", self.record.offset))


class Script:
    """A handler that counts per key, emits the count, and misbehaves where a record's value says so."""

    def __init__(self) -> None:
        self.transient = 0
        self.handled: list[list[int]] = []
        self.commands: list[Outgoing] = []
        self.recovered: list[bytes] | None = None

    async def recover(self, state: PartitionState[Any], now: datetime) -> None:
        self.recovered = [key for key, _ in state.scan()]

    def pass_over(self, state: PartitionState[Any], record: Delivered) -> None:
        if record.key in (b"noted", b"half noted"):
            state.put(b"passed over", record.offset, position=record.offset)
        if record.key == b"half noted":
            raise ZeroDivisionError("a bug in noting, too")

    def due(self, now: datetime) -> list[Outgoing]:
        return self.commands

    async def handle(self, batch: Batch) -> None:
        self.handled.append([record.offset for record in batch.records])
        await batch.each(lambda record: self._one(batch, record))
        if self.transient:
            self.transient -= 1
            raise TransientFailure("not now", dependency="store")

    def _one(self, batch: Batch, record: Delivered) -> None:
        if record.value == b"poison":
            raise PoisonRecord("bad", "a poison record")
        key = record.key or b""
        count = (batch.state.get(key) or 0) + 1
        batch.state.put(key, count, position=record.offset)
        batch.emit(Outgoing("varve.out", key, b"%d" % count), record)
        if record.value == b"bug":
            raise ZeroDivisionError("a bug behind the first change of state")


class Counts:
    def encode(self, state: int) -> bytes:
        return b"%d" % state

    def decode(self, raw: bytes) -> int:
        return int(raw)


class Scene:
    """A lane and all that it touches."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.outbox = ScriptedOutbox(self.journal)
        self.rows = JournaledRows(self.journal)
        self.handler = Script()
        self.generation = GENERATION
        context = StageContext(
            stage="test",
            outbox=cast(Outbox, self.outbox),
            metrics=Metrics(),
            backoff=Backoff(first_s=0.001, longest_s=0.002),
            new_breaker=lambda: CircuitBreaker(failures=3, reset_s=0.005),
            dead_letters_topic=LETTERS,
            changelog_topic=CHANGELOG,
            max_batch=3,
            max_batch_bytes=1000,
            pacer=Pacer(shortest_s=0.0, longest_s=0.0),
            may_write=lambda generation: generation == self.generation,
        )
        state = PartitionState(self.rows, Counts(), cache_bytes=100_000)
        self.lane = Lane(partition=0, generation=GENERATION, handler=self.handler, state=state, context=context)

    def record(self, offset: int, value: bytes = b"good", key: bytes = b"k") -> Taken:
        record = delivered("source", offset, key, value, headers=(("mine", b"\xff"),))
        return Taken(Delivered(record.topic, 0, offset, key, value, record.headers, time.time()), self.journal)

    async def put(self, *records: Taken) -> None:
        for record in records:
            await self.lane.put(record, limit=100)

    async def finished(self) -> None:
        async with asyncio.timeout(60):
            await until(lambda: self.lane.backlog == 0)
        assert self.lane.failed is None

    def counts(self) -> dict[bytes, int]:
        return {key: int(row[8:]) for key, row in self.rows.rows.items()}


@asynccontextmanager
async def lane() -> AsyncIterator[Scene]:
    scene = Scene()
    try:
        yield scene
    finally:
        await scene.lane.stop()


async def test_outputs_come_before_state_and_state_before_the_acknowledgement() -> None:
    async with lane() as scene:
        await scene.put(*(scene.record(offset) for offset in range(3)))
        scene.lane.start()
        await scene.finished()
        assert scene.journal.kinds() == ["outputs", "changelog", "state", "ack", "ack", "ack"]
        assert [output.value for output in scene.journal.of("outputs")[0]] == [b"1", b"2", b"3"]
        assert scene.journal.of("ack") == [0, 1, 2]
        assert scene.counts() == {b"k": 3}


@pytest.mark.parametrize("kind", ["outputs", "changelog"])
async def test_while_the_broker_takes_nothing_nothing_is_committed_and_then_once(kind: str) -> None:
    async with lane() as scene:
        scene.outbox.failures[kind] = 4
        await scene.put(scene.record(0), scene.record(1))
        scene.lane.start()
        await scene.finished()
        assert scene.journal.kinds()[-4:] == ["changelog", "state", "ack", "ack"]
        assert scene.journal.of("ack") == [0, 1]
        assert scene.counts() == {b"k": 2}
        # Outputs are repeated only if they were taken and the changelog was not, and then byte for byte.
        assert len(scene.journal.of("outputs")) == (1 if kind == "outputs" else 5)
        assert all(outputs == scene.journal.of("outputs")[0] for outputs in scene.journal.of("outputs"))


async def test_what_the_handler_asks_to_try_again_leaves_no_trace_of_the_first_try() -> None:
    async with lane() as scene:
        scene.handler.transient = 5
        await scene.put(scene.record(0), scene.record(1))
        scene.lane.start()
        await scene.finished()
        assert scene.handler.handled == [[0, 1]] * 6
        assert scene.counts() == {b"k": 2}
        assert [len(outputs) for outputs in scene.journal.of("outputs")] == [2]


async def test_poison_in_the_middle_goes_untouched_to_the_dead_letters_and_holds_up_nothing() -> None:
    async with lane() as scene:
        await scene.put(scene.record(0), scene.record(1, b"poison"), scene.record(2))
        scene.lane.start()
        await scene.finished()
        assert scene.journal.of("ack") == [0, 1, 2]
        assert scene.counts() == {b"k": 2}
        (sent,) = scene.journal.of("letters")
        letter = sent[-1]
        assert (letter.key, letter.value, letter.headers[0]) == (b"k", b"poison", ("mine", b"\xff"))
        assert dict(letter.headers)["varve-dlq-reason"] == b"bad"
        assert [output.value for output in sent[:-1]] == [b"1", b"2"]


async def test_an_unexpected_error_isolates_its_record_alone() -> None:
    async with lane() as scene:
        await scene.put(scene.record(0), scene.record(1, b"bug"), scene.record(2))
        scene.lane.start()
        await scene.finished()
        assert scene.handler.handled == [[0, 1, 2], [0], [1], [2]]
        assert scene.counts() == {b"k": 2}, "the record's half-made change does not count"
        ((letter,),) = scene.journal.of("letters")
        assert (letter.value, dict(letter.headers)["varve-dlq-reason"]) == (b"bug", b"unexpected")
        assert b"ZeroDivisionError" in dict(letter.headers)["varve-dlq-detail"]
        assert scene.journal.of("ack") == [0, 1, 2]
        letter_at, ack_at = scene.journal.kinds().index("letters"), scene.journal.entries.index(("ack", 1))
        assert letter_at < ack_at


async def test_what_the_handler_notes_of_a_record_that_broke_it_is_durable_before_the_ack() -> None:
    async with lane() as scene:
        await scene.put(scene.record(0, b"bug", key=b"noted"), scene.record(1, b"bug", key=b"half noted"))
        scene.lane.start()
        await scene.finished()
        assert scene.counts() == {b"passed over": 0}
        assert scene.journal.kinds() == ["letters", "changelog", "state", "ack", "letters", "ack"]


async def test_a_dead_letter_that_the_broker_does_not_take_holds_its_record_until_it_does() -> None:
    async with lane() as scene:
        scene.outbox.failures["letters"] = 3
        await scene.put(scene.record(0, b"bug"))
        scene.lane.start()
        await scene.finished()
        assert scene.journal.kinds() == ["letters", "ack"]


async def test_a_lane_that_is_stopped_in_the_middle_has_acknowledged_nothing() -> None:
    async with lane() as scene:
        scene.outbox.gate["changelog"] = asyncio.Event()
        await scene.put(scene.record(0))
        scene.lane.start()
        await until(lambda: "outputs" in scene.journal.kinds())
        await scene.lane.stop()
        assert scene.journal.kinds() == ["outputs"]
        assert scene.counts() == {}
        await scene.lane.put(scene.record(1), limit=1)
        assert scene.lane.backlog == 0, "a record that comes after the end is not kept"


async def test_after_the_generation_has_passed_nothing_is_written() -> None:
    async with lane() as scene:
        scene.outbox.gate["outputs"] = asyncio.Event()
        await scene.put(scene.record(0))
        scene.lane.start()
        await until(scene.outbox.entered.is_set)
        scene.generation += 1
        scene.outbox.gate["outputs"].set()
        await until(lambda: len(scene.handler.handled) == 3)
        assert scene.journal.entries == []


async def test_a_full_lane_holds_back_who_fills_it() -> None:
    async with lane() as scene:
        scene.outbox.gate["outputs"] = asyncio.Event()
        await scene.lane.put(scene.record(0), limit=1)
        waiting = asyncio.create_task(scene.lane.put(scene.record(1), limit=1))
        await asyncio.sleep(0)
        assert not waiting.done()
        scene.lane.start()
        scene.outbox.gate["outputs"].set()
        async with asyncio.timeout(60):
            await waiting
        await scene.finished()
        assert scene.journal.of("ack") == [0, 1]


async def test_stopping_frees_who_waits_to_fill_a_lane() -> None:
    async with lane() as scene:
        await scene.lane.put(scene.record(0), limit=1)
        waiting = asyncio.create_task(scene.lane.put(scene.record(1), limit=1))
        await asyncio.sleep(0)
        await scene.lane.stop()
        async with asyncio.timeout(60):
            await waiting


async def test_what_is_due_is_sent_while_no_record_comes() -> None:
    async with lane() as scene:
        scene.handler.commands = [Outgoing("varve.messages", b"k", b"timer", (), 0)]
        scene.lane.start()
        await until(lambda: bool(scene.journal.of("outputs")))
        assert scene.journal.of("outputs")[0] == scene.handler.commands
        assert scene.handler.recovered == []


async def test_a_batch_is_bounded_in_bytes_and_a_larger_record_goes_alone() -> None:
    async with lane() as scene:
        await scene.put(*(scene.record(offset, b"x" * size) for offset, size in enumerate((400, 500, 600, 2000, 10, 10))))
        scene.lane.start()
        await scene.finished()
        assert scene.handler.handled == [[0, 1], [2], [3], [4, 5]]
