"""Fills a new set of topics: copies of all records, then padding, then copies of unread records; rows of tables; offsets of groups.

In each new partition the copies of records that the stage has handled come first. Padding follows, up to the highest end offset of the
present topic: so every later record has a higher offset than all records before the growth had, and positions keep their order. Unread and
parked records come last, and the stage begins there.
"""

import shutil
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final

from aiokafka import TopicPartition

from memory.keys import PADDING, partition_of
from memory.texts.text import counted
from memory.topics import TopicSpec
from runtime.kafka import KafkaOffsets, OutgoingRecord
from runtime.kafka.bulk import BulkWriter, read_range
from runtime.settings import Settings
from streams.engine.failures.deferred_rows import parked_record
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import changelog_topic, pack, unpack
from streams.engine.state.recovery import recover
from streams.engine.state.rocksdb_store import RocksDBStore
from streams.errors import GrowthFaultyError
from streams.operations.growth.copies import Copies
from streams.operations.growth.layout import GROWN, KEPT_IN_PLACE, READ_BY_STAGES, Layout, source_partitions, target_partitions, topic_in
from streams.operations.growth.rows import TABLES, grown_row, home_of, joined_clock
from streams.stages.catalog import STAGES
from streams.stages.sessions.partition_rows import CLOCK_KEY

PARKING: Final = {"windows": "extraction", "merges": "merging"}
"""The stages that park records, by their topics."""


@dataclass(slots=True)
class FilledTopics:
    """Content of the new topics."""

    starts: dict[str, list[int]] = field(default_factory=dict)
    """By topic of the catalogue: the offset in each new partition at which its stage begins."""
    counts: dict[str, int] = field(default_factory=dict)
    """Copies by topic."""
    rows: dict[str, int] = field(default_factory=dict)
    """Rows by stage."""
    padding: int = 0
    times: dict[tuple[str, int], int] = field(default_factory=dict)
    """The newest timestamp of each new partition, in milliseconds since the epoch."""


class Digests:
    """Digests of partitions' contents, in order."""

    def __init__(self) -> None:
        self._digests: defaultdict[TopicPartition, blake2b] = defaultdict(lambda: blake2b(digest_size=16))

    def add(
        self, partition: TopicPartition, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]], time: int
    ) -> None:
        """Adds a record; padding does not count."""
        if key == PADDING:
            return
        digest = self._digests[partition]
        parts = (key, value, b"%d" % time, *(part for name, each in headers for part in (name.encode(), each)))
        for part in parts:
            digest.update(b"-" if part is None else b"%d:%b" % (len(part), part))

    def of(self, partition: TopicPartition) -> str:
        """The digest of a partition."""
        return self._digests[partition].hexdigest()


