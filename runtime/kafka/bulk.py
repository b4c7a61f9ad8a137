"""Reads and writes large parts of topics: records keep their timestamps, and offsets can be raised."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from types import TracebackType
from typing import Any, Final, Self

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import UnknownTopicOrPartitionError, for_code

from runtime.errors import KafkaUnavailableError
from runtime.kafka.client import admin_client, all_partition_counts, client_options, connect, disconnect, kafka_faults, partition_counts
from runtime.kafka.producer import OutgoingRecord, close_producer
from runtime.settings import KafkaSettings

_FETCH_BYTES: Final = 8 * 1024 * 1024
_BATCH_BYTES: Final = 512 * 1024
_POLL_MS: Final = 500
_PENDING: Final = 64
"""Batches on their way to the broker."""
_CLOSE_S: Final = 5.0
_POLL_S: Final = 0.05


async def read_range(
    partition: TopicPartition, kafka: KafkaSettings, *, begin: int, end: int
) -> AsyncGenerator[Sequence[ConsumerRecord[bytes | None, bytes | None]], None]:
    """The committed records of a partition from one offset to before another, in groups.

    Args:
        partition: The partition.
        kafka: Kafka's settings.
        begin: The first offset; a deleted one counts as the log's beginning.
        end: The offset after the last record.
    """
    if begin >= end:
        return
    consumer = AIOKafkaConsumer(
        **client_options(kafka),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        max_partition_fetch_bytes=_FETCH_BYTES,
    )
    what = f"reading {partition.topic}/{partition.partition}"
    try:
        with kafka_faults(what, kafka):
            await connect(consumer)
            consumer.assign([partition])
            consumer.seek(partition, begin)
        while True:
            with kafka_faults(what, kafka):
                if await consumer.position(partition) >= end:
                    return
                fetched = (await consumer.getmany(partition, timeout_ms=_POLL_MS)).get(partition, [])
            if records := [each for each in fetched if each.offset < end]:
                yield records
    finally:
        await disconnect(consumer)


class BulkWriter:
    """Appends many records, each to its partition, with its own timestamp. Use it as an async context manager.

    Only one writer may append to the topics, and they must be empty at its start: then it knows the offset of each record.
    """

    def __init__(self, *, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._producer: AIOKafkaProducer | None = None
        self._batches: dict[TopicPartition, Any] = {}
        self._pending: set[asyncio.Future[Any]] = set()
        self._ends: defaultdict[TopicPartition, int] = defaultdict(int)

    async def __aenter__(self) -> Self:
        with kafka_faults("connecting a producer", self._kafka):
            producer = AIOKafkaProducer(
                **client_options(self._kafka),
                acks="all",
                enable_idempotence=True,
                compression_type=None if self._kafka.compression == "none" else self._kafka.compression,
                max_batch_size=min(_BATCH_BYTES, self._kafka.max_message_bytes),
                max_request_size=2**31 - 1,
            )
            try:
                await connect(producer)
            except BaseException:
                await producer.stop()
                raise
        self._producer = producer
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._producer is not None:
            await close_producer(self._producer, within_s=_CLOSE_S)

    def end(self, partition: TopicPartition) -> int:
        """The offset of the next record of a partition."""
        return self._ends[partition]

    async def add(self, record: OutgoingRecord, *, timestamp_ms: int) -> int:
        """Appends a record to its partition, durable after :meth:`flush`.

        Returns:
            Its offset.
        """
        assert self._producer is not None
        assert record.partition is not None
        partition = TopicPartition(record.topic, record.partition)
        fields = {"key": record.key, "value": record.value, "headers": list(record.headers), "timestamp": timestamp_ms}
        batch = self._batches.get(partition)
        if batch is None or batch.append(**fields) is None:
            if batch is not None:
                await self._send(partition)
            batch = self._batches[partition] = self._producer.create_batch()
            if batch.append(**fields) is None:
                raise KafkaUnavailableError(f"a record of {record.size} bytes does not fit into a batch for {record.topic}")
        self._ends[partition] += 1
        return self._ends[partition] - 1

    async def pad(self, partition: TopicPartition, offset: int, *, key: bytes, timestamp_ms: int) -> int:
        """Appends records without a value until the next record of a partition has at least an offset.

        Args:
            partition: The partition.
            offset: The lowest offset of the next record.
            key: The key of the appended records.
            timestamp_ms: Their timestamp.

        Returns:
            The number of appended records.
        """
        count = max(0, offset - self._ends[partition])
        record = OutgoingRecord(partition.topic, key, None, partition=partition.partition)
        for _ in range(count):
            await self.add(record, timestamp_ms=timestamp_ms)
        return count

    async def flush(self) -> None:
        """Returns when everything is durable.

        Raises:
            KafkaUnavailableError: If the broker does not accept it.
        """
        for partition in list(self._batches):
            await self._send(partition)
        await self._settle(0)

    async def _send(self, partition: TopicPartition) -> None:
        assert self._producer is not None
        batch = self._batches.pop(partition)
        batch.close()
        with kafka_faults(f"producing to {partition.topic}", self._kafka):
            self._pending.add(await self._producer.send_batch(batch, partition.topic, partition=partition.partition))
        await self._settle(_PENDING)

    async def _settle(self, most: int) -> None:
        while len(self._pending) > most:
            with kafka_faults("producing", self._kafka):
                done, self._pending = await asyncio.wait(self._pending, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    each.result()


async def delete_topics(names: Sequence[str], kafka: KafkaSettings) -> tuple[str, ...]:
    """Deletes the existing topics among some, and waits until the broker lists none of them.

    Returns:
        The names of the deleted topics.
    """
    async with admin_client(kafka) as client, asyncio.timeout(kafka.request_timeout_s):
        there = await partition_counts(client, names)
        found = [name for name in names if name in there]
        if found:
            response = await client.delete_topics(found)
            for topic, code, *_ in response.topic_error_codes:
                if code and for_code(code) is not UnknownTopicOrPartitionError:
                    raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} refuses to delete {topic}: {for_code(code).__name__}")
        while any(name in there for name in found):
            await asyncio.sleep(_POLL_S)
            there = await partition_counts(client, names)
    return tuple(found)


async def topic_partitions(kafka: KafkaSettings) -> dict[str, int]:
    """The number of partitions of every topic on the broker."""
    async with admin_client(kafka) as client, asyncio.timeout(kafka.request_timeout_s):
        return await all_partition_counts(client)


async def set_topic_config(name: str, config: dict[str, str], kafka: KafkaSettings) -> None:
    """Replaces the configuration of a topic.

    Args:
        name: The topic's name on the broker.
        config: All its settings that differ from the broker's defaults.
        kafka: Kafka's settings.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses.
    """
    async with admin_client(kafka) as client, asyncio.timeout(kafka.request_timeout_s):
        for response in await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, configs=config)]):
            for code, message, *_ in response.resources:
                if code:
                    raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} refuses the configuration of {name}: {message}")
