"""Driver that handles each partition in order, with one task per partition."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from streams.engine.context import StageContext
from streams.engine.failures.data_loss import DataLoss
from streams.engine.state.partition_state import Codec
from streams.engine.tasks.batch import BatchHandler
from streams.engine.tasks.driver import FaustRecord
from streams.engine.tasks.oldest_pending import OldestPending
from streams.engine.tasks.ordered_task import OrderedTask


class OrderedDriver:
    """Handles every partition in the order of its log.

    Args:
        context: State shared by the worker's partitions.
        new_handler: Creates the handler of one partition.
        codec: Serialization of the stage's state.
        max_queued: Number of queued records at which a partition is paused.
        max_queued_bytes: Bytes of queued records at which a partition is paused.
        cache_bytes: Size limit of a partition's cached state objects.
    """

    def __init__(
        self,
        *,
        context: StageContext,
        new_handler: Callable[[int], BatchHandler],
        codec: Codec[Any],
        max_queued: int,
        max_queued_bytes: int,
        cache_bytes: int,
    ) -> None:
        self._new_writer = context.new_writer
        self._context = context.task
        self._new_handler = new_handler
        self._codec = codec
        self._max_queued = max_queued
        self._max_queued_bytes = max_queued_bytes
        self._cache_bytes = cache_bytes
        self._processors: dict[int, OrderedTask] = {}

    @property
    def backlog(self) -> int:
        """See :attr:`Driver.backlog`."""
        return sum(processor.backlog for processor in self._processors.values())

    @property
    def is_recovered(self) -> bool:
        """See :attr:`Driver.is_recovered`."""
        return all(processor.is_recovered for processor in self._processors.values())

    @property
    def next_offsets(self) -> Mapping[int, int | None]:
        """See :attr:`Driver.next_offsets`."""
        return {partition: processor.next_offset for partition, processor in self._processors.items()}

    @property
    def log_gaps(self) -> Mapping[int, DataLoss]:
        """See :attr:`Driver.log_gaps`."""
        return {partition: processor.log_gap for partition, processor in self._processors.items() if processor.log_gap is not None}

    @property
    def holders(self) -> Mapping[int, OldestPending]:
        """See :attr:`Driver.holders`."""
        return {partition: processor.holder for partition, processor in self._processors.items() if processor.holder is not None}

    @property
    def failure(self) -> BaseException | None:
        """See :attr:`Driver.failure`."""
        return next((processor.failure for processor in self._processors.values() if processor.failure), None)

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Starts a task for each partition."""
        await self.revoke()
        for partition in partitions:
            processor = OrderedTask(
                partition=partition,
                generation=generation,
                new_handler=partial(self._new_handler, partition),
                codec=self._codec,
                cache_bytes=self._cache_bytes,
                max_queued=self._max_queued,
                max_queued_bytes=self._max_queued_bytes,
                writer=self._new_writer(partition),
                context=self._context,
            )
            self._processors[partition] = processor
            processor.start()

    async def revoke(self) -> None:
        """Stops all tasks; unfinished records are delivered again."""
        processors, self._processors = self._processors, {}
        await asyncio.gather(*(processor.stop() for processor in processors.values()))

    def measure(self) -> None:
        """Does nothing: the backlog shows everything."""

    async def put(self, delivery: FaustRecord) -> None:
        """Takes a record in."""
        processor = self._processors.get(delivery.record.partition)
        if processor is not None:
            processor.put(delivery.record)

    async def finish(self) -> None:
        """Lets every task finish its current batch."""
        await asyncio.gather(*(processor.finish() for processor in self._processors.values()))

    async def stop(self) -> None:
        """Stops at once."""
        await self.revoke()
