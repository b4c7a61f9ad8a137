"""Doubles for the tests of both drivers: a partition's log that fails as scripted, and records as Faust delivers them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

from memory.errors import RecordTooLargeError
from runtime.kafka import OffsetAndTimestamp, OutgoingRecord
from streams.engine.failures.data_loss import DataLoss, DataLossError
from streams.engine.records import ConsumedRecord
from streams.engine.state.compaction import TableCompaction
from streams.engine.state.partition_state import StateChange
from streams.engine.tasks.checkpointer import NO_OFFSET
from streams.engine.tasks.driver import FaustRecord
from streams.errors import FencedError, TransientError
from tests.streams.harness import InMemoryRows

LETTERS = "varve.dead-letters"


@dataclass
class Commit:
    """One transaction."""

    outputs: list[OutgoingRecord]
    rows: list[StateChange]
    next_offset: int | None
    stage_metadata: str = ""

    @property
    def letters(self) -> list[OutgoingRecord]:
        return [output for output in self.outputs if output.topic == LETTERS]


@dataclass
class ScriptedLog:
    """State of one partition on the broker, with scripted failures of its writers."""

    commits: list[Commit] = field(default_factory=list)
    changelog: dict[bytes, bytes] = field(default_factory=dict)
    next_offset: int | None = None
    epoch: int = 0
    refused_takeovers: int = 0
    aborted_commits: int = 0
    """Number of commits that fail and write nothing."""
    lost_answers: int = 0
    """Number of commits that succeed although their response is lost."""
    too_large: bytes | None = None
    """A record of this value is larger than the broker takes."""
    largest_letter: int | None = None
    """Dead letters and parts of more bytes than this are refused."""
    refused_letters: int = 0
    largest_row: int | None = None
    """Changelog rows of more bytes than this are refused."""
    gate: asyncio.Event | None = None
    """Commits wait for it."""
    stop_gate: asyncio.Event | None = None
    """Writers wait for it when they stop."""
    open_writers: int = 0
    """Writers that were initialized and have not stopped: each holds the partition's local table."""
    waiting: int = 0
    loss: DataLoss | None = None
    last: OffsetAndTimestamp | None = None
    """The last finished record, from the newest commit that moved the offset."""

    steps: list[str] = field(default_factory=list)
    """Steps of the writers' commits: "mark", "commit", "write" and "compact"."""

    @property
    def outputs(self) -> list[OutgoingRecord]:
        return [output for commit in self.commits for output in commit.outputs]

    @property
    def letters(self) -> list[OutgoingRecord]:
        return [letter for commit in self.commits for letter in commit.letters]

    def writer(self) -> "ScriptedWriter":
        return ScriptedWriter(self)


class ScriptedTable(InMemoryRows):
    """Local table that records its writes."""

    def __init__(self, log: ScriptedLog) -> None:
        super().__init__()
        self.log = log

    def write(self, rows: list[StateChange], changelog_offset: int) -> None:
        self.log.steps.append("write")
        super().write(rows, changelog_offset)


class ScriptedCompaction(TableCompaction):
    """Compaction that records its calls."""

    def __init__(self, log: ScriptedLog) -> None:
        self.log = log

    def announce(self) -> None:
        self.log.steps.append("mark")

    def request(self) -> None:
        self.log.steps += ["mark", "compact"]


class ScriptedWriter:
    """Writes to a :class:`ScriptedLog` for as long as no other has taken it over."""

    def __init__(self, log: ScriptedLog) -> None:
        self.log = log
        self.table = ScriptedTable(log)
        self.epoch = 0
        self.is_stopped = False

    @property
    def rows(self) -> ScriptedTable:
        return self.table

    @property
    def compaction(self) -> ScriptedCompaction:
        return ScriptedCompaction(self.log)

    async def initialize(self) -> int | None:
        if self.log.refused_takeovers:
            self.log.refused_takeovers -= 1
            raise TransientError("no coordinator", dependency="kafka")
        self.log.epoch += 1
        self.log.open_writers += self.epoch == 0
        self.epoch = self.log.epoch
        if self.log.loss is not None:
            raise DataLossError(self.log.loss)
        self.table.rows = dict(self.log.changelog)
        return self.log.next_offset

    async def find_data_loss(self) -> DataLoss | None:
        return self.log.loss

    @property
    def last_handled(self) -> OffsetAndTimestamp | None:
        return self.log.last

    async def commit(
        self,
        outputs: Sequence[OutgoingRecord],
        rows: Sequence[StateChange],
        *,
        next_offset: int | None,
        last: OffsetAndTimestamp | None = None,
        stage_metadata: str = "",
    ) -> int:
        if self.log.gate is not None:
            self.log.waiting += 1
            await self.log.gate.wait()
        if self.epoch != self.log.epoch:
            raise FencedError("another writer has taken over")
        if any(output.value == self.log.too_large for output in outputs if output.topic != LETTERS and self.log.too_large is not None):
            raise RecordTooLargeError("larger than the broker takes")
        if any(output.size > (self.log.largest_letter or output.size) for output in outputs if output.topic == LETTERS):
            self.log.refused_letters += 1
            raise RecordTooLargeError("the letter, too, is larger than the broker takes")
        if any(len(row.value or b"") > (self.log.largest_row or len(row.value or b"")) for row in rows):
            raise RecordTooLargeError("the row is larger than the broker takes")
        if self.log.aborted_commits:
            self.log.aborted_commits -= 1
            raise TransientError("aborted", dependency="kafka")
        self.log.steps.append("commit")
        self.log.commits.append(Commit(list(outputs), list(rows), next_offset, stage_metadata))
        for row in rows:
            if row.value is None:
                self.log.changelog.pop(row.key, None)
            else:
                self.log.changelog[row.key] = row.value
        if next_offset is not None:
            self.log.next_offset = next_offset
            self.log.last = last or self.log.last
        if self.log.lost_answers:
            self.log.lost_answers -= 1
            raise TransientError("no answer", dependency="kafka")
        return len(self.log.commits) if rows else NO_OFFSET

    async def stop(self) -> None:
        if self.log.stop_gate is not None:
            await self.log.stop_gate.wait()
        self.log.open_writers -= self.epoch > 0
        self.is_stopped = True


def faust_record(record: ConsumedRecord) -> FaustRecord:
    """The record as Faust delivers it."""
    message = SimpleNamespace(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        value=record.value,
        headers=record.headers,
        timestamp=record.timestamp,
    )
    return FaustRecord(SimpleNamespace(message=message, value=record.value))
