"""Reads the current content of a topic, from beginning to end."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import nullcontext
from typing import Final

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from runtime.kafka.client import client_options, connect, disconnect, kafka_faults
from runtime.kafka.offsets import KafkaOffsets
from runtime.pieces import PIECE_S, Yielder
from runtime.settings import KafkaSettings

POLL_MS: Final = 500


async def read_topic(
    topic: str, kafka: KafkaSettings, *, start: Mapping[TopicPartition, int] | None = None, offsets: KafkaOffsets | None = None
) -> AsyncGenerator[ConsumerRecord[bytes | None, bytes | None], None]:
    """Every committed record of a topic up to its end at the time of the call, in order within a partition.

    The reader compares positions with the end, because transaction markers and aborted records use offsets, too. It waits for open
    transactions, at most until the broker ends them.

    Other tasks run between two records if their handling takes long: the service's jobs read whole topics next to its requests.

    Args:
        topic: The topic's name on the broker, with prefix.
        kafka: Kafka's settings.
        start: The partitions to read, with their first offsets. Default: all partitions from their beginnings.
        offsets: A started reader of offsets, for callers that read many topics: its start costs more than reading a short topic. Default:
            the call starts one of its own.
    """
    async with nullcontext(offsets) if offsets is not None else KafkaOffsets(kafka=kafka) as connected:
        end_offsets = await connected.end_offsets([topic])
    begins = dict.fromkeys(end_offsets, 0) if start is None else start
    ends = {partition: end_offsets[partition] for partition, begin in begins.items() if end_offsets[partition] > begin}
    if not ends:
        return
    consumer = AIOKafkaConsumer(
        **client_options(kafka), enable_auto_commit=False, auto_offset_reset="earliest", isolation_level="read_committed"
    )
    try:
        with kafka_faults(f"reading {topic}", kafka):
            await connect(consumer)
            consumer.assign(list(ends))
            for partition in ends:
                # `auto_offset_reset` corrects an offset that was already deleted.
                consumer.seek(partition, begins[partition])
        unread, yielder = set(ends), Yielder(piece_s=PIECE_S)
        while unread:
            with kafka_faults(f"reading {topic}", kafka):
                fetched = await consumer.getmany(*unread, timeout_ms=POLL_MS)
            for partition, records in fetched.items():
                for record in records:
                    if yielder.is_due:
                        await yielder.maybe_yield()
                    if record.offset < ends[partition]:
                        yield record
            with kafka_faults(f"reading {topic}", kafka):
                unread = {partition for partition in unread if await consumer.position(partition) < ends[partition]}
    finally:
        await disconnect(consumer)
