"""All partitions of a worker, each handled in order by a lane of its own."""

import asyncio
from collections.abc import Callable
from typing import Any

from streams.delivery.batch import BatchHandler
from streams.delivery.context import StageContext
from streams.delivery.driver import FaustRecord
from streams.delivery.lane import Lane
from streams.delivery.state import Codec, PartitionState, RowStore


class NoRows:
    """The table of a stage that keeps no state."""

    def read(self, key: bytes) -> bytes | None:
        """Nothing is there."""
        return None

    def scan(self) -> Any:
        """Nothing is there."""
        return iter(())

    def write(self, rows: list[Any], changelog_offset: int) -> None:
        """Nothing can be kept."""
        raise TypeError("this stage keeps no state")


class Lanes:
    """Handles every partition in the order of its log.

    Args:
        context: What the lanes share.
        new_handler: Makes the handler of one partition.
        rows: The local table of a partition.
        codec: How the stage's state becomes bytes.
        max_span: How many records of one partition are held.
        cache_bytes: What the state objects of one partition may weigh in memory.
    """

    def __init__(
        self,
        *,
        context: StageContext,
        new_handler: Callable[[int], BatchHandler],
        rows: Callable[[int], RowStore],
        codec: Codec[Any],
        max_span: int,
        cache_bytes: int,
    ) -> None:
        self._context = context
        self._new_handler = new_handler
        self._rows = rows
        self._codec = codec
        self._max_span = max_span
        self._cache_bytes = cache_bytes
        self._lanes: dict[int, Lane] = {}

    @property
    def backlog(self) -> int:
        """Records taken in and not yet done."""
        return sum(lane.backlog for lane in self._lanes.values())

    @property
    def failed(self) -> BaseException | None:
        """What broke a lane, if anything did."""
        return next((lane.failed for lane in self._lanes.values() if lane.failed), None)

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Starts a lane for each partition."""
        await self.revoke()
        for partition in partitions:
            lane = Lane(
                partition=partition,
                generation=generation,
                handler=self._new_handler(partition),
                state=PartitionState(self._rows(partition), self._codec, cache_bytes=self._cache_bytes),
                context=self._context,
            )
            self._lanes[partition] = lane
            lane.start()

    async def revoke(self) -> None:
        """Stops all lanes; what they had not finished is delivered again."""
        lanes, self._lanes = self._lanes, {}
        await asyncio.gather(*(lane.stop() for lane in lanes.values()))

    async def put(self, record: FaustRecord) -> None:
        """Takes a record in."""
        lane = self._lanes.get(record.record.partition)
        if lane is not None:
            await lane.put(record, limit=self._max_span)

    async def finish(self) -> None:
        """Lets every lane finish the step that it is at."""
        await asyncio.gather(*(lane.finish() for lane in self._lanes.values()))

    async def stop(self) -> None:
        """Stops at once."""
        await self.revoke()
