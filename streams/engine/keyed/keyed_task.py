"""Task of a partition whose records are handled by key: commits the results that are ready at the same time together."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from memory.errors import RecordError
from runtime.kafka import OffsetAndTimestamp, OutgoingRecord, TopicPartition
from streams.engine.context import TaskContext
from streams.engine.failures.deferred_records import DeferredRecords
from streams.engine.keyed.pending_record import PendingRecord, Status
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.tasks.checkpointer import Writer
from streams.engine.tasks.driver import InFlightRecord
from streams.engine.tasks.oldest_pending import OldestPending
from streams.engine.tasks.partition_task import PartitionTask


class KeyedTask(PartitionTask):
    """Restores one partition, and commits its results as they arrive.

    The group's offset moves only over a gapless prefix of finished records. After a crash, records with results committed out of order
    are handled again, and give results with the same ids.

    Args:
        source: The source partition.
        generation: The consumer group's generation.
        writer: Commits the partition's steps.
        scheduler: Tracks the gapless prefix.
        context: Parts that the worker's tasks share.
        on_restored: Called when the partition is restored.
        on_committed: Called with each entry whose results are committed.
        reject: Creates the dead letter of an entry whose results Kafka refuses; the smallest one if Kafka has refused a letter already.
    """

    def __init__(
        self,
        *,
        source: TopicPartition,
        generation: int,
        writer: Writer,
        scheduler: Scheduler[Any],
        context: TaskContext,
        on_restored: Callable[[TopicPartition], None],
        on_committed: Callable[[PendingRecord[Any]], None],
        reject: Callable[[PendingRecord[Any], RecordError], Awaitable[list[OutgoingRecord]]],
    ) -> None:
        super().__init__(partition=source.partition, generation=generation, writer=writer, context=context)
        self.deferred = DeferredRecords(source)
        """The partition's parked records."""
        self._source = source
        self._scheduler = scheduler
        self._on_restored = on_restored
        self._on_committed = on_committed
        self._reject = reject
        self._computed: deque[PendingRecord[Any]] = deque()
        self._drained = asyncio.Event()
        self._early: deque[InFlightRecord] = deque()

    @property
    def source(self) -> TopicPartition:
        """The source partition."""
        return self._source

    @property
    def uncommitted(self) -> Sequence[PendingRecord[Any]]:
        """Entries whose results are not known to be committed."""
        return tuple(self._computed)

    @property
    def early(self) -> Sequence[InFlightRecord]:
        """Records delivered before the partition was first restored."""
        return tuple(self._early)

    def put_early(self, record: InFlightRecord) -> None:
        """Keeps a record until the partition is restored."""
        self._early.append(record)

    def take_early(self) -> Sequence[InFlightRecord]:
        """Removes and returns the records of :attr:`early`."""
        records, self._early = tuple(self._early), deque()
        return records

    def add(self, entry: PendingRecord[Any]) -> None:
        """Adds an entry with computed results."""
        self._computed.append(entry)
        self._drained.clear()
        self._work_arrived.set()

    async def drain(self) -> None:
        """Returns when no result waits for its commit, or the task has ended."""
        if self._task is None or not self._computed:
            return
        drained = asyncio.create_task(self._drained.wait())
        try:
            await asyncio.wait([drained, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            drained.cancel()

    def _is_idle(self) -> bool:
        return (self._scheduler.free_span(self._source) or 0) >= 1

    def _oldest(self) -> OldestPending | None:
        entry = self._scheduler.oldest(self._source)
        if entry is None and self._early:
            return OldestPending.of_record(self._early[0].record, attempts=0)
        return None if entry is None else OldestPending.of_entry(entry, is_paused=self._scheduler.is_paused(entry.tenant))

    def _stamp_of(self, offset: int) -> OffsetAndTimestamp | None:
        entry = self._scheduler.entry_of(self._source, offset)
        return None if entry is None else OffsetAndTimestamp(offset, entry.record.record.appended_ms)

    def _on_data_loss(self) -> None:
        self._early.clear()

    async def _restore(self) -> None:
        self.deferred.recover(self._writer.rows)
        self._clear_suspects()
        self._drop_done()

    async def _on_running(self) -> None:
        if self.deferred.count and self._next_offset is not None:
            # A tool that set the offset did not write the number of parked records.
            await self._commit([], [], self._next_offset)
        self._on_restored(self._source)

    async def _handle_next(self) -> bool:
        if not self._computed:
            self._drained.set()
            return False
        await self._commit_next()
        return True

    @property
    def _has_work_in_progress(self) -> bool:
        return bool(self._computed)

    async def _commit_next(self, limit: int | None = None) -> None:
        """Commits as many waiting results as fit into one transaction. A result that Kafka refuses goes to the dead letters alone."""
        entries = self._next_entries(limit)
        changes = self.deferred.changes(entries)
        try:
            outputs = [output for entry in entries for output in entry.result]
            next_offset = self._scheduler.next_offset(self._source, entries)
            if next_offset is None and changes.rows:
                # The number of parked records is metadata of the offset, even if the offset does not move.
                next_offset = self._next_offset
            await self._commit(
                outputs,
                changes.rows,
                next_offset,
                stage_metadata=changes.stage_metadata,
                apply=partial(self.deferred.commit, changes),
                is_erasing=changes.empties_table,
            )
        except RecordError as error:
            if len(entries) == 1:
                entries[0].result = await self._reject(entries[0], error)
                entries[0].status = Status.WRITING
            else:
                for _ in entries:
                    await self._commit_next(limit=1)
            return
        for entry in entries:
            self._computed.popleft()
            self._end(entry)

    def compact(self) -> None:
        """Rewrites the files of the table, which still contain removed records, also of users who were erased meanwhile."""
        compaction = self._writer.compaction
        if compaction is not None:
            compaction.request()

    def _end(self, entry: PendingRecord[Any]) -> None:
        if entry.status is not Status.PARKING:
            self._context.journal.on_done(self._partition, entry.offset)
        self.deferred.end(entry)
        self._on_committed(entry)

    def _next_entries(self, limit: int | None) -> list[PendingRecord[Any]]:
        entries: list[PendingRecord[Any]] = []
        size = 0
        for entry in self._computed:
            size += sum(output.size for output in entry.result) + self.deferred.size_of(entry)
            if entries and (len(entries) == (limit or self._context.limits.max_records) or size > self._context.limits.max_bytes):
                break
            entries.append(entry)
        return entries

    def _drop_done(self) -> None:
        """Drops results of a commit whose response was lost: the group's offset shows whether it succeeded."""
        for entry in [each for each in self._computed if self._is_done(each)]:
            self._computed.remove(entry)
            self._context.dead_letters.count(entry.result)
            self._end(entry)

    def _is_done(self, entry: PendingRecord[Any]) -> bool:
        if entry.is_parked:
            return not self.deferred.has(entry)
        return self._next_offset is not None and entry.offset < self._next_offset

    def _clear_suspects(self) -> None:
        # Parked records precede the offset, and are handled again.
        if self.deferred.is_known_empty:
            super()._clear_suspects()

    @property
    def _stage_metadata(self) -> str:
        return self.deferred.stage_metadata
