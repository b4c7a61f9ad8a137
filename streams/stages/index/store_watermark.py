"""Watermark of the vector store. The stage refuses a store that misses records which the index group has handled.

A store that was emptied, or restored from a backup, lacks records that the group will never read again. A store that was unavailable for
longer than the feed keeps its tombstones has memories that were deleted, and nothing in the feed shows it.

So the store has a checkpoint for each partition of the feed: the position of the last record up to which it is complete. It is written
before the group's offset is committed, and the commit's metadata names a record that the checkpoint covers. A restore of the partition
compares the two.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets, OffsetAndTimestamp, OutgoingRecord, TopicPartition
from stores.errors import StoreUnavailableError
from stores.index_writer import IndexWriter
from stores.position import FeedPosition
from streams.engine.failures.data_loss import DataLoss
from streams.engine.state.compaction import TableCompaction
from streams.engine.state.partition_state import RowStore, StateChange
from streams.engine.tasks.checkpointer import Writer
from streams.errors import TransientError

_EMBEDDED: Final = "(of `varve dev`: stop it, and add --embedded)"


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePlace:
    """Positions of store, group and feed in one partition, during a restore."""

    partition: int
    checkpoint: FeedPosition | None
    """The position up to which the store is complete; None: it has nothing of the partition."""
    handled: OffsetAndTimestamp | None
    """The last record that the group has handled and the store's checkpoint covers."""
    start: int
    """The offset of the first record that either may not have handled."""
    unread: OffsetAndTimestamp | None
    """The first record in the feed from there on."""

    def problem(self, *, tombstones_since_ms: int) -> str | None:
        """Why the stage must not use this store, and the remedy. None: it may.

        Args:
            tombstones_since_ms: The feed has all tombstones written since then, in milliseconds since the epoch.
        """
        if self.handled is not None:
            handled = FeedPosition(self.partition, self.handled.offset, self.handled.written_ms)
            if self.checkpoint is None or self.checkpoint.is_older_than(handled):
                return self._behind(tombstones_since_ms)
        if self.checkpoint is not None and self._may_lack_tombstones(self.checkpoint, tombstones_since_ms):
            return (
                f"the store holds partition {self.partition} of the feed up to offset {self.checkpoint.offset} only, and tombstones of "
                "memories deleted since may no longer be in the feed: stop the workers and run `varve rebuild`"
            )
        return None

    def _behind(self, tombstones_since_ms: int) -> str:
        if self.checkpoint is None:
            return (
                f"the store has nothing of partition {self.partition} of the feed, which the group has read: it was emptied; stop the "
                f"index workers, run `varve replay index`, and start them {_EMBEDDED}"
            )
        replay = f"varve replay index --partition {self.partition}"
        lacks = f"the store lacks records of partition {self.partition} of the feed after offset {self.checkpoint.offset}: it was restored"
        if (self.checkpoint.produced_ms or 0) < tombstones_since_ms:
            return f"{lacks} from a backup that is older than the feed's tombstones; stop the workers and run `varve rebuild`"
        return (
            f"{lacks} from a backup; stop the index workers, run `{replay} --from-offset {self.checkpoint.offset + 1}`, and start them "
            f"{_EMBEDDED}. Other partitions report their own offsets; `varve replay index` rewrites all of them"
        )

    def _may_lack_tombstones(self, checkpoint: FeedPosition, tombstones_since_ms: int) -> bool:
        if self.unread is None or (checkpoint.produced_ms or 0) >= tombstones_since_ms:
            return False
        # Missing offsets may have been compacted away: nothing shows when they were written, except that it was after the checkpoint.
        return self.unread.written_ms < tombstones_since_ms or self.unread.offset > self.start


class StoreWatermarkGuard:
    """Writer of one partition that refuses to start while the store lacks records that the group has handled.

    Args:
        writer: Commits.
        source: The partition of the feed.
        index: Reads the store's checkpoints.
        offsets: Reads the feed; started.
        clock: The wall clock, in seconds since the epoch.
    """

    def __init__(
        self, writer: Writer, *, source: TopicPartition, index: IndexWriter, offsets: KafkaOffsets, clock: Callable[[], float] = time.time
    ) -> None:
        self._writer = writer
        self._source = source
        self._index = index
        self._offsets = offsets
        self._clock = clock

    @property
    def rows(self) -> RowStore:
        """See :attr:`Writer.rows`."""
        return self._writer.rows

    @property
    def compaction(self) -> TableCompaction | None:
        """See :attr:`Writer.compaction`."""
        return self._writer.compaction

    @property
    def last_handled(self) -> OffsetAndTimestamp | None:
        """See :attr:`Writer.last_handled`."""
        return self._writer.last_handled

    async def initialize(self) -> int | None:
        """See :meth:`Writer.initialize`.

        Raises:
            TransientError: As there; also if the store is unavailable, or must not be used (with the reason and the remedy).
        """
        next_offset = await self._writer.initialize()
        try:
            problem = await self._problem(next_offset)
        except StoreUnavailableError as error:
            raise TransientError(str(error), dependency="store") from error
        except KafkaUnavailableError as error:
            raise TransientError(str(error), dependency="kafka") from error
        if problem is not None:
            raise TransientError(problem, dependency="store")
        return next_offset

    async def find_data_loss(self) -> DataLoss | None:
        """See :meth:`Writer.find_data_loss`."""
        return await self._writer.find_data_loss()

    async def commit(
        self,
        outputs: Sequence[OutgoingRecord],
        rows: Sequence[StateChange],
        *,
        next_offset: int | None,
        last: OffsetAndTimestamp | None = None,
        stage_metadata: str = "",
    ) -> int:
        """See :meth:`Writer.commit`. The metadata names no record beyond the store's checkpoint: a dead-lettered record, for example."""
        is_covered = last is not None and self._index.holds(self._source.partition, last.offset)
        return await self._writer.commit(
            outputs, rows, next_offset=next_offset, last=last if is_covered else None, stage_metadata=stage_metadata
        )

    async def stop(self) -> None:
        """See :meth:`Writer.stop`."""
        await self._writer.stop()

    async def _problem(self, next_offset: int | None) -> str | None:
        checkpoint = await self._index.read_checkpoint(self._source.partition)
        start = max(next_offset or 0, 0 if checkpoint is None else checkpoint.offset + 1)
        place = StorePlace(
            partition=self._source.partition,
            checkpoint=checkpoint,
            handled=self._writer.last_handled,
            start=start,
            unread=(await self._offsets.stamps({self._source: start})).get(self._source),
        )
        kept_ms = await self._offsets.kept_ms(self._source.topic)
        return place.problem(tombstones_since_ms=0 if kept_ms is None else round(self._clock() * 1000) - kept_ms)
