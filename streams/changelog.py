"""Empties a stage's table for all its workers, by writing a tombstone to its changelog for every row.

Deleting the changelog instead would not change the tables on other machines, and workers there would continue with rows that others
lack. Tombstones reach all of them, and compaction removes the rows.
"""

from runtime.errors import TopicMissingError
from runtime.kafka import OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.settings import KafkaSettings


async def empty_changelog(topic: str, *, kafka: KafkaSettings) -> int:
    """Writes a tombstone for every row that a changelog still has. Durable on return; idempotent.

    Args:
        topic: The changelog's name on the broker.
        kafka: The broker's settings.

    Returns:
        The number of rows; 0 if the stage has never run.

    Raises:
        KafkaUnavailableError: No broker responds.
    """
    rows: dict[tuple[TopicPartition, bytes], None] = {}
    try:
        async for record in read_topic(topic, kafka):
            row = (TopicPartition(topic, record.partition), record.key or b"")
            if record.value is None:
                rows.pop(row, None)
            else:
                rows[row] = None
    except TopicMissingError:
        return 0
    tombstones = [OutgoingRecord(topic=topic, key=key, value=None, partition=partition.partition) for partition, key in rows]
    async with Producer(kafka=kafka) as producer:
        await producer.send_in_batches(tombstones)
    return len(rows)
