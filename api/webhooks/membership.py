"""The time that a process may stall before Kafka gives its partitions to others: one rule for the consumer groups of webhooks."""

import time
from typing import Any, Final

from runtime.settings import KafkaSettings

_HEARTBEATS: Final = 3
"""Heartbeats in the time after which Kafka takes the partitions of a silent process away."""


def session_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Arguments of a consumer: the time-out of its session, and the interval of its heartbeats."""
    session_ms = kafka.session_timeout_s * 1000
    return {"session_timeout_ms": int(session_ms), "heartbeat_interval_ms": int(session_ms / _HEARTBEATS)}


def may_be_lost(since: float, kafka: KafkaSettings) -> bool:
    """Whether a process that did nothing since a moment may have lost its partitions.

    The session's time runs from the last heartbeat, which may have been one interval earlier.

    Args:
        since: The moment, as ``time.monotonic`` gives it.
        kafka: The time-out of a session.
    """
    return time.monotonic() - since > kafka.session_timeout_s / 2
