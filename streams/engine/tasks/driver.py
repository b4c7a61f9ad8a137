"""What the worker asks of the two ways to handle a partition: in order, or by key."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from memory.keys import unmarked_key
from streams.engine.failures.data_loss import DataLoss
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.oldest_pending import OldestPending


class InFlightRecord:
    """A record that a worker has in view, with its payload or without."""

    __slots__ = ("is_evicted", "record")

    def __init__(self, record: ConsumedRecord) -> None:
        self.is_evicted = False
        self.record = record

    def evict(self) -> None:
        """Frees the memory of its payload; what is left says where to read it again."""
        self.is_evicted = True
        self.record = replace(self.record, value=None)

    def restore(self, record: ConsumedRecord) -> None:
        """The same record, with its payload."""
        self.is_evicted = False
        self.record = record


class FaustRecord(InFlightRecord):
    """A record that Faust delivered. Faust acknowledges nothing: a transaction commits the offset."""

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
"""What records are handled one after the other by, in the order of their log; never raises."""


def key_of(record: ConsumedRecord) -> tuple[int, bytes | int]:
    """What records are handled one after the other by: those without a key by themselves."""
    return record.partition, record.offset if record.key is None else unmarked_key(record.key)


class Driver(Protocol):
    """Handles what the worker takes in."""

    @property
    def backlog(self) -> int:
        """Records taken in and not yet done."""
        ...

    @property
    def is_recovered(self) -> bool:
        """Whether all partitions that are ours are taken over, and their state recovered."""
        ...

    @property
    def next_offsets(self) -> Mapping[int, int | None]:
        """Of each partition that is ours, the offset of the next record to handle, as committed."""
        ...

    @property
    def log_gaps(self) -> Mapping[int, DataLoss]:
        """Of each partition that stands still for it, what its log has lost."""
        ...

    @property
    def holders(self) -> Mapping[int, OldestPending]:
        """Of each partition that is ours the oldest record that was delivered and is not acknowledged."""
        ...

    @property
    def failure(self) -> BaseException | None:
        """What broke the driver, if anything did: the worker then leaves, and is started anew."""
        ...

    async def assign(self, partitions: set[int], generation: int) -> None:
        """The partitions that are ours from now on; their state is recovered."""
        ...

    async def revoke(self) -> None:
        """No partition is ours until the next :meth:`assign`; on return nothing is written any more."""
        ...

    def measure(self) -> None:
        """Shows in the metrics what it holds; called now and then."""
        ...

    async def put(self, record: FaustRecord) -> None:
        """Takes a record in. It never waits for one partition, which would stop all others: a partition that cannot go on is paused."""
        ...

    async def finish(self) -> None:
        """Begins nothing new; returns when what has begun is done."""
        ...

    async def stop(self) -> None:
        """Stops at once."""
        ...
