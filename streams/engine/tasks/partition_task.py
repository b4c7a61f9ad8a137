"""Task of one partition for one assignment: restores it, handles records, and restores again after a commit with an unknown outcome."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from runtime.kafka import OffsetAndTimestamp, OutgoingRecord
from streams.engine.context import TaskContext
from streams.engine.failures.data_loss import DataLoss, LogGapError
from streams.engine.failures.data_loss_hold import DataLossHold
from streams.engine.state.partition_state import StateChange
from streams.engine.tasks.checkpointer import Writer
from streams.engine.tasks.oldest_pending import OldestPending
from streams.engine.tasks.task_state import TaskState
from streams.errors import FencedError, TransientError

IDLE_S: Final = 0.25
"""Time without records after which the group's offset moves over the log's trailing transaction markers."""


class PartitionTask(ABC):
    """Owns a partition from its assignment to the assignment's end; subclasses handle the records.

    Args:
        partition: Its number.
        generation: The consumer group's generation.
        writer: Commits the partition's steps.
        context: State shared by the worker's partitions.
    """

    def __init__(self, *, partition: int, generation: int, writer: Writer, context: TaskContext) -> None:
        self._partition = partition
        self._generation = generation
        self._writer = writer
        self._context = context
        self._gap_stop = DataLossHold(partition=partition, writer=writer, context=context, is_idle=self._is_idle)
        self._state = TaskState.CREATED
        self._next_offset: int | None = None
        self._attempt = 0
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
    def log_gap(self) -> DataLoss | None:
        """The lost records while the partition is stopped because of them."""
        return self._gap_stop.gap

    @property
    def holder(self) -> OldestPending | None:
        """The oldest record that was delivered and is not acknowledged; None if there is none."""
        holder = self._oldest()
        return holder if holder is None or self.is_recovered else replace(holder, state="taking_over")

    @property
    def failure(self) -> BaseException | None:
        """The task's fatal error, if any."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            return self._task.exception()
        return None

    def start(self) -> None:
        """Starts the task, which restores the partition first."""
        self._task = asyncio.create_task(self._run(), name=f"{self._context.stage}-{self._partition}")

    async def stop(self) -> None:
        """Stops at once. After it returns, nothing is written; uncommitted records will be delivered again."""
        self._change_state(TaskState.CLOSED)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._gap_stop.stop()
        self._context.flow_control.release(self._partition)

    @abstractmethod
    def _is_idle(self) -> bool:
        """Whether everything fetched is committed."""

    @abstractmethod
    def _oldest(self) -> OldestPending | None:
        """See :attr:`holder`, for a restored partition."""

    @abstractmethod
    def _stamp_of(self, offset: int) -> OffsetAndTimestamp | None:
        """Write time of a delivered, uncommitted record."""

    @abstractmethod
    async def _work(self) -> None:
        """Handles the restored partition: restores in-memory data, calls :meth:`_on_recovered`, and continues.

        Raises:
            TransientError: The partition must be restored again.
            LogGapError: The log has lost records: the partition stops.
        """

    @abstractmethod
    def _on_gap(self) -> None:
        """Drops fetched records after a data loss: they are fetched again once the loss is accepted."""

    async def _run(self) -> None:
        try:
            while not self._state.is_ending:
                self._change_state(TaskState.RESTORING)
                try:
                    self._require_ownership()
                    self._next_offset = await self._writer.initialize()
                    self._clear_suspects()
                    await self._work()
                except LogGapError as error:
                    self._advance(TaskState.RESTORING)
                    self._on_gap()
                    await self._gap_stop.wait(error.gap)
                except TransientError as failure:
                    self._advance(TaskState.RESTORING)
                    self._attempt += 1
                    await self._context.dependencies.back_off(failure, self._attempt)
        except FencedError:
            self._change_state(TaskState.FENCED)
            raise
        finally:
            await self._writer.stop()

    async def _on_recovered(self) -> None:
        self._advance(TaskState.RUNNING)
        await self._gap_stop.go_on(self._next_offset)

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

    @property
    def _note(self) -> str:
        """Default metadata of the group's offset."""
        return ""

    async def _commit(
        self, outputs: Sequence[OutgoingRecord], rows: Sequence[StateChange], next_offset: int | None, *, note: str | None = None
    ) -> int:
        """Commits one step; returns what :meth:`Writer.commit` returns."""
        self._require_ownership()
        last = None if next_offset is None else self._stamp_of(next_offset - 1)
        note = self._note if note is None else note
        changelog_offset = await self._writer.commit(outputs, rows, next_offset=next_offset, last=last, note=note)
        self._attempt = 0
        if next_offset is not None:
            self._next_offset = next_offset
            self._clear_suspects()
        return changelog_offset

    def _clear_suspects(self) -> None:
        if self._next_offset is not None:
            self._context.journal.on_committed(self._partition, self._next_offset)

    async def _commit_position(self) -> None:
        """Moves the group's offset over the markers at the log's end, which no fetch returns, so that the lag is 0 when nothing is left."""
        position = self._context.flow_control.fetch_position(self._partition, self._next_offset)
        if position is not None and self._may_write():
            await self._commit([], [], position)
