"""Interface of the two drivers, which handle partitions in order or by key."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from memory.keys import unmarked_key
from streams.engine.failures.data_loss import DataLoss
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.oldest_pending import OldestPending


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


class Driver(Protocol):
    """Handles a worker's records."""

    @property
    def backlog(self) -> int:
        """Number of records delivered and not yet done."""
        ...

    @property
    def is_recovered(self) -> bool:
        """Whether the state of all assigned partitions is restored."""
        ...

    @property
    def next_offsets(self) -> Mapping[int, int | None]:
        """Committed next offset of each assigned partition."""
        ...

    @property
    def log_gaps(self) -> Mapping[int, DataLoss]:
        """Lost records of each partition that is stopped because of them."""
        ...

    @property
    def holders(self) -> Mapping[int, OldestPending]:
        """Oldest unacknowledged record of each assigned partition that has one."""
        ...

    @property
    def failure(self) -> BaseException | None:
        """The driver's fatal error, if any: the worker then exits and is restarted."""
        ...

    async def assign(self, partitions: set[int], generation: int) -> None:
        """Sets the assigned partitions, and restores their state."""
        ...

    async def revoke(self) -> None:
        """Unassigns all partitions until the next :meth:`assign`; after it returns, nothing is written."""
        ...

    def measure(self) -> None:
        """Updates metrics; called from time to time."""
        ...

    async def put(self, record: FaustRecord) -> None:
        """Takes a record in. It never waits for one partition, which would stop all others: a blocked partition is paused."""
        ...

    async def finish(self) -> None:
        """Starts nothing new; returns when running work is done."""
        ...

    async def stop(self) -> None:
        """Stops at once."""
        ...
