"""Faust's consumer, which reads what is committed, corrected where it loses its position (ADR 4, E and I), pace (K) and measure (L)."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, cast
from weakref import WeakSet

import faust
import faust.streams as faust_streams
from faust.transport.drivers import aiokafka
from faust.types import TP

from streams.engine.faust.consumer_thread import ConsumerThread
from streams.engine.faust.fetched_queue import FetchedQueue
from streams.errors import StreamError

_FULL_S: Final = 0.05
"""How soon a worker looks again that has fetched as much as it may hold: it takes that in for longer."""
_PAUSED_S: Final = 0.1
"""How long a fetch waits for records while a partition is paused: one that is resumed meanwhile takes part in the next fetch only."""


class Consumer(aiokafka.Consumer):
    """Seeks to the group's committed offsets, also where it has committed nothing yet."""

    _thread: ConsumerThread

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._paused: set[TP] = set()

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Seeks every partition to its committed offset, and one without to the beginning of its log.

        Faust fetches records, sees that its flow was stopped meanwhile, throws them away and seeks; aiokafka does not seek a partition
        that stands at offset 0 or nowhere, and those records are never delivered: the first ones of a new group.

        Returns:
            The committed offset of each partition; None where there is none.
        """
        committed: Mapping[TP, int] = await super().seek_to_committed()
        self._thread.out_of_range.difference_update(TP(each.topic, each.partition) for each in committed)
        unmoved = {TP(each.topic, each.partition) for each, offset in committed.items() if not offset or offset < 0}
        sources = {each for each in unmoved if not self._is_changelog_tp(each)}
        if sources:
            await self.seek_wait(dict(await self.earliest_offsets(*sources)))
        return committed

    def position_behind(self, partition: TP, next_offset: int | None) -> int | None:
        """Where a partition's next fetch begins, if that lies behind an offset and no record lies between.

        Markers and aborted records take up offsets that no fetch returns.

        Args:
            partition: The partition.
            next_offset: The offset of the next record to handle; None for the log's beginning.
        """
        progress = self._thread.progress.get(partition)
        reached = 0 if next_offset is None else next_offset
        if progress is None or progress.last_offset >= reached or progress.position <= reached:
            return None
        return progress.position

    def is_stranded(self, partition: TP) -> bool:
        """Whether the log no longer has, or does not have yet, what would be fetched of a partition next: nothing is skipped by itself."""
        return partition in self._thread.out_of_range

    async def seek_on(self, partition: TP, offset: int) -> None:
        """Lets the next fetch of a partition begin at an offset, if it is still assigned."""
        if partition in self.assignment():
            # How far was fetched before says nothing of what follows, least of all where the log was cut.
            self._thread.progress.pop(partition, None)
            await self.seek_wait({partition: offset})
            self._thread.out_of_range.discard(partition)

    def on_heartbeat(self, listener: Callable[[float], None]) -> None:
        """Lets a listener be told of each heartbeat that was answered, with the time that it was sent at."""
        self._thread.on_heartbeat = listener

    def pause_partition(self, partition: TP) -> None:
        """Fetches no more of a partition, and still delivers what has been fetched of it.

        Faust's own pausing throws away what it has fetched, and takes it for done: the records are lost. Here a paused partition is one
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
        """What was fetched of a partition has been taken in: fetches from it again, unless it is paused."""
        if tp not in self._paused:
            super().on_buffer_drop(tp)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:  # noqa: ASYNC109 - Faust's own signature
        """What is fetched next; nothing while as much lies here as may. Pausing the partitions would lose what lies here (ADR 4, I)."""
        app = cast(App, self.app)
        if app.fetched_bytes >= app.max_fetched_bytes:
            await asyncio.sleep(min(_FULL_S, timeout))
            return {}
        return await super()._getmany(active_partitions, min(timeout, _PAUSED_S) if self._paused else timeout)

    async def _wait_next_records(self, timeout: float) -> Any:  # noqa: ASYNC109 - Faust's own signature
        """What is fetched next. Where every partition is paused Faust would sleep for a second, also when one is resumed meanwhile."""
        if self.flow_active and self._paused and not self._get_active_partitions():
            await asyncio.sleep(_FULL_S)
            return {}, set()
        return await super()._wait_next_records(timeout)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Nothing: Faust would keep each offset that no fetch returns until records are acknowledged, and join all of them at each one."""

    def _new_consumer_thread(self) -> ConsumerThread:
        return ConsumerThread(self, loop=self.loop, beacon=self.beacon)


class Transport(aiokafka.Transport):
    """Kafka, read by :class:`Consumer`."""

    Consumer = Consumer


class App(faust.App):
    """A Faust app that reads by :class:`Consumer`.

    Args:
        *args: As Faust takes them.
        max_fetched_bytes: Once so much is fetched and not yet taken in, no more is fetched.
        **options: As Faust takes them.

    Raises:
        StreamError: If Faust came without its compiled stream.
    """

    def __init__(self, *args: Any, max_fetched_bytes: int, **options: Any) -> None:
        # Faust's other one, in Python, acknowledges records by itself when it passes over them in a rebalance, noack() or not (ADR 4, G).
        if getattr(faust_streams, "_CStreamIterator", None) is None:
            raise StreamError(
                "faust-streaming came without its compiled stream, and would lose records: install a wheel of it, and unset NO_CYTHON"
            )
        super().__init__(*args, **options)
        self.max_fetched_bytes = max_fetched_bytes
        self._queues: WeakSet[FetchedQueue] = WeakSet()

    @property
    def fetched_bytes(self) -> int:
        """What is fetched and not yet taken in, in keys, values and headers."""
        return sum(queue.size_bytes for queue in self._queues)

    def FlowControlQueue(self, maxsize: int | None = None, *, clear_on_resume: bool = False) -> FetchedQueue:  # noqa: N802 - Faust's name
        """A queue of fetched records."""
        queue = FetchedQueue(maxsize=maxsize, flow_control=self.flow_control, clear_on_resume=clear_on_resume)
        self._queues.add(queue)
        return queue

    def _new_transport(self) -> Any:
        return Transport(self.conf.broker_consumer, self)
