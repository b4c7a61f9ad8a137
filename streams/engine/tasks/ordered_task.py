"""Task that handles one partition in order: reads a batch, handles it, and commits all results at once.

Outputs, dead letters, changelog rows and the source offset of a batch are one transaction (architecture.md, invariant 1). A single
record is handled at once. The next batch then collects records for a moment, unless it is full, so that batches grow with the load and
share the cost of a commit. If the outcome of a commit is unknown, the partition is restored: the log shows how far it has come.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from runtime.kafka import OffsetAndTimestamp
from streams.engine.context import TaskContext
from streams.engine.faust.flow_control import FREE_TO_RESUME, PauseReason
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import Codec, PartitionState
from streams.engine.tasks.batch import BatchHandler
from streams.engine.tasks.batch_runner import BatchRunner
from streams.engine.tasks.checkpointer import Writer
from streams.engine.tasks.oldest_pending import OldestPending
from streams.engine.tasks.partition_task import PartitionTask
from streams.engine.tasks.task_state import TaskState

_TICK_S: Final = 1.0
_BEHIND_S: Final = 2.0
"""Age of the newest record beyond which the task lags."""


class OrderedTask(PartitionTask):
    """Handles one partition for one assignment.

    Args:
        partition: Its number.
        generation: The consumer group's generation.
        new_handler: Creates the stage's handler for each restore, since its data must come from the state.
        codec: Serialization of the stage's state.
        cache_bytes: Size limit of the cached state objects.
        max_queued: Number of queued records at which the partition is paused. Records fetched already are still accepted.
        max_queued_bytes: Bytes of queued records at which it is paused.
        writer: Commits the partition's steps.
        context: Parts that the worker's tasks share.
    """

    def __init__(
        self,
        *,
        partition: int,
        generation: int,
        new_handler: Callable[[], BatchHandler],
        codec: Codec[Any],
        cache_bytes: int,
        max_queued: int,
        max_queued_bytes: int,
        writer: Writer,
        context: TaskContext,
    ) -> None:
        super().__init__(partition=partition, generation=generation, writer=writer, context=context)
        self._new_handler = new_handler
        self._codec = codec
        self._cache_bytes = cache_bytes
        self._max_queued = max_queued
        self._max_queued_bytes = max_queued_bytes
        self._queue: deque[ConsumedRecord] = deque()
        self._queued_bytes = 0
        self._runner: BatchRunner | None = None
        self._batch_is_full = asyncio.Event()
        self._last_batch_at = 0.0
        self._next_tick = 0.0

    @property
    def backlog(self) -> int:
        """Number of records delivered and not yet done."""
        return len(self._queue)

    def put(self, record: ConsumedRecord) -> None:
        """Takes in a record that the worker's consumer delivered. It never waits: the partition is paused when its queue is full."""
        if self._is_taking_in:
            self._queue.append(record)
            self._queued_bytes += record.size
            self._work_arrived.set()
            if self._has_full_batch():
                self._batch_is_full.set()
            if len(self._queue) >= self._max_queued or self._queued_bytes >= self._max_queued_bytes:
                self._context.flow_control.pause(self._partition, PauseReason.FULL)

    async def stop(self) -> None:
        """See :meth:`PartitionTask.stop`."""
        await super().stop()
        self._context.metrics.remove_watermark_delay(self._partition)

    @property
    def _is_taking_in(self) -> bool:
        return self._state is not TaskState.CLOSED and self.data_loss is None

    def _is_idle(self) -> bool:
        return not self._queue

    def _oldest(self) -> OldestPending | None:
        attempts = 0 if self._runner is None else self._runner.attempts
        return OldestPending.of_record(self._queue[0], attempts=attempts) if self._queue else None

    def _stamp_of(self, offset: int) -> OffsetAndTimestamp | None:
        return next((OffsetAndTimestamp(offset, record.appended_ms) for record in self._queue if record.offset == offset), None)

    def _on_data_loss(self) -> None:
        self._queue.clear()
        self._queued_bytes = 0
        self._resume_if_free()

    async def _restore(self) -> None:
        self._runner = await self._new_runner()
        self._last_batch_at = 0.0
        self._next_tick = time.monotonic() + _TICK_S

    async def _handle_next(self) -> bool:
        assert self._runner is not None
        if time.monotonic() >= self._next_tick:
            self._next_tick = time.monotonic() + _TICK_S
            await self._runner.send_due()
        self._drop_done()
        if not self._queue:
            return False
        if not self._has_full_batch():
            self._batch_is_full.clear()
            interval = self._context.limits.interval
            await interval.wait(self._last_batch_at, is_behind=self._is_behind(), is_full=self._batch_is_full)
        self._last_batch_at = time.monotonic()
        records = self._next_records()
        if records:
            await self._runner.run(records)
            self._drop_done()
        return True

    async def _new_runner(self) -> BatchRunner:
        state = PartitionState(self._writer.rows, self._codec, cache_bytes=self._cache_bytes)
        handler = self._new_handler()
        await handler.recover(state, self._context.clock.now())
        return BatchRunner(
            partition=self._partition,
            handler=handler,
            state=state,
            context=self._context,
            commit=self._commit,
            may_write=self._may_write,
        )

    def _drop_done(self) -> None:
        """Drops committed records: a record may be delivered twice, or before another worker's commit was known."""
        while self._queue and self._is_done(self._queue[0]):
            self._queued_bytes -= self._queue.popleft().size
        self._resume_if_free()

    def _resume_if_free(self) -> None:
        taken = 1 - FREE_TO_RESUME
        if len(self._queue) <= taken * self._max_queued and self._queued_bytes <= taken * self._max_queued_bytes:
            self._context.flow_control.resume(self._partition, PauseReason.FULL)

    def _is_done(self, record: ConsumedRecord) -> bool:
        return self._next_offset is not None and record.offset < self._next_offset

    def _next_records(self) -> list[ConsumedRecord]:
        """The next records to commit together; at least one. They stay queued until they are committed."""
        records: list[ConsumedRecord] = []
        size = 0
        for record in self._queue:
            size += len(record.value or b"")
            if records and (len(records) == self._context.limits.max_records or size > self._context.limits.max_bytes):
                break
            if self._is_done(record) or (records and record.offset <= records[-1].offset):
                continue
            is_alone = self._context.journal.must_be_alone(self._partition, record.offset)
            if not (is_alone and records):
                records.append(record)
            if is_alone:
                break
        return records

    def _has_full_batch(self) -> bool:
        """Whether waiting would not make the next batch larger."""
        limits = self._context.limits
        return len(self._queue) >= limits.max_records or self._queued_bytes >= limits.max_bytes

    def _is_behind(self) -> bool:
        return time.time() - self._queue[-1].timestamp > _BEHIND_S
