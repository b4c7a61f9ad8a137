"""Commits what comes of one partition's records where these are handled by key: what is computed together is committed together."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from memory.errors import RecordError
from runtime.kafka import OutgoingRecord, TopicPartition
from streams.delivery.context import StageContext
from streams.delivery.entry import Entry
from streams.delivery.gap_stop import GapStop
from streams.delivery.log_gap import LogGap, LogGapError
from streams.delivery.partition_writer import Writer
from streams.delivery.scheduler import Scheduler
from streams.errors import TransientError

_IDLE_S: Final = 0.25
"""A partition without results for so long tells the group that it has come behind the log's trailing markers."""


class PartitionCommitter:
    """Takes one partition over, and commits its results as they come.

    The group's offset moves only over what is done without a gap: of a record whose results were committed before an earlier one's, a crash
    makes them again, under the same ids.

    Args:
        partition: The source partition.
        generation: The assignment, as the consumer group counts them.
        writer: Commits what comes of the partition.
        scheduler: Knows what is done without a gap.
        context: What the worker's partitions share.
        on_committed: Called with each entry whose results are committed.
        reject: Makes the dead letter of an entry whose results Kafka refuses; the smallest one where a letter was refused already.
    """

    def __init__(
        self,
        *,
        partition: TopicPartition,
        generation: int,
        writer: Writer,
        scheduler: Scheduler[Any],
        context: StageContext,
        on_committed: Callable[[Entry[Any]], None],
        reject: Callable[[Entry[Any], RecordError], Awaitable[list[OutgoingRecord]]],
    ) -> None:
        self._partition = partition
        self._generation = generation
        self._writer = writer
        self._scheduler = scheduler
        self._context = context
        self._on_committed = on_committed
        self._reject = reject
        self._computed: deque[Entry[Any]] = deque()
        self._gap_stop = GapStop(partition=partition.partition, writer=writer, context=context, is_idle=self._is_idle)
        self._arrived = asyncio.Event()
        self._drained = asyncio.Event()
        self._is_taken_over = asyncio.Event()
        self._next_offset: int | None = None
        self._is_recovered = False
        self._attempt = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def is_recovered(self) -> bool:
        """Whether the partition is taken over."""
        return self._is_recovered

    @property
    def next_offset(self) -> int | None:
        """The offset of the next record to handle, as committed; None before the first commit."""
        return self._next_offset

    @property
    def log_gap(self) -> LogGap | None:
        """What the log has lost, while the partition stands still for it."""
        return self._gap_stop.gap

    @property
    def failure(self) -> BaseException | None:
        """What broke the committer, if anything did."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            return self._task.exception()
        return None

    def start(self) -> None:
        """Begins to take over."""
        self._task = asyncio.create_task(self._run(), name=f"{self._context.stage}-{self._partition.partition}")

    async def taken_over(self) -> int | None:
        """Waits until the partition was taken over, stands still for a gap in its log, or is given up.

        Returns:
            The offset of the next record to handle: what lies before it is done.
        """
        await self._is_taken_over.wait()
        return self._next_offset

    def add(self, entry: Entry[Any]) -> None:
        """Takes an entry in whose results are computed."""
        self._computed.append(entry)
        self._drained.clear()
        self._arrived.set()

    async def drain(self) -> None:
        """Returns when no result waits any more, or the committer has ended."""
        if self._task is None or not self._computed:
            return
        drained = asyncio.create_task(self._drained.wait())
        try:
            await asyncio.wait([drained, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            drained.cancel()

    async def stop(self) -> list[Entry[Any]]:
        """Stops at once; on return nothing is written any more.

        Returns:
            The entries whose results are not known to be committed.
        """
        self._is_taken_over.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._gap_stop.stop()
        return list(self._computed)

    async def _run(self) -> None:
        try:
            while True:
                try:
                    self._require_ownership()
                    self._next_offset = await self._writer.take_over()
                    self._is_recovered = True
                    self._drop_done()
                    await self._gap_stop.go_on(self._next_offset)
                    self._is_taken_over.set()
                    await self._commit_results()
                except LogGapError as error:
                    self._is_recovered = False
                    self._is_taken_over.set()
                    await self._gap_stop.wait(error.gap)
                except TransientError as failure:
                    self._is_recovered = False
                    self._attempt += 1
                    await self._context.back_off(failure, self._attempt)
        finally:
            await self._writer.stop()

    def _is_idle(self) -> bool:
        return (self._scheduler.free_span(self._partition) or 0) >= 1

    def _require_ownership(self) -> None:
        """Whoever takes over without being the owner would fence the owner."""
        if not self._context.may_write(self._generation):
            raise TransientError("the partition is being taken away", dependency="assignment")

    async def _commit_results(self) -> None:
        while True:
            if self._computed:
                await self._commit_next()
                continue
            self._drained.set()
            self._arrived.clear()
            try:
                async with asyncio.timeout(_IDLE_S):
                    await self._arrived.wait()
            except TimeoutError:
                await self._gap_stop.check(self._next_offset)
                await self._commit_position()

    async def _commit_next(self, limit: int | None = None) -> None:
        """Commits the results that wait, as many as fit into one transaction; one that Kafka refuses goes to the dead letters alone."""
        entries = self._next_entries(limit)
        try:
            outputs = [output for entry in entries for output in entry.result]
            await self._commit(outputs, self._scheduler.next_offset(self._partition, entries))
        except RecordError as error:
            if len(entries) == 1:
                entries[0].result = await self._reject(entries[0], error)
            else:
                for _ in entries:
                    await self._commit_next(limit=1)
            return
        for entry in entries:
            self._computed.popleft()
            self._end(entry)

    def _end(self, entry: Entry[Any]) -> None:
        self._context.count_dead_letters(entry.result)
        self._on_committed(entry)

    def _next_entries(self, limit: int | None) -> list[Entry[Any]]:
        entries: list[Entry[Any]] = []
        size = 0
        for entry in self._computed:
            size += sum(output.size for output in entry.result)
            if entries and (len(entries) == (limit or self._context.max_batch) or size > self._context.max_batch_bytes):
                break
            entries.append(entry)
        return entries

    async def _commit(self, outputs: list[OutgoingRecord], next_offset: int | None) -> None:
        self._require_ownership()
        await self._writer.commit(outputs, [], next_offset=next_offset)
        self._attempt = 0
        if next_offset is not None:
            self._next_offset = next_offset

    async def _commit_position(self) -> None:
        """Moves the group behind the markers at the log's end, which no fetch returns: its lag is 0 when nothing is left to handle."""
        position = self._context.fetch_position(self._partition.partition, self._next_offset)
        if position is not None and self._context.may_write(self._generation):
            await self._commit([], position)

    def _drop_done(self) -> None:
        """A commit whose answer was lost has moved the group's offset if it was one: its results are not to be written again."""
        done = [entry for entry in self._computed if self._next_offset is not None and entry.offset < self._next_offset]
        for entry in done:
            self._computed.remove(entry)
            self._end(entry)
