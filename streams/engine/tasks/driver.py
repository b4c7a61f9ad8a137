"""Driver of a worker: base of the drivers that handle partitions in order and by key, and the records that they take in."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from memory.keys import unmarked_key
from streams.engine.failures.data_loss import DataLoss
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.oldest_pending import OldestPending
from streams.engine.tasks.partition_task import PartitionTask


class InFlightRecord:
    """A record in flight, with or without its payload."""

    __slots__ = ("is_evicted", "record")

    def __init__(self, record: ConsumedRecord) -> None:
        self.is_evicted = False
        self.record = record

    def evict(self) -> None:
        """Frees the memory of the payload; the rest shows where to read it again."""
        self.is_evicted = True
        self.record = replace(self.record, value=None)

    def restore(self, record: ConsumedRecord) -> None:
        """Restores the payload."""
        self.is_evicted = False
        self.record = record


class FaustRecord(InFlightRecord):
    """A record delivered by Faust. Faust does not acknowledge it: a transaction commits the offset."""

    __slots__ = ("_event",)

    def __init__(self, event: Any) -> None:
        message = event.message
        headers = message.headers or ()
        super().__init__(
            ConsumedRecord(
                message.topic,
                message.partition,
                message.offset,
                message.key,
                message.value,
                tuple(headers.items() if isinstance(headers, dict) else headers),
                message.timestamp,
            )
        )
        self._event = event

    def evict(self) -> None:
        """Frees the memory of its payload, here and in Faust."""
        super().evict()
        self._event.value = self._event.message.value = None


OrderingKey = Callable[[ConsumedRecord], Hashable]
"""The record's ordering key: records with the same key run one after the other, in log order; never raises."""


def key_of(record: ConsumedRecord) -> tuple[int, bytes | int]:
    """The default ordering key: the record's key. A record without a key is ordered with no other."""
    return record.partition, record.offset if record.key is None else unmarked_key(record.key)


class Driver(ABC):
    """Handles a worker's records, with one task per assigned partition. Subclasses handle each partition in order, or by key."""

    def __init__(self) -> None:
        self._tasks: dict[int, Any] = {}
        """Tasks of the assigned partitions. A subclass states their class."""
        self._endings: set[asyncio.Task[None]] = set()
        """Stops of tasks that have not ended yet."""
        self._assigning = asyncio.Lock()
        self._is_stopped = False

    @property
    @abstractmethod
    def backlog(self) -> int:
        """Number of records delivered and not yet done."""

    @property
    def is_recovered(self) -> bool:
        """Whether the state of all assigned partitions is restored."""
        return all(task.is_recovered for task in self._assigned.values())

    @property
    def next_offsets(self) -> Mapping[int, int | None]:
        """Committed next offset of each assigned partition."""
        return {partition: task.next_offset for partition, task in self._assigned.items()}

    @property
    def data_losses(self) -> Mapping[int, DataLoss]:
        """Lost records of each partition that is stopped because of them."""
        return {partition: loss for partition, task in self._assigned.items() if (loss := task.data_loss) is not None}

    @property
    def oldest_pending(self) -> Mapping[int, OldestPending]:
        """Oldest unacknowledged record of each assigned partition that has one."""
        return {partition: oldest for partition, task in self._assigned.items() if (oldest := task.oldest_pending) is not None}

    @property
    def failure(self) -> BaseException | None:
        """The fatal error of a task, if any: the worker then exits and is restarted."""
        return next((task.failure for task in self._assigned.values() if task.failure is not None), None)

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Sets the assigned partitions, and starts a task for each, which restores its state. Does nothing after :meth:`stop`."""
        async with self._assigning:
            await self._stop_tasks()
            # The worker stops the driver before its consumer, which may complete a rebalance in between.
            if self._is_stopped:
                return
            self._on_assigned(partitions, generation)
            for partition in partitions:
                self._tasks[partition] = self._new_task(partition, generation)
                self._tasks[partition].start()

    async def revoke(self) -> None:
        """Unassigns all partitions until the next :meth:`assign`; after it returns, nothing is written."""
        await self._stop_tasks()

    def measure(self) -> None:  # noqa: B027 - most drivers have nothing else to show
        """Updates metrics; called from time to time."""

    @abstractmethod
    async def put(self, delivery: FaustRecord) -> None:
        """Takes a record in. It never waits for one partition, which would stop all others: a blocked partition is paused."""

    async def finish(self) -> None:
        """Starts nothing new; returns when the work that has begun is committed."""
        await asyncio.gather(*(task.finish() for task in self._tasks.values()))

    async def stop(self) -> None:
        """Stops at once and for good; returns when no table is open any more, even if a rebalance stops the tasks at the same time."""
        self._is_stopped = True
        await self.revoke()

    def _on_assigned(self, partitions: set[int], generation: int) -> None:  # noqa: B027 - not every driver keeps more
        """Records the assigned partitions, before their tasks start."""

    def _on_ended(self, task: Any) -> None:  # noqa: B027 - not every driver keeps more
        """Records that a task has stopped."""

    @abstractmethod
    def _new_task(self, partition: int, generation: int) -> PartitionTask:
        """Creates the task of a newly assigned partition."""

    async def _stop_tasks(self) -> None:
        """Returns when all tasks have stopped, also those that another caller has begun to stop."""
        for task in self._assigned.values():
            ending = asyncio.create_task(self._end(task))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)
        self._tasks.clear()
        # Faust may cancel a rebalance: the stop continues, and the next caller waits for it.
        await asyncio.gather(*map(asyncio.shield, self._endings))

    async def _end(self, task: PartitionTask) -> None:
        await task.stop()
        self._on_ended(task)

    @property
    def _assigned(self) -> Mapping[int, PartitionTask]:
        return self._tasks
