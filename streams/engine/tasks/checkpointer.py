"""Commits the results of one source partition: outputs, changelog rows and the source offset, in one transaction per batch.

The transactional id belongs to the group and the partition. A new owner starts a producer with the same id; from then on the broker refuses
all writes of the previous owner, however late (docs/internals/architecture.md, invariant 1).
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from aiokafka import TopicPartition
from aiokafka.structs import OffsetAndMetadata

from memory.errors import RecordTooLargeError
from memory.topics import topic_named
from runtime.errors import KafkaUnavailableError, ProducerFencedError, TopicMissingError
from runtime.kafka import KafkaOffsets, OffsetAndTimestamp, OutgoingRecord
from runtime.kafka.transactional import TransactionalProducer
from runtime.logs import logger
from runtime.settings import KafkaSettings
from streams.engine.failures.data_loss import DataLoss, DataLossError
from streams.engine.state.compaction import TableCompaction
from streams.engine.state.partition_state import NullStore, RowStore, StateChange
from streams.engine.state.recovery import recover
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.engine.state.store_metrics import TableMetrics
from streams.engine.tasks.offset_metadata import OffsetMetadata
from streams.errors import FencedError, StreamError, TransientError

_log = logger(__name__)

NO_OFFSET: Final = -1
"""Changelog offset of a step that changed no row."""


class Writer(Protocol):
    """Interface that commits the work on one source partition."""

    @property
    def rows(self) -> RowStore:
        """The local table, once it is restored."""
        ...

    @property
    def compaction(self) -> TableCompaction | None:
        """See :attr:`Checkpointer.compaction`."""
        ...

    async def initialize(self) -> int | None:
        """See :meth:`Checkpointer.initialize`."""
        ...

    async def find_data_loss(self) -> DataLoss | None:
        """See :meth:`Checkpointer.find_data_loss`."""
        ...

    @property
    def last_handled(self) -> OffsetAndTimestamp | None:
        """See :attr:`Checkpointer.last_handled`."""
        ...

    async def commit(
        self,
        outputs: Sequence[OutgoingRecord],
        rows: Sequence[StateChange],
        *,
        next_offset: int | None,
        last: OffsetAndTimestamp | None = None,
        stage_metadata: str = "",
    ) -> int:
        """See :meth:`Checkpointer.commit`."""
        ...

    async def stop(self) -> None:
        """See :meth:`Checkpointer.stop`."""
        ...


def transactional_id(group: str, partition: int) -> str:
    """The transactional id of a consumer group for one partition of its source."""
    return f"{group}.{partition}"


class Checkpointer:
    """The only writer of a source partition during an assignment.

    Args:
        source: The partition.
        group: The consumer group that reads it.
        kafka: The broker's settings.
        offsets: Reads offsets; its owner starts and stops it.
        table: The stage's rows of this partition; None if it keeps no state.
        changelog: The topic of the rows' changelog; None if the stage keeps no state.
        table_metrics: Metrics of the table. Default: none.
    """

    def __init__(
        self,
        *,
        source: TopicPartition,
        group: str,
        kafka: KafkaSettings,
        offsets: KafkaOffsets,
        table: RocksDBStore | None = None,
        changelog: str | None = None,
        table_metrics: TableMetrics | None = None,
    ) -> None:
        if table is not None and changelog is None:
            raise ValueError("a table needs a changelog")
        self._source = source
        self._group = group
        self._kafka = kafka
        self._offsets = offsets
        self._name = f"{source.topic}/{source.partition}"
        self._last: OffsetAndTimestamp | None = None
        spec = topic_named(source.topic, kafka.topic_prefix)
        self._is_compacted = spec is not None and spec.cleanup == "compact"
        self._table = table
        self._compaction = None if table is None else TableCompaction(table, name=self._name)
        self._table_metrics = table_metrics
        self._changelog = None if changelog is None else TopicPartition(changelog, source.partition)
        identity = transactional_id(group, source.partition)
        self._producer = TransactionalProducer(kafka=kafka, transactional_id=identity, partitions=kafka.partitions)

    @property
    def last_handled(self) -> OffsetAndTimestamp | None:
        """The last record that the group has handled, as far as the offset's metadata shows."""
        return self._last

    @property
    def rows(self) -> RowStore:
        """The local table, once it is restored."""
        return NullStore() if self._table is None else self._table

    @property
    def compaction(self) -> TableCompaction | None:
        """Rewrites the local table's files after an erasure; None: there is no table."""
        return self._compaction

    async def initialize(self) -> int | None:
        """Fences the previous writer, reads the committed offset, and restores the table from the changelog, in this order.

        It also settles a transaction whose response was lost: the transaction succeeded if the offset has moved.

        Returns:
            The offset of the next record to handle; None if the group has committed nothing yet.

        Raises:
            TransientError: Kafka does not respond, or a command that resets the stage was killed before its end.
            DataLossError: The source has lost records: the group's offset is outside the log.
            LocalTableError: The table cannot be opened or written.
            StreamError: The changelog has lost records.
        """
        try:
            await self._producer.start()
            next_offset, metadata, loss = await self._position()
            self._require_finished(metadata)
            self._last = None if loss is not None else metadata.last
            if loss is not None:
                await self._record_truncation(loss, metadata.stage_metadata)
                raise DataLossError(loss)
            if self._table is not None and self._changelog is not None:
                await self._restore(self._table, self._changelog)
            if self._compaction is not None:
                self._compaction.start()
            return next_offset
        except KafkaUnavailableError as error:
            raise TransientError(f"{self._name} cannot be restored: {error}", dependency="kafka") from error

    async def find_data_loss(self) -> DataLoss | None:
        """Records that the source has lost before or after the group's offset. Does not fence the owner.

        Raises:
            TransientError: Kafka does not respond.
        """
        try:
            return (await self._position())[2]
        except KafkaUnavailableError as error:
            raise TransientError(str(error), dependency="kafka") from error

    async def commit(
        self,
        outputs: Sequence[OutgoingRecord],
        rows: Sequence[StateChange],
        *,
        next_offset: int | None,
        last: OffsetAndTimestamp | None = None,
        stage_metadata: str = "",
    ) -> int:
        """Commits a batch in one transaction: all of it, or nothing.

        The producer begins a transaction, sends the outputs and the changelog rows, adds the source's next offset with
        :class:`OffsetMetadata`, and commits. :class:`PartitionTask` lists the steps before and after.

        Args:
            outputs: Records to produce, dead letters included.
            rows: The rows that change.
            next_offset: The offset of the next record to handle; None does not move the group.
            last: The newest finished record below that offset; None: as in the previous commit.
            stage_metadata: The stage's metadata of that offset: a JSON object; empty: none.

        Returns:
            The changelog offset of the newest row; :data:`NO_OFFSET` if no row changed.

        Raises:
            TransientError: The outcome is unknown: the task must restore the partition.
            FencedError: Another worker has taken the partition over.
            RecordTooLargeError: An output is larger than the broker accepts; nothing was committed.
        """
        if rows and self._changelog is None:
            raise StreamError(f"the group {self._group} keeps no state, but a row was changed")
        topic = "" if self._changelog is None else self._changelog.topic
        changes = [OutgoingRecord(topic, row.key, row.value, partition=self._source.partition) for row in rows]
        self._last = last or self._last
        metadata = OffsetMetadata(last=self._last, stage_metadata=OffsetMetadata.parse(stage_metadata).stage_metadata)
        offsets = {} if next_offset is None else {self._source: OffsetAndMetadata(next_offset, metadata.text)}
        try:
            written = await self._producer.commit([*outputs, *changes], offsets=offsets, group=self._group)
        except ProducerFencedError as error:
            raise FencedError(f"{self._name} belongs to another worker: {error}") from error
        except RecordTooLargeError:
            await self._restart_producer()
            raise
        except KafkaUnavailableError as error:
            raise TransientError(str(error), dependency="kafka") from error
        return max(written[len(outputs) :], default=NO_OFFSET)

    async def stop(self) -> None:
        """Aborts the open transaction, and closes producer and table."""
        try:
            await self._producer.stop()
        finally:
            if self._compaction is not None:
                await self._compaction.stop()
            if self._table is not None:
                self._table.close()
            if self._table_metrics is not None:
                self._table_metrics.on_closed()

    async def _restore(self, table: RocksDBStore, changelog: TopicPartition) -> None:
        table.open()
        metrics = self._table_metrics
        if metrics is None:
            await recover(table, changelog, kafka=self._kafka, offsets=self._offsets)
            return
        metrics.on_opened(table.size_bytes)
        try:
            await recover(table, changelog, kafka=self._kafka, offsets=self._offsets, on_progress=metrics.on_restoring)
        finally:
            metrics.on_restored()

    async def _restart_producer(self) -> None:
        """Restarts the producer after a refused record has ended the transaction; the transactional id is still owned."""
        if not self._producer.is_started:
            try:
                await self._producer.start()
            except KafkaUnavailableError as error:
                raise TransientError(str(error), dependency="kafka") from error

    async def _position(self) -> tuple[int | None, OffsetMetadata, DataLoss | None]:
        """The group's next offset, its metadata, and the lost records there."""
        committed = (await self._offsets.commits(self._group, [self._source.topic])).get(self._source)
        begin, end = await self._offsets.bounds(self._source)
        next_offset, metadata = (
            (None, OffsetMetadata()) if committed is None else (committed.offset, OffsetMetadata.parse(committed.metadata))
        )
        cut_at = metadata.cut_at
        if cut_at is None and metadata.last is not None and (end <= metadata.last.offset or not await self._still_has(metadata.last)):
            cut_at = min(end, metadata.last.offset, await self._first_offset_since(metadata.last.written_ms + 1))
        if committed is None and begin > 0 and await self._has_never_run():
            _log.warning("stage_starts_after_retention", group=self._group, partition=self._name, first_offset=begin)
            return next_offset, metadata, None
        loss = DataLoss.between(self._source, next_offset, begin=begin, end=end, cut_at=cut_at)
        return next_offset, metadata, loss

    async def _has_never_run(self) -> bool:
        """Whether the stage is new to this partition, so that it cannot have lost records there.

        A missing offset does not prove it: Kafka deletes the offsets of a group that was stopped for long. The changelog stays.
        """
        if self._changelog is None:
            return False
        try:
            ends = await self._offsets.end_offsets([self._changelog.topic])
        except TopicMissingError:
            return True
        return ends.get(self._changelog, 0) == 0

    def _require_finished(self, metadata: OffsetMetadata) -> None:
        if metadata.unfinished is not None:
            raise TransientError(
                f"{self._name}: `varve {metadata.unfinished}` did not run to its end, and has dropped some of the state; stop the workers, "
                "and run it again",
                dependency="unfinished command",
            )

    async def _still_has(self, last: OffsetAndTimestamp) -> bool:
        """Whether the log still has the record that was handled last; another record at its offset proves a truncation."""
        found = (await self._offsets.stamps({self._source: last.offset})).get(self._source)
        if found is not None and found.offset == last.offset:
            return found.written_ms == last.written_ms
        begin, _ = await self._offsets.bounds(self._source)
        return begin > last.offset or self._is_compacted

    async def _first_offset_since(self, written_ms: int) -> int:
        """The offset of the first record written at a time or later: in a truncated log it is new."""
        since = datetime.fromtimestamp(written_ms / 1000, UTC)
        return (await self._offsets.offsets_since([self._source.topic], since))[self._source]

    async def _record_truncation(self, loss: DataLoss, stage_metadata: Mapping[str, Any]) -> None:
        """Stores the truncation in the metadata of the group's offset: once the log has grown past it, nothing else shows it."""
        if loss.is_cut:
            offsets = {self._source: OffsetAndMetadata(loss.committed, OffsetMetadata(cut_at=loss.end, stage_metadata=stage_metadata).text)}
            await self._producer.commit([], offsets=offsets, group=self._group)
