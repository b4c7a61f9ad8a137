"""Reads end offsets of topics and committed offsets of groups, and from them each group's lag and backlog."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple, Self

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import CoordinatorLoadInProgressError, CoordinatorNotAvailableError, KafkaError, NotCoordinatorError, for_code
from aiokafka.protocol.commit import OffsetFetchRequest
from aiokafka.structs import OffsetAndMetadata

from memory.topics import topic_named
from runtime.errors import TopicMissingError
from runtime.kafka.client import admin_over, disconnect, kafka_faults, learn_leaders, open_consumer, partition_counts
from runtime.kafka.topics import topic_configs
from runtime.settings import KafkaSettings

_FETCH_BYTES: Final = 16_384
"""Only the first record is read; a larger record is still returned whole."""
_FETCH_WAIT_MS: Final = 50
"""Time for which the broker keeps a fetch without records, and with it the next requests on the connection."""
_POLL_MS: Final = 500
_BACKOFF_S: Final = 0.1
_ISOLATION: Final = "read_uncommitted"
"""The end is the high watermark: the last stable offset excludes all records after the start of an open transaction (KAFKA-10167)."""


class OffsetAndTimestamp(NamedTuple):
    """Offset and timestamp of a record."""

    offset: int
    written_ms: int
    """Milliseconds since the epoch, by the clock of the producer or the broker (``message.timestamp.type``)."""


async def _first_records(
    consumer: AIOKafkaConsumer, starts: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, OffsetAndTimestamp]:
    found: dict[TopicPartition, OffsetAndTimestamp] = {}
    unread = set(starts)
    if unread:
        consumer.assign([*unread])
    for partition, start in starts.items():
        consumer.seek(partition, start)
    while unread:
        for partition, records in (await consumer.getmany(*unread, timeout_ms=_POLL_MS)).items():
            # At once: a further fetch at the log's end would wait there, and the broker answers a connection's requests one after another.
            consumer.pause(partition)
            found[partition] = OffsetAndTimestamp(records[0].offset, records[0].timestamp)
        # The rest of a log may consist of transaction markers, which no fetch returns.
        unread -= {each for each in unread if each in found or await consumer.position(each) >= ends[each]}
    return found


class KafkaOffsets:
    """Reads offsets with one Kafka client. Use it as an async context manager. Concurrent calls are permitted.

    Names of topics include the prefix.
    """

    def __init__(self, *, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._consumer: AIOKafkaConsumer | None = None
        self._admin: AIOKafkaAdminClient | None = None
        self._coordinators: dict[str, int] = {}
        """The broker that coordinates each group, by the last answer."""
        self._reading = asyncio.Lock()
        """Held while records are read."""

    async def start(self) -> None:
        """Connects."""
        with kafka_faults("connecting to read offsets", self._kafka):
            consumer = await open_consumer(
                self._kafka,
                auto_offset_reset="none",
                isolation_level=_ISOLATION,
                fetch_max_wait_ms=_FETCH_WAIT_MS,
                max_partition_fetch_bytes=_FETCH_BYTES,
            )
        self._consumer, self._admin = consumer, admin_over(consumer, self._kafka)

    async def stop(self) -> None:
        """Disconnects; may be called repeatedly."""
        consumer, self._consumer, self._admin = self._consumer, None, None
        if consumer is not None:
            await disconnect(consumer)

    @property
    def admin(self) -> AIOKafkaAdminClient:
        """An admin client over the same connections, for the time until :meth:`stop`."""
        return self._connected()[0]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def end_offsets(self, topics: Collection[str]) -> dict[TopicPartition, int]:
        """The offset of the next record of each partition.

        Raises:
            TopicMissingError: If one of the topics does not exist.
        """
        _, consumer = self._connected()
        with kafka_faults(f"reading the ends of {', '.join(topics)}", self._kafka):
            partitions = await self._partitions(topics)
            return dict(await consumer.end_offsets(partitions)) if partitions else {}

    async def beginning_offsets(self, topics: Collection[str]) -> dict[TopicPartition, int]:
        """The offset of the oldest record of each partition; raises the errors of :meth:`end_offsets`."""
        _, consumer = self._connected()
        with kafka_faults(f"reading the beginnings of {', '.join(topics)}", self._kafka):
            partitions = await self._partitions(topics)
            return dict(await consumer.beginning_offsets(partitions)) if partitions else {}

    async def bounds(self, partition: TopicPartition) -> tuple[int, int]:
        """The offsets of a partition's oldest and next record. Sends no other requests.

        Raises:
            KafkaUnavailableError: If no broker answers, or there is no such partition.
        """
        _, consumer = self._connected()
        with kafka_faults(f"reading the bounds of {partition.topic}/{partition.partition}", self._kafka):
            await learn_leaders(consumer, [partition.topic])
            begins = await consumer.beginning_offsets([partition])
            ends = await consumer.end_offsets([partition])
        return int(begins[partition]), int(ends[partition])

    async def offsets_since(self, topics: Collection[str], moment: datetime) -> dict[TopicPartition, int]:
        """The offset of each partition's first record that was produced at the given time or later; its end if there is none.

        Args:
            topics: Names of the topics.
            moment: The time (aware). It is compared with the records' timestamps, not with the messages' own times.

        Raises:
            TopicMissingError: If one of the topics does not exist.
        """
        _, consumer = self._connected()
        ends = await self.end_offsets(topics)
        # Kafka has no times before 1970.
        since_ms = max(0, int(moment.timestamp() * 1000))
        with kafka_faults(f"searching {', '.join(topics)} by time", self._kafka):
            found = await consumer.offsets_for_times(dict.fromkeys(ends, since_ms)) if ends else {}
        return {partition: end if found.get(partition) is None else found[partition].offset for partition, end in ends.items()}

    async def stamps(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndTimestamp]:
        """The first record at or after an offset of each partition, without partitions that have none. Does not wait for transactions.

        Args:
            offsets: The offsets. If an offset is already deleted, the log's first record is used.

        Raises:
            KafkaUnavailableError: If no broker answers, or a record was deleted meanwhile.
        """
        if not offsets:
            return {}
        _, consumer = self._connected()
        with kafka_faults("reading when records were written", self._kafka):
            async with self._reading, asyncio.timeout(self._kafka.request_timeout_s):
                await learn_leaders(consumer, {each.topic for each in offsets})
                begins = await consumer.beginning_offsets([*offsets])
                ends = await consumer.end_offsets([*offsets])
                starts = {each: max(offset, begins[each]) for each, offset in offsets.items()}
                try:
                    return await _first_records(consumer, {each: start for each, start in starts.items() if start < ends[each]}, ends)
                finally:
                    # Without partitions, a consumer asks the broker for the metadata of every topic.
                    consumer.pause(*consumer.assignment())

    async def kept_ms(self, topic: str) -> int | None:
        """Retention of a topic's records, or of a compacted topic's tombstones, in milliseconds; None: unlimited.

        In topics with marked keys, stages do not need the tombstones: they skip erased records anyway.

        Raises:
            KafkaUnavailableError: If no broker answers, or it does not show the topic's configuration.
        """
        admin, _ = self._connected()
        spec = topic_named(topic, self._kafka.topic_prefix)
        with kafka_faults(f"reading the configuration of {topic}", self._kafka):
            async with asyncio.timeout(self._kafka.request_timeout_s):
                config = (await topic_configs(admin, [topic], self._kafka))[topic]
        if spec is not None and spec.mark and config["cleanup.policy"] == "compact":
            return None
        kept = int(config["retention.ms" if "delete" in config["cleanup.policy"] else "delete.retention.ms"])
        return None if kept < 0 else kept

    async def committed_offsets(self, group: str, topics: Collection[str]) -> dict[TopicPartition, int]:
        """The committed offsets of a consumer group: of the next record to read. Partitions without a commit are left out."""
        return {partition: entry.offset for partition, entry in (await self.commits(group, topics)).items()}

    async def commits(self, group: str, topics: Collection[str]) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of a consumer group with their metadata."""
        admin, _ = self._connected()
        with kafka_faults(f"reading the offsets of group {group}", self._kafka):
            async with asyncio.timeout(self._kafka.request_timeout_s):
                committed = await _group_offsets(admin, group, self._coordinators)
        return {partition: entry for partition, entry in committed.items() if partition.topic in topics and entry.offset >= 0}

    async def lag(self, group: str, topics: Collection[str]) -> dict[TopicPartition, int]:
        """The offsets between a group's commit and the end of each partition; without a commit, counted from 0.

        Raises:
            TopicMissingError: If one of the topics does not exist.
        """
        committed = await self.committed_offsets(group, topics)
        ends = await self.end_offsets(topics)
        return {partition: max(0, end - committed.get(partition, 0)) for partition, end in ends.items()}

    async def _partitions(self, topics: Collection[str]) -> list[TopicPartition]:
        admin, consumer = self._connected()
        counts = await partition_counts(admin, topics)
        missing = [topic for topic in topics if topic not in counts]
        if missing:
            raise TopicMissingError(f"missing at {self._kafka.bootstrap}: {', '.join(missing)}; run `varve topics create`")
        await learn_leaders(consumer, topics)
        return [TopicPartition(topic, number) for topic in topics for number in range(counts[topic])]

    def _connected(self) -> tuple[AIOKafkaAdminClient, AIOKafkaConsumer]:
        if self._admin is None or self._consumer is None:
            raise RuntimeError("KafkaOffsets is not started; use it as an async context manager")
        return self._admin, self._consumer


