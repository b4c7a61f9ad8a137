"""Driver that handles each partition in order, with one task per partition."""

from collections.abc import Callable
from functools import partial
from typing import Any

from streams.engine.context import StageContext
from streams.engine.state.partition_state import Codec
from streams.engine.tasks.batch import BatchHandler
from streams.engine.tasks.driver import Driver, FaustRecord
from streams.engine.tasks.ordered_task import OrderedTask


class OrderedDriver(Driver):
    """Handles every partition in the order of its log.

    Args:
        context: Parts of the worker.
        new_handler: Creates the handler of one partition.
        codec: Serialization of the stage's state.
        max_queued: Number of queued records at which a partition is paused.
        max_queued_bytes: Bytes of queued records at which a partition is paused.
        cache_bytes: Size limit of a partition's cached state objects.
    """

    _tasks: dict[int, OrderedTask]

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
        super().__init__()
        self._new_writer = context.new_writer
        self._context = context.task
        self._new_handler = new_handler
        self._codec = codec
        self._max_queued = max_queued
        self._max_queued_bytes = max_queued_bytes
        self._cache_bytes = cache_bytes

    @property
    def backlog(self) -> int:
        """See :attr:`Driver.backlog`."""
        return sum(task.backlog for task in self._tasks.values())

    async def put(self, delivery: FaustRecord) -> None:
        """Takes a record in."""
        task = self._tasks.get(delivery.record.partition)
        if task is not None:
            task.put(delivery.record)

    def _new_task(self, partition: int, generation: int) -> OrderedTask:
        return OrderedTask(
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
