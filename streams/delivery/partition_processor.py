"""One partition handled in order: read a batch, handle it, and make it durable in the order that loses nothing.

Outputs first, then state, then the offset; each awaited before the next (docs/architecture.md, invariant 1). A record that comes alone is
handled at once; behind it, the next batch gathers for a moment, so that batches grow with the load and share the cost of a commit.
"""

import asyncio
import time
from collections import deque
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from streams.delivery.batch import Batch, BatchHandler, Rejection
from streams.delivery.context import StageContext
from streams.delivery.records import ConsumedRecord
from streams.delivery.state import PartitionState, Row
from streams.errors import LocalTableError, StreamError, TransientError

_log = logger(__name__)
_TICK_S: Final = 1.0
_BEHIND_S: Final = 2.0
"""A partition processor is behind when its newest record was produced longer ago than this."""


class Ackable(Protocol):
    """A record that can be acknowledged to Kafka."""

    @property
    def record(self) -> ConsumedRecord:
        """The record."""
        ...

    def ack(self) -> None:
        """Allows its offset to be committed."""
        ...


class PartitionProcessor:
    """Handles one partition for one assignment.

    Args:
        partition: Its number.
        generation: The assignment: what it delivered may be written only while it is the group's.
        handler: The stage's handler of this partition.
        state: The partition's state.
        context: What drivers share.
    """

    def __init__(
        self,
        *,
        partition: int,
        generation: int,
        handler: BatchHandler,
        state: PartitionState[Any],
        context: StageContext,
    ) -> None:
        self._partition = partition
        self._generation = generation
        self._handler = handler
        self._state = state
        self._context = context
        self._queue: deque[Ackable] = deque()
        self._arrived = asyncio.Event()
        self._has_room = asyncio.Event()
        self._in_progress = 0
        self._is_closed = False
        self._is_finishing = False
        self._task: asyncio.Task[None] | None = None

    @property
    def backlog(self) -> int:
        """Records taken in and not yet done."""
        return len(self._queue) + self._in_progress

    @property
    def failure(self) -> BaseException | None:
        """What broke the processor, if anything did."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            return self._task.exception()
        return None

    def start(self) -> None:
        """Begins."""
        self._task = asyncio.create_task(self._run(), name=f"{self._context.stage}-{self._partition}")

    async def put(self, record: Ackable, *, limit: int) -> None:
        """Takes a record in; waits while ``limit`` are queued."""
        while len(self._queue) >= limit and not self._is_closed:
            self._has_room.clear()
            await self._has_room.wait()
        if not self._is_closed:
            self._queue.append(record)
            self._arrived.set()

    async def finish(self) -> None:
        """Finishes the batch that it is at, and begins no other: what is queued will be delivered again."""
        self._is_finishing = True
        self._arrived.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Stops at once: what is not done yet will be delivered again."""
        self._is_closed = True
        self._has_room.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _may_write(self) -> bool:
        return not self._is_closed and self._context.may_write(self._generation)

    async def _run(self) -> None:
        await self._handler.recover(self._state, datetime.now(UTC))
        next_tick = time.monotonic() + _TICK_S
        last_batch = 0.0
        while not self._is_closed and not self._is_finishing:
            if not self._queue:
                self._arrived.clear()
                try:
                    async with asyncio.timeout(max(0.0, next_tick - time.monotonic())):
                        await self._arrived.wait()
                except TimeoutError:
                    pass
            if self._queue:
                await self._context.batch_interval.wait(last_batch, is_behind=self._is_behind())
                last_batch = time.monotonic()
            batch = self._next_batch()
            if batch:
                self._in_progress = len(batch)
                try:
                    await self._process(batch)
                finally:
                    self._in_progress = 0
                self._has_room.set()
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + _TICK_S
                await self._send_due_commands()

    def _next_batch(self) -> list[Ackable]:
        """The next records, as many as may be made durable together; at least one."""
        batch: list[Ackable] = []
        size = 0
        while self._queue and len(batch) < self._context.max_batch:
            size += len(self._queue[0].record.value or b"")
            if batch and size > self._context.max_batch_bytes:
                break
            batch.append(self._queue.popleft())
        return batch

    def _is_behind(self) -> bool:
        return len(self._queue) < self._context.max_batch and time.time() - self._queue[-1].record.timestamp > _BEHIND_S

    async def _process(self, batch: list[Ackable]) -> None:
        started_at = time.monotonic()
        first_attempt_at = datetime.now(UTC)
        records = [each.record for each in batch]
        try:
            await self._handle_until_committed(records, first_attempt_at)
        except LocalTableError:
            raise
        except Exception as error:
            if len(batch) == 1:
                self._notify_dead_lettered(records[0])
                await self._commit_dead_letter(Rejection.of(records[0], error), first_attempt_at)
                _log.exception("record_broke_stage", stage=self._context.stage, trace_id=records[0].trace_id, error=str(error))
            else:
                for each in batch:
                    await self._process([each])
                return
        for each in batch:
            each.ack()
        metrics = self._context.metrics
        metrics.records.labels(self._context.stage, "done").inc(len(batch))
        metrics.handling_seconds.labels(self._context.stage).observe(time.monotonic() - started_at)
        self._context.measure_age(records[-1])
        self._context.batch_interval.record_cost(time.monotonic() - started_at)

    async def _handle_until_committed(self, records: list[ConsumedRecord], first_attempt_at: datetime) -> None:
        attempt = 0
        while True:
            attempt += 1
            started_at = time.monotonic()
            try:
                batch = Batch(self._partition, records, self._state, may_write=self._may_write)
                await self._handler.handle(batch)
                letters = [self._dead_letter(rejection, attempt, first_attempt_at) for rejection in batch.rejections]
                await self._commit([*batch.outputs, *letters])
            except TransientError as failure:
                self._state.discard()
                await self._context.back_off(failure, attempt)
            except BaseException:
                self._state.discard()
                raise
            else:
                self._context.record_success(started_at=started_at)
                return

    def _notify_dead_lettered(self, record: ConsumedRecord) -> None:
        """Lets the handler note in the state that the record was not applied; the note is committed with the dead letter."""
        try:
            self._handler.on_dead_lettered(self._state, record)
        except Exception as error:
            self._state.discard()
            _log.exception("dead_letter_not_noted", stage=self._context.stage, trace_id=record.trace_id, error=str(error))

    async def _commit_dead_letter(self, rejection: Rejection, first_attempt_at: datetime) -> None:
        attempt = 0
        while True:
            attempt += 1
            try:
                await self._commit([self._dead_letter(rejection, attempt, first_attempt_at)])
            except TransientError as failure:
                await self._context.back_off(failure, attempt)
            else:
                return

    def _dead_letter(self, rejection: Rejection, attempts: int, first_attempt_at: datetime) -> OutgoingRecord:
        return self._context.dead_letter(rejection, attempts=attempts, first_attempt_at=first_attempt_at)

    async def _commit(self, outputs: list[OutgoingRecord]) -> None:
        rows = self._state.changes()
        if outputs:
            await self._context.producer.send(outputs, may_write=self._may_write)
        changelog_offset = await self._write_changelog(rows) if rows else -1
        if not self._may_write():
            raise TransientError("the partition is being taken away", dependency="assignment")
        self._state.commit(rows, changelog_offset)

    async def _write_changelog(self, rows: list[Row]) -> int:
        topic = self._context.changelog_topic
        if topic is None:
            raise StreamError(f"the {self._context.stage} stage has no table, but its handler changed state")
        records = [OutgoingRecord(topic, row.key, row.value, partition=self._partition) for row in rows]
        return max(await self._context.producer.send(records, may_write=self._may_write))

    async def _send_due_commands(self) -> None:
        commands = self._handler.due(datetime.now(UTC))
        if commands:
            try:
                await self._context.producer.send(commands, may_write=self._may_write)
            except TransientError as failure:
                _log.warning("due_commands_delayed", stage=self._context.stage, error=str(failure))