async def _group_offsets(
    admin: AIOKafkaAdminClient, group: str, coordinators: dict[str, int]
) -> Mapping[TopicPartition, OffsetAndMetadata]:
    """A group's offsets; waits while the broker still starts the group coordinator, as for its first group and after its restart.

    Args:
        admin: A connected client.
        group: The group.
        coordinators: The broker that coordinates each group, as far as known. A broker that fails is removed, and another one is asked for.
    """
    while True:
        known = coordinators.pop(group, None)
        try:
            coordinator = await admin.find_coordinator(group) if known is None else known
            # aiokafka's own method ignores the error of the response: a group whose offsets are being loaded would have none.
            response = await admin._send_request(OffsetFetchRequest(group, None), coordinator)  # noqa: SLF001
            if response.error_code:
                raise for_code(response.error_code)(f"the offsets of group {group}")
        except (CoordinatorNotAvailableError, CoordinatorLoadInProgressError, NotCoordinatorError):
            await asyncio.sleep(_BACKOFF_S)
        except KafkaError:
            if known is None:
                raise
        else:
            coordinators[group] = coordinator
            return _offsets_of(response)


def _offsets_of(response: Any) -> dict[TopicPartition, OffsetAndMetadata]:
    found = {}
    for topic, partitions in response.topics:
        for partition, offset, metadata, error in partitions:
            if error:
                raise for_code(error)(f"the offset of {topic}/{partition}")
            found[TopicPartition(topic, partition)] = OffsetAndMetadata(offset, metadata)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The records of a partition that the group has not committed; at least one."""

    oldest: OffsetAndTimestamp
    kept_ms: int | None
    """Retention of the topic, or of the tombstones of a compacted topic; None: unlimited."""

    def age_s(self, now_ms: int) -> float:
        """Age of the oldest record, in seconds."""
        return max(0, now_ms - self.oldest.written_ms) / 1000

    def left_s(self, now_ms: int) -> float | None:
        """The seconds until the log may delete the oldest record, negative if it already may; None if it never does.

        Kafka deletes whole segments, so it usually keeps a record longer.
        """
        return None if self.kept_ms is None else (self.oldest.written_ms + self.kept_ms - now_ms) / 1000


async def read_backlogs(group: str, topic: str, offsets: KafkaOffsets) -> Mapping[TopicPartition, Backlog]:
    """The backlogs of a group in a topic, without partitions that have none.

    Args:
        group: The consumer group. If it has committed nothing in a partition, the whole partition is its backlog.
        topic: The topic's name on the broker.
        offsets: A started reader of offsets.
    """
    ends = await offsets.end_offsets([topic])
    committed = await offsets.committed_offsets(group, [topic])
    lagging = {partition: committed.get(partition, 0) for partition, end in ends.items() if committed.get(partition, 0) < end}
    if not lagging:
        return {}
    kept_ms = await offsets.kept_ms(topic)
    return {partition: Backlog(oldest=stamp, kept_ms=kept_ms) for partition, stamp in (await offsets.stamps(lagging)).items()}
