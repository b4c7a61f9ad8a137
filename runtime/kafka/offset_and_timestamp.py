"""When the records of a log were written."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition

from runtime.kafka.assigned_consumer import UngroupedConsumer
from runtime.kafka.client import kafka_faults
from runtime.settings import KafkaSettings

_FETCH_BYTES: Final = 16_384
"""Only a first record is looked at; a larger one still comes whole."""
_POLL_MS: Final = 500


class OffsetAndTimestamp(NamedTuple):
    """Which record of its partition one is, and when it was written."""

    offset: int
    written_ms: int
    """By the producer's clock, or the broker's where the topic says so: milliseconds since the epoch."""


class StampReader:
    """Asks a log when single records of it were written; connects by its first reading.

    Args:
        kafka: Where the records are.
    """

    def __init__(self, *, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._consumer = UngroupedConsumer(kafka=kafka, fetch_bytes=_FETCH_BYTES)

    async def stop(self) -> None:
        """Disconnects; harmless when repeated."""
        await self._consumer.stop()

    async def read(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndTimestamp]:
        """The first record of each partition at an offset or behind it; a partition that has none is left out. Waits for no transaction.

        Args:
            offsets: Where to look. Before a log's beginning its first record is meant.

        Raises:
            KafkaUnavailableError: If no broker answers, or a log lost meanwhile what was looked for.
        """
        if not offsets:
            return {}
        with kafka_faults("reading when records were written", self._kafka):
            async with self._consumer.reading() as consumer:
                begins = await consumer.beginning_offsets([*offsets])
                ends = await consumer.end_offsets([*offsets])
                starts = {each: max(offset, begins[each]) for each, offset in offsets.items()}
                try:
                    return await _first_records(consumer, {each: start for each, start in starts.items() if start < ends[each]}, ends)
                finally:
                    consumer.unsubscribe()


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
            found[partition] = OffsetAndTimestamp(records[0].offset, records[0].timestamp)
            consumer.pause(partition)
        # What is left of a log may be markers alone, which no fetch returns.
        unread -= {each for each in unread if each in found or await consumer.position(each) >= ends[each]}
    return found
