"""The Faust app of one stage, with the settings that proved right (ADR 4)."""

import logging
from pathlib import Path
from typing import Final

import faust
from aiokafka.helpers import create_ssl_context

from memory.topics import COMPACTION_LAG_MS, DAY_MS
from runtime.settings import KafkaSettings, Settings
from streams.engine.faust.consumer import App

_POLL_INTERVAL_S: Final = 30 * 24 * 3600.0
"""A worker whose stage waits for what is away fetches nothing, however long that takes. By default aiokafka would leave the group then,
and Faust, its flow stopped, would never join it again. Whether the worker lives is for :class:`WriteLease` to say."""
_METADATA_AGE_MS: Final = 10_000
"""A broker that has just started may not know its topics yet. A group that is formed at that moment assigns nothing until its leader
refreshes its metadata: after five minutes by default."""

_SEGMENT_BYTES: Final = 64 * 1024 * 1024
"""Of a changelog. What is dead in the newest segment is not compacted away, and every recovery reads it."""


def build_app(*, group: str, settings: Settings, data: Path) -> App:
    """A Faust app that only assigns and reads; everything else the delivery layer does itself.

    Args:
        group: The consumer group, which is also the app's id.
        settings: Where Kafka is, its time-outs, and how much may be fetched ahead.
        data: The folder of this worker, its own.
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
        broker_commit_interval=0.5,
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
        topic_allow_declare=True,
        topic_disable_leader=True,
        topic_partitions=kafka.partitions,
        topic_replication_factor=kafka.replication_factor,
        web_enabled=False,
    )


def source_topic(app: faust.App, name: str) -> faust.TopicT:
    """A source topic, read as bytes: decoding is the stage's, where an error loses nothing (ADR 4, D)."""
    return app.topic(name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw", allow_empty=True)


def changelog_config(kafka: KafkaSettings) -> dict[str, str]:
    """A changelog's configuration in Kafka's own words."""
    return {
        "cleanup.policy": "compact",
        # A worker's table that was away for longer would keep rows that were deleted meanwhile.
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
