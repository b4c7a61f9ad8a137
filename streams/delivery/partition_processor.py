"""One partition handled in order: take it over, read a batch, handle it, and commit all that comes of it at once.

Outputs, dead letters, changelog rows and the source offset of a batch are one transaction (docs/architecture.md, invariant 1). A record
that comes alone is handled at once; behind it, the next batch gathers for a moment, so that batches grow with the load and share the cost
of a commit. Where the outcome of a commit is not known the partition is taken over again: the log then says how far it has come.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from memory.errors import RecordTooLargeError
from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from streams.delivery.batch import Batch, BatchHandler, Rejection
from streams.delivery.context import StageContext
from streams.delivery.gap_stop import GapStop
from streams.delivery.log_gap import LogGap, LogGapError
from streams.delivery.partition_writer import Writer
from streams.delivery.records import ConsumedRecord
from streams.delivery.state import Codec, PartitionState
from streams.errors import FencedError, LocalTableError, TransientError

_log = logger(__name__)
_TICK_S: Final = 1.0
_IDLE_S: Final = 0.25
"""A partition without records for so long tells the group that it has come behind the log's trailing markers."""
_BEHIND_S: Final = 2.0
"""A partition processor is behind when its newest record was produced longer ago than this."""


class Delivery(Protocol):
    """A record as the worker's consumer delivered it."""

    @property
    def record(self) -> ConsumedRecord:
        """The record."""
        ...


