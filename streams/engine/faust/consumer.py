"""Faust's consumer with read-committed isolation, repaired seeking (ADR 4, E and I), pace (K) and size limits (L)."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, cast
from weakref import WeakSet

import faust
import faust.streams as faust_streams
from faust.app.base import BootStrategy
from faust.transport.drivers import aiokafka
from faust.types import TP
from mode.utils.queues import ThrowableQueue

from streams.engine.faust.consumer_thread import ConsumerThread
from streams.errors import StreamError

_FULL_S: Final = 0.05
"""Delay before a worker with a full prefetch buffer looks again; handling the buffer takes longer."""
_PAUSED_S: Final = 0.1
"""Longest fetch while a partition is paused: a partition that is resumed takes part only in the next fetch."""


class Consumer(aiokafka.Consumer):
    """Seeks to the group's committed offsets, and to the log's beginning for partitions without one."""

    mundane_level = "debug"
    _thread: ConsumerThread

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._paused: set[TP] = set()

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Seeks every partition to its committed offset, or to the beginning of its log if there is none.

        Faust fetches records, sees that its flow was stopped in the meantime, discards them and seeks. aiokafka does not seek a partition
        whose position is 0 or unset, so the first records of a new group would never be delivered.

        Returns:
            The committed offset of each partition; None if there is none.
        """
        committed: Mapping[TP, int] = await super().seek_to_committed()
        self._thread.out_of_range.difference_update(TP(each.topic, each.partition) for each in committed)
        unmoved = {TP(each.topic, each.partition) for each, offset in committed.items() if not offset or offset < 0}
        sources = {each for each in unmoved if not self._is_changelog_tp(each)}
        if sources:
            await self.seek_wait(dict(await self.earliest_offsets(*sources)))
        return committed

    def position_after(self, partition: TP, next_offset: int | None) -> int | None:
        """Start of a partition's next fetch, if it is after ``next_offset`` and no record is in between.

        Transaction markers and aborted records use offsets that no fetch returns. A ``next_offset`` of None is the log's beginning.
        """
        progress = self._thread.progress.get(partition)
        reached = 0 if next_offset is None else next_offset
        if progress is None or progress.last_offset >= reached or progress.position <= reached:
            return None
        return progress.position

    def is_stranded(self, partition: TP) -> bool:
        """Whether the log does not contain the partition's next fetch position, now or yet. The consumer never skips it automatically."""
        return partition in self._thread.out_of_range

    async def seek_on(self, partition: TP, offset: int) -> None:
        """Sets the offset of a partition's next fetch, if the partition is still assigned."""
        if partition in self.assignment():
            # The previous progress says nothing about the new position, least of all after a truncation of the log.
            self._thread.progress.pop(partition, None)
            await self.seek_wait({partition: offset})
            self._thread.out_of_range.discard(partition)

    def on_heartbeat(self, listener: Callable[[float], None]) -> None:
        """Calls a listener for each acknowledged heartbeat with the time at which it was sent."""
        self._thread.on_heartbeat = listener

    @property
    def member_id(self) -> str:
        """The id that the consumer group has given this worker; empty before it has joined."""
        return self._thread.member_id

    def pause_partition(self, partition: TP) -> None:
        """Stops fetching from a partition; records fetched already are still delivered.

        Faust's own pausing discards fetched records and counts them as done, so they would be lost. Here a paused partition counts as one
        whose buffer is full.
        """
        self._paused.add(partition)
        self._buffered_partitions.add(partition)
        self._get_active_partitions().discard(partition)

    def resume_partition(self, partition: TP) -> None:
        """Fetches from a partition again, if it is still assigned."""
        self._paused.discard(partition)
        if partition in self.assignment():
            self.on_buffer_drop(partition)
        else:
            self._buffered_partitions.discard(partition)

    def on_buffer_drop(self, tp: TP) -> None:
        """Fetches from a partition again once its buffer is empty, unless it is paused."""
        if tp not in self._paused:
            super().on_buffer_drop(tp)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:  # noqa: ASYNC109 - Faust's own signature
        """The next records; nothing while the buffer is full. Pausing the partitions instead would lose the buffer (ADR 4, I)."""
        app = cast(App, self.app)
        if app.fetched_bytes >= app.max_fetched_bytes:
            await asyncio.sleep(min(_FULL_S, timeout))
            return {}
        return await super()._getmany(active_partitions, min(timeout, _PAUSED_S) if self._paused else timeout)

    async def _wait_next_records(self, timeout: float) -> Any:  # noqa: ASYNC109 - Faust's own signature
        """The next records. If all partitions are paused, Faust would sleep for a second, even if one is resumed in the meantime."""
        if self.flow_active and self._paused and not self._get_active_partitions():
            await asyncio.sleep(_FULL_S)
            return {}, set()
        return await super()._wait_next_records(timeout)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Does nothing: Faust would keep each offset that no fetch returns until records are acknowledged, and join them all each time."""

    def _new_consumer_thread(self) -> ConsumerThread:
        return ConsumerThread(self, loop=self.loop, beacon=self.beacon)


class Transport(aiokafka.Transport):
    """Kafka transport that uses :class:`Consumer`."""

    Consumer = Consumer


class FetchedQueue(ThrowableQueue[Any]):
    """Fetched records that Faust has not read yet. Faust empties it at each rebalance, and before it seeks."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.size_bytes = 0
        """Size of the records' keys, values and headers."""

    def clear(self) -> None:
        """Drops all queued records."""
        super().clear()
        self.size_bytes = 0

    def _put(self, item: Any) -> None:
        super()._put(item)
        self.size_bytes += _size(item)

    def _get(self) -> Any:
        item = super()._get()
        self.size_bytes -= _size(item)
        return item


