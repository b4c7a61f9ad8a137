"""All partitions of a worker, each handled in order by a processor of its own."""

import asyncio
from collections.abc import Callable
from typing import Any

from streams.delivery.batch import BatchHandler
from streams.delivery.context import StageContext
from streams.delivery.driver import FaustRecord
from streams.delivery.partition_processor import PartitionProcessor
from streams.delivery.state import Codec, PartitionState, RowStore


class OrderedDriver:
    """Handles every partition in the order of its log.

    Args:
        context: What drivers share.
        new_handler: Makes the handler of one partition.
        rows: The local table of a partition.
        codec: How the stage's state becomes bytes.
        max_queued: How many records of one partition wait in memory.
        cache_bytes: What the state objects of one partition may weigh in memory.
    """

    def __init__(
        self,
        *,
        context: StageContext,
        new_handler: Callable[[int], BatchHandler],
        rows: Callable[[int], RowStore],
        codec: Codec[Any],
        max_queued: int,
        cache_bytes: int,
    ) -> None:
        self._context = context
        self._new_handler = new_handler
        self._rows = rows
        self._codec = codec
        self._max_queued = max_queued
        self._cache_bytes = cache_bytes
        self._processors: dict[int, PartitionProcessor] = {}

    @property
    def backlog(self) -> int:
        """Records taken in and not yet done."""
        return sum(processor.backlog for processor in self._processors.values())

    @property
    def failure(self) -> BaseException | None:
        """What broke a processor, if anything did."""
        return next((processor.failure for processor in self._processors.values() if processor.failure), None)

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Starts a processor for each partition."""
        await self.revoke()
        for partition in partitions:
            processor = PartitionProcessor(
                partition=partition,
                generation=generation,
                handler=self._new_handler(partition),
                state=PartitionState(self._rows(partition), self._codec, cache_bytes=self._cache_bytes),
                context=self._context,
            )
            self._processors[partition] = processor
            processor.start()

    async def revoke(self) -> None:
        """Stops all processors; what they had not finished is delivered again."""
        processors, self._processors = self._processors, {}
        await asyncio.gather(*(processor.stop() for processor in processors.values()))

    async def put(self, record: FaustRecord) -> None:
        """Takes a record in."""
        processor = self._processors.get(record.record.partition)
        if processor is not None:
            await processor.put(record, limit=self._max_queued)

    async def finish(self) -> None:
        """Lets every processor finish the batch that it is at."""
        await asyncio.gather(*(processor.finish() for processor in self._processors.values()))

    async def stop(self) -> None:
        """Stops at once."""
        await self.revoke()