class TopicFiller:
    """Fills the topics of a new set.

    Args:
        settings: The settings of the present set.
        old: The present set.
        new: The new set; its topics are empty.
        copies: Makes the copies.
        offsets: Reads offsets; started.
        topics: The topics on the broker.
        cut: Topics of the catalogue whose logs have lost their beginnings: the first new record of each partition is padding.
        folder: An empty folder for tables.
        notice: Called with a line of progress.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        old: Layout,
        new: Layout,
        copies: Copies,
        offsets: KafkaOffsets,
        topics: Mapping[str, int],
        cut: Collection[str],
        folder: Path,
        notice: Callable[[str], None],
    ) -> None:
        self._kafka = settings.kafka
        self._old, self._new = old, new
        self._copies = copies
        self._offsets = offsets
        self._topics = topics
        self._cut = cut
        self._folder = folder
        self._notice = notice
        self._written = Digests()
        self.filled = FilledTopics()

    async def fill(self, handled: Mapping[str, list[int]], ends: Mapping[str, list[int]]) -> FilledTopics:
        """Copies everything.

        Args:
            handled: By topic of the catalogue: the offset of the first record of each partition that counts as unread.
            ends: By topic: the end offset of each partition.
        """
        async with BulkWriter(kafka=self._kafka) as writer:
            for spec in GROWN:
                if spec == KEPT_IN_PLACE:
                    await self._letters(writer, spec, ends[spec.name])
                else:
                    await self._topic(writer, spec, handled[spec.name], ends[spec.name])
                await writer.flush()
                self._notice(f"{spec.name}: {counted(self.filled.counts[spec.name], 'record')} copied")
            for stage in TABLES:
                await self._rows(writer, stage)
                await writer.flush()
                self._notice(f"{stage}: {counted(self.filled.rows[stage], 'row')} copied")
        return self.filled

    async def verify(self) -> None:
        """Reads everything that was written, and compares it with what was copied.

        Raises:
            GrowthFaultyError: If they differ.
        """
        topics = [topic_in(spec, self._new) for spec in GROWN] + [
            self._changelog(stage, self._new) for stage in TABLES if self.filled.rows[stage]
        ]
        found, ends = Digests(), await self._offsets.end_offsets(topics)
        for partition, end in ends.items():
            async with aclosing(read_range(partition, self._kafka, begin=0, end=end)) as groups:
                async for records in groups:
                    for record in records:
                        found.add(partition, record.key, record.value, record.headers, record.timestamp)
            if found.of(partition) != self._written.of(partition):
                raise GrowthFaultyError(f"{partition.topic}/{partition.partition} differs from what was copied; run the command again")

    async def _topic(self, writer: BulkWriter, spec: TopicSpec, handled: list[int], ends: list[int]) -> None:
        count = 0
        if spec.name in self._cut:
            # A record that is deleted afterwards, so that the new log has no beginning either.
            for number in range(self._new.partitions):
                await writer.pad(TopicPartition(topic_in(spec, self._new), number), 1, key=PADDING, timestamp_ms=0)
        deleted = await self._deletions(spec, ends) if spec.cleanup == "compact" else {}
        for number, end in enumerate(handled):
            count += await self._copy(writer, spec, number, 0, end, deleted)
        top = max(ends, default=0) if spec in READ_BY_STAGES else 0
        starts = []
        for number in range(self._new.partitions):
            partition = TopicPartition(topic_in(spec, self._new), number)
            time = self.filled.times.get((spec.name, number), 0)
            self.filled.padding += await writer.pad(partition, top, key=PADDING, timestamp_ms=time)
            starts.append(writer.end(partition))
        self.filled.starts[spec.name] = starts
        for number, (begin, end) in enumerate(zip(handled, ends, strict=True)):
            for record in await self._parked(spec, number):
                count += await self._write(writer, spec, record)
            count += await self._copy(writer, spec, number, begin, end, deleted)
        self.filled.counts[spec.name] = count

    async def _copy(
        self, writer: BulkWriter, spec: TopicSpec, number: int, begin: int, end: int, deleted: Mapping[tuple[int, bytes | None], int]
    ) -> int:
        """Copies the records of a range of offsets, without those that a later tombstone deletes. Returns their number."""
        count = 0
        async with aclosing(self._read(topic_in(spec, self._old), number, begin, end)) as records:
            async for record in records:
                if record.offset >= deleted.get((number, record.key), 0):
                    count += await self._write(writer, spec, record)
        return count

    async def _letters(self, writer: BulkWriter, spec: TopicSpec, ends: list[int]) -> None:
        topic, count = topic_in(spec, self._old), 0
        for number, end in enumerate(ends):
            offsets: dict[int, int] = {}
            async with aclosing(self._read(topic, number, 0, end)) as records:
                async for record in records:
                    copy = self._copies.of_letter(record, offsets)
                    offsets[record.offset] = await self._add(writer, copy, record.appended_ms)
                    count += 1
        self.filled.counts[spec.name] = count
        self.filled.starts[spec.name] = [
            writer.end(TopicPartition(topic_in(spec, self._new), each)) for each in range(self._new.partitions)
        ]

    async def _deletions(self, spec: TopicSpec, ends: list[int]) -> dict[tuple[int, bytes | None], int]:
        """The offset of the newest tombstone of each key that has one: no earlier record of the key is copied."""
        found: dict[tuple[int, bytes | None], int] = {}
        for number, end in enumerate(ends):
            async with aclosing(self._read(topic_in(spec, self._old), number, 0, end)) as records:
                async for record in records:
                    if record.value is None:
                        found[number, record.key] = record.offset
        return found

    async def _parked(self, spec: TopicSpec, number: int) -> list[ConsumedRecord]:
        """The parked records of a partition, in order: in the new topics they are unread."""
        stage = PARKING.get(spec.name)
        if stage is None:
            return []
        source = TopicPartition(topic_in(spec, self._old), number)
        async with self._table(stage, number) as table:
            rows = () if table is None else table.scan()
            parked = [record for key, value in rows if (record := parked_record(source, key, value)) is not None]
        return sorted(parked, key=lambda each: each.offset)

    async def _rows(self, writer: BulkWriter, stage: str) -> None:
        changelog, count = self._changelog(stage, self._new), 0
        clocks: dict[int, tuple[int, bytes]] = {}
        for number in range(self._old.partitions):
            async with self._table(stage, number) as table:
                if table is None:
                    continue

                def find(prefix: bytes, table: RocksDBStore = table) -> bytes | None:
                    key, row = next(iter(table.scan_from(prefix)), (b"", b""))
                    return unpack(row)[1] if key.startswith(prefix) else None

                for key, row in table.scan():
                    position, payload = unpack(row)
                    if key == CLOCK_KEY:
                        clocks[number] = (position, payload)
                        continue
                    home = home_of(stage, key, payload, find)
                    if home is None:
                        targets = target_partitions(number, old=self._old.partitions, new=self._new.partitions)
                    else:
                        targets = (partition_of(home, self._new.partitions),)
                    for target in targets:
                        value = pack(position, grown_row(stage, payload, target))
                        await self._add(writer, OutgoingRecord(changelog, key, value, partition=target), 0)
                    count += 1
        for target in range(self._new.partitions):
            sources = [each for each in source_partitions(target, old=self._old.partitions, new=self._new.partitions) if each in clocks]
            clock = joined_clock(clocks[each][1] for each in sources)
            if clock is not None:
                value = pack(max(clocks[each][0] for each in sources), clock)
                await self._add(writer, OutgoingRecord(changelog, CLOCK_KEY, value, partition=target), 0)
        self.filled.rows[stage] = count

    @asynccontextmanager
    async def _table(self, stage: str, number: int) -> AsyncIterator[RocksDBStore | None]:
        """The rows of a stage's partition, restored from its changelog; None if the stage has never run."""
        changelog = TopicPartition(self._changelog(stage, self._old), number)
        if changelog.topic not in self._topics:
            yield None
            return
        path = self._folder / stage / str(number)
        shutil.rmtree(path, ignore_errors=True)
        table = RocksDBStore(path)
        table.open()
        try:
            await recover(table, changelog, kafka=self._kafka, offsets=self._offsets)
            yield table
        finally:
            table.close()
            shutil.rmtree(path, ignore_errors=True)

    async def _read(self, topic: str, number: int, begin: int, end: int) -> AsyncGenerator[ConsumedRecord]:
        async with aclosing(read_range(TopicPartition(topic, number), self._kafka, begin=begin, end=end)) as groups:
            async for records in groups:
                for record in records:
                    if record.key != PADDING:
                        yield ConsumedRecord.of(record)

    async def _write(self, writer: BulkWriter, spec: TopicSpec, record: ConsumedRecord) -> int:
        for copy in self._copies.of(record, spec):
            await self._add(writer, copy, record.appended_ms)
            place = spec.name, copy.partition or 0
            self.filled.times[place] = max(record.appended_ms, self.filled.times.get(place, 0))
        return 1

    async def _add(self, writer: BulkWriter, record: OutgoingRecord, timestamp_ms: int) -> int:
        assert record.partition is not None
        self._written.add(TopicPartition(record.topic, record.partition), record.key, record.value, record.headers, timestamp_ms)
        return await writer.add(record, timestamp_ms=timestamp_ms)

    @staticmethod
    def _changelog(stage: str, layout: Layout) -> str:
        return changelog_topic(STAGES[stage].group(layout.prefix))
