"""Reads the timestamps of single records."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition

from runtime.kafka.client import UngroupedConsumer, kafka_faults
from runtime.settings import KafkaSettings

_FETCH_BYTES: Final = 16_384
"""Only the first record is read; a larger record is still returned whole."""
_POLL_MS: Final = 500


class OffsetAndTimestamp(NamedTuple):
    """Offset and timestamp of a record."""

    offset: int
    written_ms: int
    """Milliseconds since the epoch, by the clock of the producer or the broker (``message.timestamp.type``)."""


class StampReader:
    """Reads the timestamps of single records; connects at its first use."""

    def __init__(self, *, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._consumer = UngroupedConsumer(kafka=kafka, fetch_bytes=_FETCH_BYTES)

    async def stop(self) -> None:
        """Disconnects; may be called repeatedly."""
        await self._consumer.stop()

    async def read(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndTimestamp]:
        """The first record at or after an offset of each partition, without partitions that have none. Does not wait for transactions.

        Args:
            offsets: The offsets. If an offset is already deleted, the log's first record is used.

        Raises:
            KafkaUnavailableError: If no broker answers, or a record was deleted meanwhile.
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
        # The rest of a log may consist of transaction markers, which no fetch returns.
        unread -= {each for each in unread if each in found or await consumer.position(each) >= ends[each]}
    return found
