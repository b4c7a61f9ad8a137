"""Reads the current content of topics, from beginning to end."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, Self

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from runtime.errors import TopicMissingError
from runtime.kafka.client import (
    admin_over,
    disconnect,
    high_watermarks,
    kafka_faults,
    learn_leaders,
    open_consumer,
    partition_counts,
)
from runtime.pieces import PIECE_S, Yielder
from runtime.settings import KafkaSettings

POLL_MS: Final = 500


class TopicReader:
    """Reads topics one after another with one Kafka client. Use it as an async context manager."""

    def __init__(self, *, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._consumer: AIOKafkaConsumer | None = None

    async def __aenter__(self) -> Self:
        with kafka_faults("connecting to read topics", self._kafka):
            self._consumer = await open_consumer(self._kafka, auto_offset_reset="earliest", isolation_level="read_committed")
        return self

    async def __aexit__(self, *_: object) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await disconnect(consumer)

    async def records(
        self, topic: str, *, start: Mapping[TopicPartition, int] | None = None
    ) -> AsyncGenerator[ConsumerRecord[bytes | None, bytes | None], None]:
        """See :func:`read_topic`. Only one topic may be read at a time; a caller may leave a topic before its end."""
        consumer = self._consumer
        if consumer is None:
            raise RuntimeError("TopicReader is not started; use it as an async context manager")
        with kafka_faults(f"reading {topic}", self._kafka):
            newest = await high_watermarks(consumer, await self._partitions(consumer, topic))
            begins = dict.fromkeys(newest, 0) if start is None else start
            ends = {partition: newest[partition] for partition, begin in begins.items() if newest[partition] > begin}
            if not ends:
                return
            consumer.assign(list(ends))
            for partition in ends:
                # `auto_offset_reset` corrects an offset that was already deleted.
                consumer.seek(partition, begins[partition])
        unread, yielder = set(ends), Yielder(piece_s=PIECE_S)
        try:
            while unread:
                with kafka_faults(f"reading {topic}", self._kafka):
                    fetched = await consumer.getmany(*unread, timeout_ms=POLL_MS)
                    read = {partition for partition in unread if await consumer.position(partition) >= ends[partition]}
                # At once: a further fetch would wait at the log's end, and the broker answers a connection's requests one after another.
                consumer.pause(*read)
                unread -= read
                for partition, records in fetched.items():
                    for record in records:
                        if yielder.is_due:
                            await yielder.maybe_yield()
                        if record.offset < ends[partition]:
                            yield record
        finally:
            consumer.pause(*unread)

    async def _partitions(self, consumer: AIOKafkaConsumer, topic: str) -> list[TopicPartition]:
        counts = await partition_counts(admin_over(consumer, self._kafka), [topic])
        if topic not in counts:
            raise TopicMissingError(f"missing at {self._kafka.bootstrap}: {topic}; run `varve topics create`")
        await learn_leaders(consumer, [topic])
        return [TopicPartition(topic, number) for number in range(counts[topic])]


async def read_topic(
    topic: str, kafka: KafkaSettings, *, start: Mapping[TopicPartition, int] | None = None
) -> AsyncGenerator[ConsumerRecord[bytes | None, bytes | None], None]:
    """Every committed record of a topic up to its end at the time of the call, in order within a partition.

    The reader compares positions with the end, because transaction markers and aborted records use offsets, too. It waits for open
    transactions, at most until the broker ends them.

    Other tasks run between two records if their handling takes long: the service's jobs read whole topics next to its requests.

    Args:
        topic: The topic's name on the broker, with prefix.
        kafka: Kafka's settings.
        start: The partitions to read, with their first offsets. Default: all partitions from their beginnings.

    Raises:
        TopicMissingError: If the topic does not exist.
        KafkaUnavailableError: If no broker answers.
    """
    async with TopicReader(kafka=kafka) as reader, aclosing(reader.records(topic, start=start)) as records:
        async for record in records:
            yield record
