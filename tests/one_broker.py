"""The one broker of the tests, on a machine that may stop for seconds: its settings, and how much is written to it."""

from typing import Any, Final

from runtime.kafka import KafkaOffsets
from runtime.settings import KafkaSettings, Settings

SESSION_TIMEOUT_S: Final = 20.0


def one_broker(**values: Any) -> KafkaSettings:
    """Settings whose topics have one replica, and whose workers keep their partitions if the machine stops for seconds.

    Args:
        values: The other settings, as :class:`KafkaSettings` takes them.
    """
    return KafkaSettings(**{"replication_factor": 1, "min_insync_replicas": 1, "session_timeout_s": SESSION_TIMEOUT_S, **values})


async def records_written(settings: Settings, topic: str) -> int:
    """Number of records that were ever written to a topic; of transactions, their markers too."""
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        return sum((await offsets.end_offsets([settings.topic(topic)])).values())
