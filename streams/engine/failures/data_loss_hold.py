"""Stops one partition whose log has lost records, with a metric and a log event, until an operator accepts the loss. Others continue."""

import asyncio
from collections.abc import Callable
from typing import Final

from runtime.logs import logger
from streams.engine.context import TaskContext
from streams.engine.failures.data_loss import DataLoss, DataLossError
from streams.engine.faust.flow_control import PauseReason
from streams.engine.tasks.checkpointer import Writer
from streams.errors import TransientError

_log = logger(__name__)
_POLL_S: Final = 2.0


class DataLossHold:
    """The lost records of one partition.

    Args:
        partition: Its number.
        writer: Knows the group's committed offset and the log's bounds.
        context: State shared by the worker's partitions.
        is_idle: Whether everything fetched is committed.
    """

    def __init__(self, *, partition: int, writer: Writer, context: TaskContext, is_idle: Callable[[], bool]) -> None:
        self._partition = partition
        self._writer = writer
        self._context = context
        self._is_idle = is_idle
        self._loss: DataLoss | None = None

    @property
    def loss(self) -> DataLoss | None:
        """The lost records while the partition is stopped. Records delivered in the meantime will be delivered again."""
        return self._loss

    async def check(self, next_offset: int | None) -> None:
        """Looks for lost records if the next fetch finds no record and everything before it is committed.

        Raises:
            DataLossError: Records are lost.
            TransientError: Kafka does not respond.
        """
        if self._context.flow_control.is_stranded(self._partition) and self._is_idle():
            loss = await self._writer.find_data_loss()
            if loss is not None:
                raise DataLossError(loss)
            # The fetch position was after transaction markers that the log has lost. From the group's own offset on, nothing is missing.
            _log.warning("fetch_position_lost", stage=self._context.stage, partition=self._partition, next_offset=next_offset)
            await self._context.flow_control.resume_at(self._partition, next_offset or 0)

    async def wait(self, loss: DataLoss) -> None:
        """Waits until an operator accepts the loss, which moves the group's offset."""
        context = self._context
        context.flow_control.pause(self._partition, PauseReason.DATA_LOSS)
        _log.error("data_loss_found", stage=context.stage, first=loss.first, next=loss.next, error=str(loss))
        lost = context.metrics.metrics.records_lost
        labels = (context.stage, loss.source.topic, loss.source.partition)
        found: DataLoss | None = loss
        try:
            while found is not None:
                lost.labels(*labels).set(found.next - found.first)
                self._loss = loss = found
                await asyncio.sleep(_POLL_S)
                try:
                    found = await self._writer.find_data_loss()
                except TransientError as error:
                    context.dependencies.record_failure(error)
        finally:
            # The partition's next owner shows the loss: two workers must not count it twice.
            lost.remove(*labels)
        _log.warning("data_loss_accepted", stage=context.stage, first=loss.first, next=loss.next, partition=self._partition)

    def stop(self) -> None:
        """Ends the stop with the assignment: the partition's next owner looks for the loss again."""
        self._loss = None

    async def resume(self, next_offset: int | None) -> None:
        """Fetches again from the accepted offset, if the partition was stopped."""
        if self._loss is not None:
            await self._context.flow_control.resume_at(self._partition, next_offset or 0)
            self._loss = None
