"""Faust's consumer, corrected where it loses its position (ADR 4, E and F)."""

from collections.abc import Mapping
from typing import Any

import faust
import faust.streams as faust_streams
from faust.transport.drivers import aiokafka
from faust.types import TP

from streams.errors import StreamError


class _NotCommittedError(Exception):
    """The group has rebalanced: nothing was committed."""


class Consumer(aiokafka.Consumer):
    """Seeks to the group's committed offsets, also where it has committed nothing yet, and takes no refused commit for a commit."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._beginnings: dict[TP, int] = {}
        self._paused: set[TP] = set()

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Seeks every partition to its committed offset, and one without to the beginning of its log.

        Faust fetches records, sees that its flow was stopped meanwhile, throws them away and seeks; aiokafka does not seek a partition
        that stands at offset 0 or nowhere, and those records are never delivered: the first ones of a new group.

        Returns:
            The committed offset of each partition; None where there is none.
        """
        committed: Mapping[TP, int] = await super().seek_to_committed()
        unmoved = {TP(each.topic, each.partition) for each, offset in committed.items() if not offset or offset < 0}
        sources = {each for each in unmoved if not self._is_changelog_tp(each)}
        if sources:
            self._beginnings = dict(await self.earliest_offsets(*sources))
            await self.seek_wait(self._beginnings)
        return committed

    def lag(self, partition: TP) -> int | None:
        """Records between the group's committed offset in a partition and its end; None while either is not known."""
        end = self.highwater(partition)
        committed = self._committed_offset[partition]
        if committed is None:
            committed = self._beginnings.get(partition)
        return None if end is None or committed is None else max(0, end - committed)

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

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        if not await super()._commit(offsets):
            raise _NotCommittedError
        return True

    async def _commit_offsets(self, offsets: Mapping[TP, int], start_new_transaction: bool = True) -> bool:
        # Faust remembers the offsets as committed although the commit was refused, and then ignores the acknowledgements of the records
        # when they are delivered again: the group would stay where it is until a later record is done.
        try:
            return bool(await super()._commit_offsets(offsets, start_new_transaction))
        except _NotCommittedError:
            return False


class Transport(aiokafka.Transport):
    """Kafka, read by :class:`Consumer`."""

    Consumer = Consumer


class App(faust.App):
    """A Faust app that reads by :class:`Consumer`.

    Raises:
        StreamError: If Faust came without its compiled stream.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        # Faust's other one, in Python, acknowledges records by itself when it passes over them in a rebalance, noack() or not (ADR 4, G).
        if getattr(faust_streams, "_CStreamIterator", None) is None:
            raise StreamError(
                "faust-streaming came without its compiled stream, and would lose records: install a wheel of it, and unset NO_CYTHON"
            )
        super().__init__(*args, **options)

    def _new_transport(self) -> Any:
        return Transport(self.conf.broker_consumer, self)
