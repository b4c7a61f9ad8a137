"""Reads the read audit: the recorded reads of one user's memories."""

from datetime import datetime
from heapq import nlargest

from memory.errors import RecordError
from memory.keys import encode_key, partition_of, unmarked_key
from memory.records import ReadRecord
from memory.topics import READS
from runtime.kafka import TopicPartition, read_topic
from runtime.settings import Settings


async def reads_of(settings: Settings, tenant: str, user: str, *, since: datetime | None = None, most: int = 1000) -> list[ReadRecord]:
    """The newest recorded reads of a user's memories, newest first. Reads the user's partition of the topic once.

    Args:
        settings: The settings in force.
        tenant: The tenant of the user.
        user: The user.
        since: Only reads at this time or later. Default: all.
        most: Most records.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If the topic is missing.
    """
    topic, key = settings.topic(READS.name), encode_key(tenant, user)
    home = TopicPartition(topic, partition_of(key, settings.kafka.partitions))
    standing: dict[bytes, ReadRecord] = {}
    async for record in read_topic(topic, settings.kafka, start={home: 0}):
        written = record.key or b""
        if unmarked_key(written) != key:
            continue
        standing.pop(written, None)
        if record.value is None:
            continue  # erased
        try:
            read = ReadRecord.from_json(record.value)
        except RecordError:
            continue  # not written by a query service
        if since is None or read.time >= since:
            standing[written] = read
    return nlargest(most, standing.values(), key=lambda each: each.time)
