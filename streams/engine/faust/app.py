"""The Faust app of one stage, with the settings of ADR 4."""

import logging
from pathlib import Path
from typing import Final

import faust
from aiokafka.helpers import create_ssl_context

from memory.topics import COMPACTION_LAG_MS, DAY_MS
from runtime.settings import KafkaSettings, Settings
from streams.engine.faust.consumer import App

_POLL_INTERVAL_S: Final = 30 * 24 * 3600.0
"""A worker whose stage waits for a dependency fetches nothing, for however long. By default aiokafka would then leave the group, and
Faust, whose flow is stopped, would never rejoin. :class:`WriteLease` checks whether the worker is alive."""
_COMMIT_INTERVAL_S: Final = 3600.0
"""Faust has nothing to commit: the engine's transactions commit the offsets. Each look would only cost computing time."""
_METADATA_AGE_MS: Final = 10_000
"""A broker that has just started may not know its topics yet. A group formed at that moment assigns nothing until its leader
refreshes its metadata: after five minutes by default."""

_SEGMENT_BYTES: Final = 64 * 1024 * 1024
"""Segment size of a changelog. Compaction skips the newest segment, and every recovery reads it."""


def build_app(*, group: str, settings: Settings, data: Path) -> App:
    """A Faust app that only assigns and reads; the engine does everything else.

    Args:
        group: The consumer group, which is also the app's id.
        settings: Kafka's address, timeouts and prefetch limits.
        data: This worker's own folder.
    """
    kafka = settings.kafka
    data.mkdir(parents=True, exist_ok=True)
    logging.getLogger("faust").setLevel(logging.WARNING)
    return App(
        group,
        max_fetched_bytes=settings.delivery.max_fetched_bytes,
        broker=[f"kafka://{server.strip()}" for server in kafka.bootstrap.split(",")],
        broker_credentials=_credentials(kafka),
        broker_session_timeout=kafka.session_timeout_s,
        broker_heartbeat_interval=kafka.heartbeat_s,
        broker_request_timeout=kafka.request_timeout_s,
        broker_commit_interval=_COMMIT_INTERVAL_S,
        broker_max_poll_interval=_POLL_INTERVAL_S,
        consumer_auto_offset_reset="none",
        consumer_group_instance_id=kafka.group_instance_id,
        consumer_metadata_max_age_ms=_METADATA_AGE_MS,
        datadir=str(data),
        key_serializer="raw",
        value_serializer="raw",
        producer_acks=-1,
        stream_buffer_maxsize=4096,
        stream_wait_empty=False,
        stream_recovery_delay=0.0,
        # The worker has checked its topics. To declare one, Faust would connect a producer.
        topic_allow_declare=False,
        topic_disable_leader=True,
        topic_partitions=kafka.partitions,
        topic_replication_factor=kafka.replication_factor,
        web_enabled=False,
    )


def source_topic(app: faust.App, name: str) -> faust.TopicT:
    """A source topic, read as bytes: the stage decodes them, so a decoding error loses no record (ADR 4, D)."""
    return app.topic(name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw", allow_empty=True)


def changelog_config(kafka: KafkaSettings) -> dict[str, str]:
    """Topic configuration of a changelog."""
    return {
        "cleanup.policy": "compact",
        # A worker whose table was offline for longer would keep rows that were deleted in the meantime.
        "delete.retention.ms": str(int(kafka.tombstone_retention_s * 1000)),
        "segment.bytes": str(_SEGMENT_BYTES),
        "segment.ms": str(DAY_MS),
        "max.compaction.lag.ms": str(COMPACTION_LAG_MS),
        "min.insync.replicas": str(kafka.min_insync_replicas),
        "max.message.bytes": str(kafka.max_message_bytes),
    }


def _credentials(kafka: KafkaSettings) -> faust.types.auth.CredentialsT | None:
    if kafka.security_protocol == "PLAINTEXT":
        return None
    context = create_ssl_context(cafile=kafka.ssl_cafile) if "SSL" in kafka.security_protocol.split("_") else None
    if kafka.security_protocol == "SSL":
        return faust.SSLCredentials(context)
    return faust.SASLCredentials(
        username=kafka.sasl_username,
        password=None if kafka.sasl_password is None else kafka.sasl_password.get_secret_value(),
        mechanism=kafka.sasl_mechanism,
        ssl_context=context,
    )
