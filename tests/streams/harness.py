"""Runs a stage's handler on one partition, batch by batch, without a broker."""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from runtime.clocks import Clock, SystemClock
from runtime.metrics import Metrics
from runtime.resilience import Backoff, CircuitBreaker
from runtime.settings import Settings
from runtime.tracing import Headers
from streams.engine.context import StageContext, TaskContext
from streams.engine.failures.crash_journal import CrashJournal
from streams.engine.failures.dead_letters import DeadLetterWriter
from streams.engine.failures.dependency_health import DependencyHealth, RetryPolicy
from streams.engine.failures.journal_store import JournalStore
from streams.engine.failures.suspects import JournalEntry, after_end
from streams.engine.faust.flow_control import FlowControl, PauseReason
from streams.engine.records import ConsumedRecord
from streams.engine.stage_metrics import StageMetrics
from streams.engine.state.folders import held_folders, tables_folder
from streams.engine.state.partition_state import Codec, PartitionState, StateChange
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.engine.tasks.batch_interval import BatchInterval, BatchLimits
from streams.engine.tasks.checkpointer import Writer

PREFIX = "varve."
APPENDED_AT = datetime(2025, 1, 1, tzinfo=UTC)
"""Default append time of a record: later than the event times that tests use."""


class InMemoryRows:
    """A partition's rows in a dictionary."""

    def __init__(self, rows: dict[bytes, bytes] | None = None) -> None:
        self.rows = dict(rows or {})
        self.reads = 0
        self.changelog_offset = -1

    def read(self, key: bytes) -> bytes | None:
        self.reads += 1
        return self.rows.get(key)

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        yield from sorted(self.rows.items())

    def scan_from(self, key: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield from sorted(row for row in self.rows.items() if row[0] >= key)

    def write(self, rows: list[StateChange], changelog_offset: int) -> None:
        self.changelog_offset = changelog_offset
        for row in rows:
            if row.value is None:
                self.rows.pop(row.key, None)
            else:
                self.rows[row.key] = row.value


class PartitionHarness:
    """One assignment of a partition to a handler.

    Args:
        handler: The stage's handler.
        codec: How its state is written.
        rows: The local table; a new one unless given.
        partition: Its number.
        cache_bytes: Size limit of cached state objects; if it is tiny, every read decodes a row.
        clock: Clock of the handler. Default: the machine's.
    """

    def __init__(
        self,
        handler: BatchHandler,
        codec: Codec[Any],
        rows: InMemoryRows | None = None,
        *,
        partition: int = 0,
        cache_bytes: int = 10_000_000,
        clock: Clock | None = None,
    ) -> None:
        self.handler = handler
        self._clock = clock or SystemClock()
        self.rows = rows or InMemoryRows()
        self.partition = partition
        self.state: PartitionState[Any] = PartitionState(self.rows, codec, cache_bytes=cache_bytes)
        self._is_recovered = False

    async def recover(self) -> None:
        """Lets the handler recover, once; the first batch does so by itself."""
        if not self._is_recovered:
            await self.handler.recover(self.state, self._clock.now())
            self._is_recovered = True

    async def process(self, records: Sequence[ConsumedRecord]) -> Batch:
        """Handles records in one batch and commits it."""
        batch = await self.process_uncommitted(records)
        self.commit()
        return batch

    async def process_uncommitted(self, records: Sequence[ConsumedRecord]) -> Batch:
        """Handles records in one batch that is not committed yet."""
        await self.recover()
        batch = Batch(self.partition, records, self.state, self._clock.now())
        await self.handler.handle(batch)
        return batch

    def commit(self) -> None:
        self.state.commit(self.state.changes(), 0)


class PausedPartitions(set[int], FlowControl):
    """A flow control that knows which partitions are paused."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: set[tuple[int, PauseReason]] = set()
        self.out_of_range: set[int] = set()
        self.sought: dict[int, int] = {}
        self.next_fetch: int | None = None
        """Start of the next fetch of every partition; None: right after the last record."""

    def is_stranded(self, partition: int) -> bool:
        return partition in self.out_of_range

    def pause(self, partition: int, reason: PauseReason) -> None:
        self.reasons.add((partition, reason))
        self.add(partition)

    def resume(self, partition: int, reason: PauseReason) -> None:
        self.reasons.discard((partition, reason))
        if not any(paused == partition for paused, _ in self.reasons):
            self.discard(partition)

    def release(self, partition: int) -> None:
        for reason in PauseReason:
            self.resume(partition, reason)

    def fetch_position(self, partition: int, next_offset: int | None) -> int | None:
        return self.next_fetch if self.next_fetch != next_offset else None

    async def resume_at(self, partition: int, offset: int) -> None:
        self.out_of_range.discard(partition)
        self.resume(partition, PauseReason.DATA_LOSS)
        self.sought[partition] = offset


class JournalInMemory(JournalStore):
    """Entries by slot, as a killed process leaves them."""

    def __init__(self) -> None:
        self.slots: dict[int, JournalEntry] = {}

    def replace(self, entries: Iterable[JournalEntry]) -> dict[int, JournalEntry]:
        self.slots = dict(enumerate(entries))
        return dict(self.slots)

    def put(self, entry: JournalEntry) -> int:
        slot = next(number for number in count() if number not in self.slots)
        self.slots[slot] = entry
        return slot

    def free(self, slot: int) -> None:
        del self.slots[slot]

    def close(self) -> None:
        """Nothing is open."""


def journal_after(
    left: Iterable[JournalEntry] = (), *, maximum_crashes: int = 3, is_lost: Callable[[], bool] = bool
) -> tuple[CrashJournal, JournalInMemory]:
    """The entries of a process whose predecessor has left these, and where they are kept."""
    store = JournalInMemory()
    entries = CrashJournal(
        store, suspects=after_end(list(left)), maximum_crashes=maximum_crashes, stage="test", metrics=Metrics(), is_lost=is_lost
    )
    return entries, store


def stage_context(
    new_writer: Callable[[int], Writer],
    *,
    stage: str = "test",
    metrics: Metrics | None = None,
    dead_letters_topic: str = "dead-letters",
    max_records: int = 1,
    max_bytes: int = 1000,
    new_breaker: Callable[[], CircuitBreaker] = lambda: CircuitBreaker(failures=3, reset_s=0.005),
    **parts: Any,
) -> StageContext:
    """Parts that drivers share, with the shortest waits; ``parts`` replaces those of the task context."""
    shown = StageMetrics(stage, metrics or Metrics())
    backoff = Backoff(initial_interval_s=0.001, maximum_interval_s=0.002)
    usual = {
        "limits": BatchLimits(max_records=max_records, max_bytes=max_bytes, interval=BatchInterval(minimum_s=0.0, maximum_s=0.0)),
        "dependencies": DependencyHealth(
            metrics=shown, retry_policy=RetryPolicy(backoff=backoff, maximum_attempts=3), new_breaker=new_breaker
        ),
        "dead_letters": DeadLetterWriter(topic=dead_letters_topic, limit=4_065_536, metrics=shown),
        "journal": journal_after()[0],
        "flow_control": PausedPartitions(),
        "may_write": lambda generation: True,
    }
    return StageContext(task=TaskContext(metrics=shown, **{**usual, **parts}), new_writer=new_writer)


def delivered(
    topic: str,
    offset: int,
    key: bytes | None,
    value: bytes | None,
    *,
    headers: Headers = (),
    partition: int = 0,
    appended_at: datetime = APPENDED_AT,
) -> ConsumedRecord:
    return ConsumedRecord(f"{PREFIX}{topic}", partition, offset, key, value, headers, appended_at.timestamp())


def contributed(batch: Batch) -> list[ConsumedRecord]:
    """The contributions in a batch's outputs, as the entities stage receives them."""
    outputs = [each for each in batch.outputs if each.topic == "varve.contributions"]
    return [delivered("contributions", index, each.key, each.value) for index, each in enumerate(outputs)]


def plain_settings(data: Path, **groups: Any) -> Settings:
    """Settings that no environment changes."""
    return Settings(_env_file=None, data=data, **groups)


def remove_tables(data: Path, stage: str) -> int:
    """Removes the local tables of a stage, whose workers are stopped; returns the number of folders."""
    with held_folders(tables_folder(data, stage)) as folders:
        for folder in folders:
            shutil.rmtree(folder)
        return len(folders)


async def until(condition: Callable[[], bool], *, deadline_s: float = 60.0) -> None:
    """Returns when the condition holds. A condition that takes long to ask is asked less often."""
    async with asyncio.timeout(deadline_s):
        while True:
            began = time.perf_counter()
            if condition():
                return
            await asyncio.sleep(max(0.002, 3 * (time.perf_counter() - began)))


async def until_true(ask: Callable[[], Awaitable[bool]], *, deadline_s: float = 60.0) -> None:
    """Returns when an asynchronous condition is met."""
    async with asyncio.timeout(deadline_s):
        while not await ask():  # noqa: ASYNC110 - the condition has no event
            await asyncio.sleep(0.05)
