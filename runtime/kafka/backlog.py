"""What a consumer group has still to do in one partition: how old it is, and when the log forgets it."""

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.kafka.offsets import KafkaOffsets, OffsetAndTimestamp, TopicPartition


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """The records of a partition that its group has not acknowledged; at least one."""

    oldest: OffsetAndTimestamp
    kept_ms: int | None
    """How long the topic keeps a record, or a compacted one its tombstones; None: for ever."""

    def age_s(self, now_ms: int) -> float:
        """How long ago the oldest record was written, in seconds.

        Args:
            now_ms: Milliseconds since the epoch.
        """
        return max(0, now_ms - self.oldest.written_ms) / 1000

    def left_s(self, now_ms: int) -> float | None:
        """The seconds until the log may delete the oldest record, below 0 where it may already; None: it never does.

        Kafka deletes whole segments, so it mostly keeps a record for longer.

        Args:
            now_ms: Milliseconds since the epoch.
        """
        return None if self.kept_ms is None else (self.oldest.written_ms + self.kept_ms - now_ms) / 1000


async def read_backlogs(group: str, topic: str, offsets: KafkaOffsets) -> Mapping[TopicPartition, Backlog]:
    """The backlogs of a group in a topic; partitions without one are left out.

    Args:
        group: The consumer group. Where it has committed nothing, all that the partition holds is still to do.
        topic: The name on the broker.
        offsets: Reads them; started.

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
