"""Settings of a Kafka that is one broker, as the tests' is, on a machine that may stop for seconds."""

from typing import Any, Final

from runtime.settings import KafkaSettings

SESSION_TIMEOUT_S: Final = 20.0


def one_broker(**values: Any) -> KafkaSettings:
    """Settings whose topics have one replica, and whose workers keep their partitions if the machine stops for seconds.

    Args:
        values: The other settings, as :class:`KafkaSettings` takes them.
    """
    return KafkaSettings(**{"replication_factor": 1, "min_insync_replicas": 1, "session_timeout_s": SESSION_TIMEOUT_S, **values})
