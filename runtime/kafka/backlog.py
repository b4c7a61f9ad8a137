"""Backlog of a consumer group in a partition: its age, and the time until the log may delete it."""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.kafka.offsets import KafkaOffsets, OffsetAndTimestamp, TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The records of a partition that the group has not committed; at least one."""

    oldest: OffsetAndTimestamp
    kept_ms: int | None
    """Retention of the topic, or of the tombstones of a compacted topic; None: unlimited."""

    def age_s(self, now_ms: int) -> float:
        """Age of the oldest record, in seconds.

        Args:
            now_ms: Milliseconds since the epoch.
        """
        return max(0, now_ms - self.oldest.written_ms) / 1000

    def left_s(self, now_ms: int) -> float | None:
        """The seconds until the log may delete the oldest record, negative if it already may; None if it never does.

        Kafka deletes whole segments, so it usually keeps a record longer.

        Args:
            now_ms: Milliseconds since the epoch.
        """
        return None if self.kept_ms is None else (self.oldest.written_ms + self.kept_ms - now_ms) / 1000


async def read_backlogs(group: str, topic: str, offsets: KafkaOffsets) -> Mapping[TopicPartition, Backlog]:
    """The backlogs of a group in a topic, without partitions that have none.

    Args:
        group: The consumer group. If it has committed nothing in a partition, the whole partition is its backlog.
        topic: The topic's name on the broker.
        offsets: A started reader of offsets.

    Raises:
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If there is no such topic.
    """
    ends = await offsets.end_offsets([topic])
    committed = await offsets.committed_offsets(group, [topic])
    behind = {partition: committed.get(partition, 0) for partition, end in ends.items() if committed.get(partition, 0) < end}
    if not behind:
        return {}
    kept_ms = await offsets.kept_ms(topic)
    return {partition: Backlog(oldest=stamp, kept_ms=kept_ms) for partition, stamp in (await offsets.stamps(behind)).items()}