class PartitionProcessor:
    """The work on one partition for one assignment.

    Args:
        partition: Its number.
        generation: The assignment, as the consumer group counts them.
        new_handler: Makes the stage's handler: anew for each take-over, since what it remembers comes from the state.
        codec: How the stage's state becomes bytes.
        cache_bytes: What the state objects may weigh in memory.
        writer: Commits what comes of the partition.
        context: What the worker's processors share.
    """

    def __init__(
        self,
        *,
        partition: int,
        generation: int,
        new_handler: Callable[[], BatchHandler],
        codec: Codec[Any],
        cache_bytes: int,
        writer: Writer,
        context: StageContext,
    ) -> None:
        self._partition = partition
        self._generation = generation
        self._new_handler = new_handler
        self._codec = codec
        self._cache_bytes = cache_bytes
        self._writer = writer
        self._context = context
        self._queue: deque[ConsumedRecord] = deque()
        self._queued_bytes = 0
        self._gap_stop = GapStop(partition=partition, writer=writer, context=context, is_idle=lambda: not self._queue)
        self._arrived = asyncio.Event()
        self._freed = asyncio.Event()
        self._is_closed = False
        self._is_draining = False
        self._is_recovered = False
        self._next_offset: int | None = None
        self._attempt = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def backlog(self) -> int:
        """Records taken in and not yet done."""
        return len(self._queue)

    @property
    def is_recovered(self) -> bool:
        """Whether the partition is taken over, and its state recovered."""
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
        """What broke the processor, if anything did."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            return self._task.exception()
        return None

    def start(self) -> None:
        """Begins."""
        self._task = asyncio.create_task(self._run(), name=f"{self._context.stage}-{self._partition}")

    async def put(self, delivery: Delivery, *, limit: int, limit_bytes: int) -> None:
        """Takes a record in; waits until there is room for it.

        Args:
            delivery: The record.
            limit: How many records may be queued.
            limit_bytes: How many bytes they may have; a larger record is queued alone.
        """
        size = _size(delivery.record)
        while self._is_taking_in and (len(self._queue) >= limit or (self._queue and self._queued_bytes + size > limit_bytes)):
            self._freed.clear()
            await self._freed.wait()
        if self._is_taking_in:
            self._queue.append(delivery.record)
            self._queued_bytes += size
            self._arrived.set()

    async def finish(self) -> None:
        """Finishes the batch that it is at, and begins no other: what is queued will be delivered again."""
        self._is_draining = True
        self._arrived.set()
        if self._task is not None and self.log_gap is None:
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Stops at once; on return nothing is written any more. What is not committed will be delivered again."""
        self._is_closed = True
        self._freed.set()
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._gap_stop.stop()

    @property
    def _is_taking_in(self) -> bool:
        return not self._is_closed and self.log_gap is None

    def _may_write(self) -> bool:
        return not self._is_closed and self._context.may_write(self._generation)

    def _require_ownership(self) -> None:
        """Whoever takes over without being the owner would fence the owner."""
        if not self._may_write():
            raise TransientError("the partition is being taken away", dependency="assignment")

    async def _run(self) -> None:
        try:
            while not self._is_closed and not self._is_draining:
                try:
                    handler, state = await self._take_over()
                    await self._gap_stop.go_on(self._next_offset)
                    await self._process(handler, state)
                except LogGapError as error:
                    self._is_recovered = False
                    self._queue.clear()
                    self._queued_bytes = 0
                    self._freed.set()
                    await self._gap_stop.wait(error.gap)
                except TransientError as failure:
                    self._is_recovered = False
                    self._attempt += 1
                    await self._context.back_off(failure, self._attempt)
        finally:
            await self._writer.stop()

    async def _take_over(self) -> tuple[BatchHandler, PartitionState[Any]]:
        """Fences the writer before us, and begins where the log says that the group has come to."""
        self._require_ownership()
        self._next_offset = await self._writer.take_over()
        state = PartitionState(self._writer.rows, self._codec, cache_bytes=self._cache_bytes)
        handler = self._new_handler()
        await handler.recover(state, datetime.now(UTC))
        self._is_recovered = True
        return handler, state

    async def _process(self, handler: BatchHandler, state: PartitionState[Any]) -> None:
        next_tick = time.monotonic() + _TICK_S
        last_batch_at = 0.0
        while not self._is_closed and not self._is_draining:
            self._drop_done()
            if not self._queue and not await self._wait_for_records(next_tick):
                await self._gap_stop.check(self._next_offset)
                await self._commit_position(state)
            if self._queue:
                await self._context.batch_interval.wait(last_batch_at, is_behind=self._is_behind())
                last_batch_at = time.monotonic()
                records = self._next_records()
                if records:
                    await self._handle(handler, state, records)
                    self._drop_done()
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + _TICK_S
                await self._send_due(handler)

    async def _wait_for_records(self, next_tick: float) -> bool:
        self._arrived.clear()
        try:
            async with asyncio.timeout(max(0.0, min(_IDLE_S, next_tick - time.monotonic()))):
                await self._arrived.wait()
        except TimeoutError:
            return False
        return True

    def _drop_done(self) -> None:
        """Takes out what is committed: a record may have been delivered before another worker's commit of it was known, or twice."""
        while self._queue and self._is_done(self._queue[0]):
            self._queued_bytes -= _size(self._queue.popleft())
            self._freed.set()

    def _is_done(self, record: ConsumedRecord) -> bool:
        return self._next_offset is not None and record.offset < self._next_offset

    def _next_records(self) -> list[ConsumedRecord]:
        """The next records, as many as may be committed together; at least one. They stay queued until they are committed."""
        records: list[ConsumedRecord] = []
        size = 0
        for record in self._queue:
            size += len(record.value or b"")
            if records and (len(records) == self._context.max_batch or size > self._context.max_batch_bytes):
                break
            if not self._is_done(record) and (not records or record.offset > records[-1].offset):
                records.append(record)
        return records

    def _is_behind(self) -> bool:
        return len(self._queue) < self._context.max_batch and time.time() - self._queue[-1].timestamp > _BEHIND_S

    async def _handle(self, handler: BatchHandler, state: PartitionState[Any], records: list[ConsumedRecord]) -> None:
        started_at = time.monotonic()
        first_attempt_at = datetime.now(UTC)
        next_offset = records[-1].offset + 1
        try:
            outputs = await self._handled(handler, state, records, first_attempt_at)
            await self._commit(state, outputs, next_offset)
        except (TransientError, FencedError, LocalTableError):
            raise
        except Exception as error:
            state.discard()
            if len(records) > 1:
                for record in records:
                    await self._handle(handler, state, [record])
                return
            await self._commit_dead_letter(handler, state, Rejection.of(records[0], error), first_attempt_at)
            _log.exception("record_broke_stage", stage=self._context.stage, trace_id=records[0].trace_id, error=str(error))
        metrics = self._context.metrics
        metrics.records.labels(self._context.stage, "done").inc(len(records))
        metrics.handling_seconds.labels(self._context.stage).observe(time.monotonic() - started_at)
        self._context.measure_age(records[-1])
        self._context.batch_interval.record_cost(time.monotonic() - started_at)

    async def _handled(
        self, handler: BatchHandler, state: PartitionState[Any], records: list[ConsumedRecord], first_attempt_at: datetime
    ) -> list[OutgoingRecord]:
        """What comes of records, once what the handler depends on is there."""
        attempt = 0
        while True:
            attempt += 1
            started_at = time.monotonic()
            try:
                batch = Batch(self._partition, records, state, may_write=self._may_write)
                await handler.handle(batch)
            except TransientError as failure:
                state.discard()
                await self._context.back_off(failure, attempt)
            else:
                self._context.record_success(started_at=started_at)
                outputs = batch.outputs
                for rejection in batch.rejections:
                    outputs += await self._context.dead_letter(rejection, attempts=attempt, first_attempt_at=first_attempt_at)
                return outputs

    async def _commit_dead_letter(
        self, handler: BatchHandler, state: PartitionState[Any], rejection: Rejection, first_attempt_at: datetime
    ) -> None:
        """Puts a record aside alone. A letter that the broker refuses is made as small as can be, and the last time without its note."""
        for is_smallest, is_noted in ((False, True), (True, True), (True, False)):
            state.discard()
            if is_noted:
                self._note_dead_lettered(handler, state, rejection.record)
            letter = await self._context.dead_letter(rejection, attempts=1, first_attempt_at=first_attempt_at, is_smallest=is_smallest)
            try:
                await self._commit(state, letter, rejection.record.offset + 1)
            except RecordTooLargeError as error:
                self._context.log_refused_letter(rejection.record, error)
            else:
                return
        state.discard()
        raise TransientError(f"the dead letter of {rejection.record.position} is refused", dependency="kafka")

    def _note_dead_lettered(self, handler: BatchHandler, state: PartitionState[Any], record: ConsumedRecord) -> None:
        """Lets the handler note in the state that the record was passed over; the note is committed with the letter."""
        try:
            handler.on_dead_lettered(state, record)
        except Exception as error:
            state.discard()
            _log.exception("dead_letter_not_noted", stage=self._context.stage, trace_id=record.trace_id, error=str(error))

    async def _commit(self, state: PartitionState[Any], outputs: list[OutgoingRecord], next_offset: int | None) -> None:
        """Commits one step: outputs, rows and offset in one transaction, then the local table."""
        self._require_ownership()
        rows = state.changes()
        changelog_offset = await self._writer.commit(outputs, rows, next_offset=next_offset)
        self._context.count_dead_letters(outputs)
        state.commit(rows, changelog_offset)
        self._attempt = 0
        if next_offset is not None:
            self._next_offset = next_offset

    async def _commit_position(self, state: PartitionState[Any]) -> None:
        """Moves the group behind the markers at the log's end, which no fetch returns: its lag is 0 when nothing is left to handle."""
        position = self._context.fetch_position(self._partition, self._next_offset)
        if position is not None and self._may_write():
            await self._commit(state, [], position)

    async def _send_due(self, handler: BatchHandler) -> None:
        commands = handler.due(datetime.now(UTC))
        if commands and self._may_write():
            await self._writer.commit(commands, [], next_offset=None)


def _size(record: ConsumedRecord) -> int:
    """The bytes that a queued record holds."""
    return len(record.key or b"") + len(record.value or b"") + sum(len(value or b"") for _, value in record.headers)
