"""Handles the batches of one partition between two restores: each batch is one transaction, then a write to the local table."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from memory.errors import RecordTooLargeError
from runtime.kafka import OutgoingRecord
from runtime.logs import logger
from streams.engine.context import TaskContext
from streams.engine.record_spans import RecordSpans
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import PartitionState, StateChange
from streams.engine.tasks.batch import Batch, BatchHandler, Rejection
from streams.errors import FencedError, LocalTableError, PoisonRecordError, TransientError

_log = logger(__name__)


class Commit(Protocol):
    """See :meth:`streams.engine.tasks.partition_task.PartitionTask._commit`."""

    async def __call__(
        self,
        outputs: Sequence[OutgoingRecord],
        rows: Sequence[StateChange],
        next_offset: int | None,
        *,
        apply: Callable[[int], None] = ...,
        is_erasing: bool = False,
    ) -> None:
        """Commits one step."""
        ...


class BatchRunner:
    """Handles batches with one handler and one state; each restore creates a new runner, since the data must come from the log.

    Args:
        partition: The partition's number.
        handler: The stage's handler.
        state: The partition's restored state.
        context: Parts that the worker's tasks share.
        commit: Commits a step.
        may_write: Whether the partition is still owned.
    """

    def __init__(
        self,
        *,
        partition: int,
        handler: BatchHandler,
        state: PartitionState[Any],
        context: TaskContext,
        commit: Commit,
        may_write: Callable[[], bool],
    ) -> None:
        self._partition = partition
        self._handler = handler
        self._state = state
        self._context = context
        self._commit_step = commit
        self._may_write = may_write
        self._attempts = 0

    @property
    def attempts(self) -> int:
        """Number of attempts at the current batch; 0 while there is none."""
        return self._attempts

    async def run(self, records: list[ConsumedRecord]) -> None:
        """Handles and commits a batch. If it fails, handles it record by record, so that only the failing record is dead-lettered.

        Args:
            records: Records of the partition, in order; at least one.

        Raises:
            TransientError: The commit failed, or its outcome is unknown.
            FencedError: Another worker has taken the partition over.
            LocalTableError: The local table cannot be read or written.
        """
        started_at = time.monotonic()
        first_attempt_at = datetime.now(UTC)
        next_offset = records[-1].offset + 1
        spans = RecordSpans.start(self._context.stage, records)
        try:
            outputs, is_erasing = await self._handled(records, first_attempt_at, spans)
            await self._commit(outputs, next_offset, is_erasing=is_erasing)
        except (TransientError, FencedError, LocalTableError):
            raise
        except Exception as error:
            for record in records:
                spans.fail(record, type(error).__name__)
            spans.end()
            self._state.discard()
            if len(records) > 1:
                for record in records:
                    await self.run([record])
                return
            await self._commit_dead_letter(Rejection.of(records[0], error), first_attempt_at)
            if not isinstance(error, PoisonRecordError):
                _log.exception("record_failed_unexpectedly", stage=self._context.stage, trace_id=records[0].trace_id, error=str(error))
        finally:
            spans.end()
        metrics = self._context.metrics
        metrics.count_done(len(records))
        metrics.measure_batch(time.monotonic() - started_at)
        self._attempts = 0
        metrics.measure_age(records[-1])
        self._context.limits.interval.record_cost(time.monotonic() - started_at)

    async def send_due(self) -> None:
        """Commits the commands whose time has come, and shows the delay of event time.

        Raises:
            TransientError: As :meth:`run`.
            FencedError: As :meth:`run`.
        """
        now = self._context.clock.now()
        watermark = self._handler.watermark(now)
        if watermark is not None:
            delay_s = (datetime.now(UTC) - watermark).total_seconds()
            self._context.metrics.show_watermark_delay(self._partition, delay_s)
        commands = self._handler.due(now)
        if commands:
            await self._commit_step(commands, [], None)

    async def _handled(
        self, records: list[ConsumedRecord], first_attempt_at: datetime, spans: RecordSpans
    ) -> tuple[list[OutgoingRecord], bool]:
        """Runs the handler, and retries while a dependency is unavailable. Returns the outputs, and whether they execute an erasure."""
        journal, first, last = self._context.journal, records[0].offset, records[-1].offset
        journal.reject_poison(self._partition, first)
        attempt = failures = 0
        while True:
            attempt += 1
            self._attempts = attempt
            started_at = time.monotonic()
            try:
                batch = Batch(self._partition, records, self._state, self._context.clock.now(), may_write=self._may_write, spans=spans)
                async with journal.held(self._partition, first, last):
                    await self._handler.handle(batch)
            except TransientError as failure:
                self._state.discard()
                failures += failure.counts_as_attempt
                # A record that waits for a budget retries as soon as possible: a permission may be short-lived.
                await self._context.dependencies.back_off(failure, failures if failure.counts_as_attempt else 1)
            else:
                self._context.dependencies.record_success(started_at=started_at)
                outputs = batch.outputs
                for rejection in batch.rejections:
                    spans.fail(rejection.record, rejection.reason)
                    outputs += await self._context.dead_letters.create(rejection, attempts=attempt, first_attempt_at=first_attempt_at)
                return outputs, batch.is_erasing

    async def _commit(self, outputs: list[OutgoingRecord], next_offset: int, *, is_erasing: bool = False) -> None:
        rows = self._state.changes()
        await self._commit_step(outputs, rows, next_offset, apply=partial(self._state.commit, rows), is_erasing=is_erasing)

    async def _commit_dead_letter(self, rejection: Rejection, first_attempt_at: datetime) -> None:
        """Dead-letters a record. If the broker refuses the letter: the smallest letter, and finally without the handler's note."""
        for is_smallest, is_noted in ((False, True), (True, True), (True, False)):
            self._state.discard()
            if is_noted:
                self._note_dead_lettered(rejection.record)
            letter = await self._context.dead_letters.create(
                rejection, attempts=1, first_attempt_at=first_attempt_at, is_smallest=is_smallest
            )
            try:
                await self._commit(letter, rejection.record.offset + 1)
            except RecordTooLargeError as error:
                self._context.dead_letters.log_refused(rejection.record, error)
            else:
                return
        self._state.discard()
        raise TransientError(f"the dead letter of {rejection.record.position} is refused", dependency="kafka")

    def _note_dead_lettered(self, record: ConsumedRecord) -> None:
        """Lets the handler record the dead letter in the state, in the same transaction."""
        try:
            self._handler.on_dead_lettered(self._state, record)
        except Exception as error:
            self._state.discard()
            _log.exception("dead_letter_not_recorded", stage=self._context.stage, trace_id=record.trace_id, error=str(error))