class _WithoutProducer(BootStrategy):
    """Connects no producer: the engine's transactions write everything."""

    enable_kafka_producer = False


class App(faust.App):
    """A Faust app that uses :class:`Consumer`.

    Args:
        *args: Passed to Faust.
        max_fetched_bytes: Bytes fetched and not yet taken in at which fetching stops.
        **options: Passed to Faust.

    Raises:
        StreamError: Faust lacks its compiled stream.
    """

    mundane_level = "debug"
    BootStrategy = _WithoutProducer

    def __init__(self, *args: Any, max_fetched_bytes: int, **options: Any) -> None:
        # Faust's Python stream acknowledges records itself when it skips them in a rebalance, despite noack() (ADR 4, G).
        if getattr(faust_streams, "_CStreamIterator", None) is None:
            raise StreamError(
                "faust-streaming has no compiled stream, and would lose records: unset NO_CYTHON, or, where faust-streaming has no wheel "
                "(arm64), install a C compiler and Python's headers (Debian: gcc, libc6-dev, python3-dev), and install it again"
            )
        super().__init__(*args, **options)
        self.max_fetched_bytes = max_fetched_bytes
        self._queues: WeakSet[FetchedQueue] = WeakSet()

    @property
    def fetched_bytes(self) -> int:
        """Bytes of keys, values and headers that are fetched and not yet taken in."""
        return sum(queue.size_bytes for queue in self._queues)

    def FlowControlQueue(self, maxsize: int | None = None, *, clear_on_resume: bool = False) -> FetchedQueue:  # noqa: N802 - Faust's name
        """Creates the queue of fetched records."""
        queue = FetchedQueue(maxsize=maxsize, flow_control=self.flow_control, clear_on_resume=clear_on_resume)
        self._queues.add(queue)
        return queue

    def _new_transport(self) -> Any:
        return Transport(self.conf.broker_consumer, self)


def _size(event: Any) -> int:
    """Size of one of Faust's events, in bytes."""
    message = event.message
    headers = message.headers or ()
    pairs = headers.items() if isinstance(headers, dict) else headers
    return len(message.key or b"") + len(message.value or b"") + sum(len(value or b"") for _, value in pairs)
