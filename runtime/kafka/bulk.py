"""Reads and writes large parts of topics: records keep their timestamps, and offsets can be raised."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Final, Self

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from runtime.errors import KafkaUnavailableError
from runtime.kafka.client import client_options, connect, disconnect, kafka_faults
from runtime.kafka.producer import OutgoingRecord
from runtime.kafka.producer_connection import ProducerConnection
from runtime.settings import KafkaSettings

_FETCH_BYTES: Final = 8 * 1024 * 1024
_BATCH_BYTES: Final = 512 * 1024
_POLL_MS: Final = 500
_PENDING: Final = 64
"""Batches on their way to the broker."""
_CLOSE_S: Final = 5.0


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
        self._connection = ProducerConnection(
            kafka=kafka,
            close_timeout_s=_CLOSE_S,
            max_batch_size=min(_BATCH_BYTES, kafka.max_message_bytes),
            max_request_size=2**31 - 1,
        )
        self._producer: AIOKafkaProducer | None = None
        self._batches: dict[TopicPartition, Any] = {}
        self._pending: set[asyncio.Future[Any]] = set()
        self._ends: defaultdict[TopicPartition, int] = defaultdict(int)

    async def __aenter__(self) -> Self:
        self._producer = await self._connection.producer()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._connection.close()

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
