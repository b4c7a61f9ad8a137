"""One partition for one assignment: taken over, worked on, and taken over again where only the log knows how far it has come."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from runtime.kafka import OffsetAndTimestamp, OutgoingRecord
from streams.engine.context import StageContext
from streams.engine.failures.data_loss import DataLoss, LogGapError
from streams.engine.failures.data_loss_hold import DataLossHold
from streams.engine.state.partition_state import StateChange
from streams.engine.tasks.checkpointer import Writer
from streams.engine.tasks.oldest_pending import OldestPending
from streams.engine.tasks.task_state import TaskState
from streams.errors import FencedError, TransientError

IDLE_S: Final = 0.25
"""A partition where nothing comes for so long tells the group that it has come behind the log's trailing markers."""


class PartitionTask(ABC):
    """Owns a partition from its take-over to the end of the assignment; what is done with its records, a subclass says.

    Args:
        partition: Its number.
        generation: The assignment, as the consumer group counts them.
        writer: Commits what comes of the partition.
        context: What the worker's partitions share.
    """

    def __init__(self, *, partition: int, generation: int, writer: Writer, context: StageContext) -> None:
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
        """The offset of the next record to handle, as committed; None before the first commit."""
        return self._next_offset

    @property
    def log_gap(self) -> DataLoss | None:
        """What the log has lost, while the partition stands still for it."""
        return self._gap_stop.gap

    @property
    def holder(self) -> OldestPending | None:
        """The oldest record that was delivered and is not acknowledged; None where there is none."""
        holder = self._oldest()
        return holder if holder is None or self.is_recovered else replace(holder, state="taking_over")

    @property
    def failure(self) -> BaseException | None:
        """What broke the work, if anything did."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            return self._task.exception()
        return None

    def start(self) -> None:
        """Begins to take over."""
        self._task = asyncio.create_task(self._run(), name=f"{self._context.stage}-{self._partition}")

    async def stop(self) -> None:
        """Stops at once; on return nothing is written any more. What is not committed will be delivered again."""
        self._change_state(TaskState.CLOSED)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._gap_stop.stop()
        self._context.flow_control.release(self._partition)

    @abstractmethod
    def _is_idle(self) -> bool:
        """Whether all that was fetched is committed."""

    @abstractmethod
    def _oldest(self) -> OldestPending | None:
        """See :attr:`holder`, while the partition is taken over."""

    @abstractmethod
    def _stamp_of(self, offset: int) -> OffsetAndTimestamp | None:
        """When the record of an offset was written, if it was delivered and is not committed yet."""

    @abstractmethod
    async def _work(self) -> None:
        """Works on the partition, which is taken over: recovers what it keeps in memory, calls :meth:`_on_recovered`, and goes on.

        Raises:
            TransientError: The partition is to be taken over again.
            LogGapError: The log has lost records: it stands still.
        """

    @abstractmethod
    def _on_gap(self) -> None:
        """The log has lost records: what was fetched is fetched again once the loss is accepted."""

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
                    await self._context.back_off(failure, self._attempt)
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
        """Whoever takes over without being the owner would fence the owner."""
        if not self._may_write():
            raise TransientError("the partition is being taken away", dependency="assignment")

    @property
    def _note(self) -> str:
        """What stands beside the group's offset, unless a commit says otherwise."""
        return ""

    async def _commit(
        self, outputs: Sequence[OutgoingRecord], rows: Sequence[StateChange], next_offset: int | None, *, note: str | None = None
    ) -> int:
        """Commits one step; returns what :meth:`Writer.commit` does."""
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
            self._context.claims.on_committed(self._partition, self._next_offset)

    async def _commit_position(self) -> None:
        """Moves the group behind the markers at the log's end, which no fetch returns: its lag is 0 when nothing is left to handle."""
        position = self._context.fetch_position(self._partition, self._next_offset)
        if position is not None and self._may_write():
            await self._commit([], [], position)
