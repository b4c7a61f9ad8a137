"""Task of one partition for one assignment: one life cycle and one commit for tasks that handle records in order and by key."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from runtime.kafka import OffsetAndTimestamp, OutgoingRecord
from streams.engine.context import TaskContext
from streams.engine.failures.data_loss import DataLoss, DataLossError
from streams.engine.failures.data_loss_hold import DataLossHold
from streams.engine.state.partition_state import StateChange
from streams.engine.tasks.checkpointer import Writer
from streams.engine.tasks.oldest_pending import OldestPending
from streams.engine.tasks.task_state import TaskState
from streams.errors import FencedError, StreamError, TransientError

IDLE_S: Final = 1.0
"""Time without records after which the task looks for lost records, and moves the group's offset over the log's last markers. Records that
arrive more often than that move it anyway, without a separate transaction."""


def end_error(task: "asyncio.Task[None]") -> BaseException | None:
    """The error with which a task ended that nobody stopped. A client that closes can cancel what the task waits for."""
    return StreamError("a call that it waited for was cancelled") if task.cancelled() else task.exception()


class PartitionTask(ABC):
    """Owns a partition from its assignment to the assignment's end. :class:`TaskState` is its only state.

    The task restores the partition, then repeats: handle and commit what has arrived (:meth:`_handle_next`), or wait. After a transient
    failure it restores the partition again, because only the log shows which commits succeeded. :meth:`finish` ends it when what it has
    begun is committed; :meth:`stop` ends it at once.

    Every change is made by :meth:`_commit`, in this order:

    1. Check that the worker still owns the partition.
    2. If words of an erased user are removed, mark the local table for compaction.
    3. Commit one Kafka transaction (:meth:`Checkpointer.commit`): the outputs with the dead letters, the changelog rows, and the source's
       next offset with its metadata. From here on the step counts: consumers read the outputs, and the records are not repeated.
    4. Keep the next offset, and clear the suspects below it (:class:`CrashJournal`).
    5. Write the rows to the local table, with their changelog offset.
    6. Mark the table again, and start the compaction.
    7. Count the dead letters.

    A crash before the end of step 3 repeats everything. After it, restoring completes the rest: the changelog has the rows, and the table
    has the mark of step 2.

    Args:
        partition: Its number.
        generation: The consumer group's generation.
        writer: Commits the partition's steps.
        context: Parts that the worker's tasks share.
    """

    def __init__(self, *, partition: int, generation: int, writer: Writer, context: TaskContext) -> None:
        self._partition = partition
        self._generation = generation
        self._writer = writer
        self._context = context
        self._hold = DataLossHold(partition=partition, writer=writer, context=context, is_idle=self._is_idle)
        self._state = TaskState.CREATED
        self._next_offset: int | None = None
        self._attempt = 0
        self._work_arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_recovered(self) -> bool:
        """Whether the task has restored the partition's state."""
        return self._state in (TaskState.RUNNING, TaskState.DRAINING)

    @property
    def next_offset(self) -> int | None:
        """The committed next offset; None before the first commit."""
        return self._next_offset

    @property
    def data_loss(self) -> DataLoss | None:
        """The lost records while the partition is stopped because of them."""
        return self._hold.loss

    @property
    def oldest_pending(self) -> OldestPending | None:
        """The oldest record that was delivered and is not acknowledged; None if there is none."""
        oldest = self._oldest()
        return oldest if oldest is None or self.is_recovered else replace(oldest, state="restoring")

    @property
    def failure(self) -> BaseException | None:
        """The task's fatal error, if any."""
        if self._task is None or not self._task.done() or self._state is TaskState.CLOSED:
            return None
        return end_error(self._task)

    def start(self) -> None:
        """Starts the task, which restores the partition first."""
        self._task = asyncio.create_task(self._run(), name=f"{self._context.stage}-{self._partition}")

    async def finish(self) -> None:
        """Commits what has begun, and begins nothing more; uncommitted records will be delivered again."""
        self._advance(TaskState.DRAINING)
        self._work_arrived.set()
        if self._task is not None and self.data_loss is None:
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Stops at once. After it returns, nothing is written; uncommitted records will be delivered again."""
        self._change_state(TaskState.CLOSED)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._hold.stop()
        self._context.flow_control.release(self._partition)

    @abstractmethod
    async def _restore(self) -> None:
        """Restores in-memory data from the restored table.

        Raises:
            TransientError: The partition must be restored again.
        """

    async def _on_running(self) -> None:  # noqa: B027 - most tasks have nothing to do
        """Runs once after each restore, before the first record."""

    @abstractmethod
    async def _handle_next(self) -> bool:
        """Handles and commits some of the work that has arrived.

        Returns:
            Whether there was any.

        Raises:
            TransientError: The partition must be restored again.
        """

    @abstractmethod
    def _on_data_loss(self) -> None:
        """Drops fetched records after a data loss: they are fetched again once the loss is accepted."""

    @property
    def _has_work_in_progress(self) -> bool:
        """Whether work has begun that :meth:`finish` waits for."""
        return False

    @abstractmethod
    def _is_idle(self) -> bool:
        """Whether everything fetched is committed."""

    @abstractmethod
    def _oldest(self) -> OldestPending | None:
        """See :attr:`oldest_pending`, for a restored partition."""

    @abstractmethod
    def _stamp_of(self, offset: int) -> OffsetAndTimestamp | None:
        """Write time of a delivered, uncommitted record."""

    @property
    def _stage_metadata(self) -> str:
        """Default metadata of the group's offset."""
        return ""

    @property
    def _is_finished(self) -> bool:
        return self._state.is_ending and not (self._state is TaskState.DRAINING and self._has_work_in_progress)

    async def _run(self) -> None:
        try:
            while not self._is_finished:
                self._advance(TaskState.RESTORING)
                try:
                    self._require_ownership()
                    self._next_offset = await self._writer.initialize()
                    self._clear_suspects()
                    await self._restore()
                    self._advance(TaskState.RUNNING)
                    await self._hold.resume(self._next_offset)
                    await self._on_running()
                    while not self._is_finished:
                        if not await self._handle_next() and not await self._wait_for_work():
                            await self._hold.check(self._next_offset)
                            await self._commit_position()
                except DataLossError as error:
                    self._advance(TaskState.RESTORING)
                    self._on_data_loss()
                    await self._hold.wait(error.loss)
                except TransientError as failure:
                    self._advance(TaskState.RESTORING)
                    self._attempt += 1
                    await self._context.dependencies.back_off(failure, self._attempt)
        except FencedError:
            self._change_state(TaskState.FENCED)
            raise
        finally:
            await self._writer.stop()

    async def _wait_for_work(self) -> bool:
        """Waits for a moment; returns whether anything has arrived."""
        self._work_arrived.clear()
        try:
            async with asyncio.timeout(IDLE_S):
                await self._work_arrived.wait()
        except TimeoutError:
            return False
        return True

    def _change_state(self, new: TaskState) -> None:
        """Changes the state. No other code assigns it."""
        self._state = self._state.change_to(new)

    def _advance(self, new: TaskState) -> None:
        """Changes the state, unless the task is ending."""
        if not self._state.is_ending:
            self._change_state(new)

    def _may_write(self) -> bool:
        return self._state not in (TaskState.CLOSED, TaskState.FENCED) and self._context.may_write(self._generation)

    def _require_ownership(self) -> None:
        """Refuses to restore a partition that is not owned, because that would fence the owner."""
        if not self._may_write():
            raise TransientError("the partition is being revoked", dependency="assignment")

    async def _commit(
        self,
        outputs: Sequence[OutgoingRecord],
        rows: Sequence[StateChange],
        next_offset: int | None,
        *,
        stage_metadata: str | None = None,
        apply: Callable[[int], None] = lambda changelog_offset: None,
        is_erasing: bool = False,
    ) -> None:
        """Commits one step, in the order that the class lists.

        Args:
            outputs: Records to produce, dead letters included.
            rows: The rows that change.
            next_offset: The offset of the next record to handle. None: it does not change.
            stage_metadata: The stage's metadata of that offset. Default: the current metadata.
            apply: Writes the rows to the local table, given their changelog offset.
            is_erasing: Whether the step removes words of an erased user from the table.

        Raises:
            TransientError: The outcome is unknown: the partition must be restored.
            FencedError: Another worker has taken the partition over.
            RecordTooLargeError: An output is larger than the broker accepts; nothing was committed.
        """
        self._require_ownership()
        compaction = self._writer.compaction if is_erasing else None
        if compaction is not None:
            compaction.announce()
        last = None if next_offset is None else self._stamp_of(next_offset - 1)
        stage_metadata = self._stage_metadata if stage_metadata is None else stage_metadata
        changelog_offset = await self._writer.commit(outputs, rows, next_offset=next_offset, last=last, stage_metadata=stage_metadata)
        self._attempt = 0
        if next_offset is not None:
            self._next_offset = next_offset
            self._clear_suspects()
        apply(changelog_offset)
        if compaction is not None:
            compaction.request()
        self._context.dead_letters.count(outputs)

    def _clear_suspects(self) -> None:
        if self._next_offset is not None:
            self._context.journal.on_committed(self._partition, self._next_offset)

    async def _commit_position(self) -> None:
        """Moves the group's offset over the markers at the log's end, which no fetch returns, so that the lag is 0 when nothing is left."""
        position = self._context.flow_control.fetch_position(self._partition, self._next_offset)
        if position is not None and self._may_write():
            await self._commit([], [], position)
