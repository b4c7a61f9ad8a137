"""Settings of a Kafka that is one broker, as the tests' is."""

from typing import Any

from runtime.settings import KafkaSettings


def one_broker(**values: Any) -> KafkaSettings:
    """Settings whose topics have one replica.

    Args:
        values: The other settings, as :class:`KafkaSettings` takes them.
    """
    return KafkaSettings(replication_factor=1, min_insync_replicas=1, **values)
