"""Stops one partition at a gap in its log, counted and logged; its neighbours go on. Whoever accepts the loss lets it go on."""

import asyncio
from collections.abc import Callable
from typing import Final

from runtime.logs import logger
from streams.engine.context import StageContext
from streams.engine.failures.data_loss import DataLoss, LogGapError
from streams.engine.faust.flow_control import PauseReason
from streams.engine.tasks.checkpointer import Writer
from streams.errors import TransientError

_log = logger(__name__)
_POLL_S: Final = 2.0


class DataLossHold:
    """Where one partition stands with the gaps of its log.

    Args:
        partition: Its number.
        writer: Knows what the group has committed, and where the log begins and ends.
        context: What the worker's partitions share.
        is_idle: Whether all that was fetched is committed.
    """

    def __init__(self, *, partition: int, writer: Writer, context: StageContext, is_idle: Callable[[], bool]) -> None:
        self._partition = partition
        self._writer = writer
        self._context = context
        self._is_idle = is_idle
        self._gap: DataLoss | None = None

    @property
    def gap(self) -> DataLoss | None:
        """What is lost, as long as the partition stands still for it. What is delivered meanwhile is delivered again."""
        return self._gap

    async def check(self, next_offset: int | None) -> None:
        """Checks the log where no fetch finds what comes next, and all that came before is committed.

        Args:
            next_offset: The offset of the next record to handle, as committed.

        Raises:
            LogGapError: Records are lost.
            TransientError: Kafka does not answer now.
        """
        if self._context.flow_control.is_stranded(self._partition) and self._is_idle():
            gap = await self._writer.find_gap()
            if gap is not None:
                raise LogGapError(gap)
            # The fetcher stood behind markers that the log has lost: from the group's own offset on, nothing is missing.
            _log.warning("fetch_position_lost", stage=self._context.stage, partition=self._partition, next_offset=next_offset)
            await self._context.flow_control.go_on(self._partition, next_offset or 0)

    async def wait(self, gap: DataLoss) -> None:
        """Stands still until the loss is accepted, which moves the group's offset."""
        context = self._context
        context.flow_control.pause(self._partition, PauseReason.LOG_GAP)
        _log.error("log_gap_found", stage=context.stage, first=gap.first, next=gap.next, error=str(gap))
        labels = (context.stage, gap.source.topic, gap.source.partition)
        found: DataLoss | None = gap
        try:
            while found is not None:
                context.metrics.records_lost.labels(*labels).set(found.next - found.first)
                self._gap = gap = found
                await asyncio.sleep(_POLL_S)
                try:
                    found = await self._writer.find_gap()
                except TransientError as error:
                    context.record_failure(error)
        finally:
            # Whoever has the partition next shows it: no loss is counted by two workers.
            context.metrics.records_lost.remove(*labels)
        _log.warning("log_gap_accepted", stage=context.stage, first=gap.first, next=gap.next, partition=self._partition)

    def stop(self) -> None:
        """Ends the standstill with the assignment: whoever has the partition next looks for the gap anew."""
        self._gap = None

    async def go_on(self, next_offset: int | None) -> None:
        """Fetches again, from the offset that was accepted; nothing where the partition did not stand still."""
        if self._gap is not None:
            await self._context.flow_control.go_on(self._partition, next_offset or 0)
            self._gap = None
