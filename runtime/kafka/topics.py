"""Creates and checks Varve's topics, and deletes the beginnings of their logs.

Faust is never assigned a topic that is missing at its start.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.records_to_delete import RecordsToDelete
from aiokafka.errors import InvalidReplicationFactorError, TopicAlreadyExistsError, for_code

from memory.topics import ALL, DEAD_LETTERS, MEMORIES, TopicSpec, topic_name
from runtime.errors import KafkaUnavailableError, TopicMissingError
from runtime.kafka.client import admin_client, partition_counts
from runtime.settings import KafkaSettings, Settings

DEAD_LETTER_HEADROOM_BYTES: Final = 65_536
"""Bytes that a dead letter's headers may add to the largest record; also enough for a small letter as a whole."""

_ONE_BROKER: Final = "; for a single broker, set VARVE_KAFKA__REPLICATION_FACTOR=1 and VARVE_KAFKA__MIN_INSYNC_REPLICAS=1"

_POLL_S: Final = 0.05


def largest_record_bytes(topic: str, kafka: KafkaSettings) -> int:
    """Limit for :attr:`runtime.kafka.OutgoingRecord.size` in a topic, by its name on the broker; compressed records may be larger."""
    headroom = DEAD_LETTER_HEADROOM_BYTES if topic == topic_name(DEAD_LETTERS, kafka.topic_prefix) else 0
    return kafka.max_message_bytes + headroom


def broker_config(spec: TopicSpec, kafka: KafkaSettings) -> dict[str, str]:
    """A topic's configuration as Kafka's settings."""
    return {
        "cleanup.policy": spec.cleanup,
        "retention.ms": str(spec.retention_ms),
        "min.insync.replicas": str(kafka.min_insync_replicas),
        "max.message.bytes": str(largest_record_bytes(topic_name(spec, kafka.topic_prefix), kafka)),
        **({"delete.retention.ms": str(int(kafka.tombstone_retention_s * 1000))} if spec == MEMORIES else {}),
        **spec.config,
    }


async def create_topics(settings: Settings) -> tuple[str, ...]:
    """Creates the missing topics and waits until the broker lists them. Existing topics are not changed.

    Each has ``kafka.partitions`` partitions, unless its specification has another number.

    Returns:
        The names of the created topics on the broker.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses.
        TopicMissingError: If an existing topic's number of partitions differs from the others.
    """
    kafka = settings.kafka
    async with admin_client(kafka) as client:
        there = await partition_counts(client)
        missing = [spec for spec in ALL if topic_name(spec, kafka.topic_prefix) not in there]
        created = await _create(client, [_new_topic(spec, kafka) for spec in missing], kafka)
        _common_partition_count(await partition_counts(client), kafka)
    return created


async def create_topic(name: str, *, config: Mapping[str, str], kafka: KafkaSettings) -> None:
    """Creates one topic with ``kafka.partitions`` partitions, if it is missing, and waits until the broker lists it.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses.
    """
    async with admin_client(kafka) as client:
        if name not in await partition_counts(client):
            new = NewTopic(
                name=name, num_partitions=kafka.partitions, replication_factor=kafka.replication_factor, topic_configs=dict(config)
            )
            await _create(client, [new], kafka)


async def check_topics(settings: Settings) -> int:
    """Checks that every topic exists, and that all have the same number of partitions, which the stages' tables require.

    Returns:
        The number of partitions.

    Raises:
        KafkaUnavailableError: If the broker does not answer.
        TopicMissingError: If a topic is missing or if its number of partitions differs from the others; names it.
    """
    async with admin_client(settings.kafka) as client:
        return _common_partition_count(await partition_counts(client), settings.kafka)


async def _create(client: AIOKafkaAdminClient, topics: Sequence[NewTopic], kafka: KafkaSettings) -> tuple[str, ...]:
    if not topics:
        return ()
    response = await client.create_topics(list(topics))
    for topic, code, *message in response.topic_errors:
        if code and for_code(code) is not TopicAlreadyExistsError:
            why = message[0] if message and message[0] else for_code(code).__name__
            hint = _ONE_BROKER if for_code(code) is InvalidReplicationFactorError else ""
            raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} refuses to create {topic}: {why}{hint}")
    created = tuple(topic.name for topic in topics)
    there = await partition_counts(client)
    async with asyncio.timeout(kafka.request_timeout_s):
        while not set(created) <= set(there):
            await asyncio.sleep(_POLL_S)
            there = await partition_counts(client)
    return created


def _new_topic(spec: TopicSpec, kafka: KafkaSettings) -> NewTopic:
    return NewTopic(
        name=topic_name(spec, kafka.topic_prefix),
        num_partitions=spec.partitions or kafka.partitions,
        replication_factor=kafka.replication_factor,
        topic_configs=broker_config(spec, kafka),
    )


def _common_partition_count(there: Mapping[str, int], kafka: KafkaSettings) -> int:
    names = [topic_name(spec, kafka.topic_prefix) for spec in ALL]
    missing = [name for name in names if name not in there]
    if missing:
        raise TopicMissingError(f"missing at {kafka.bootstrap}: {', '.join(missing)}; run `varve topics create`")
    names = [topic_name(spec, kafka.topic_prefix) for spec in ALL if spec.partitions is None]
    counts = {there[name] for name in names}
    if len(counts) > 1:
        shown = ", ".join(f"{name}: {there[name]}" for name in names)
        raise TopicMissingError(
            f"the topics at {kafka.bootstrap} have different numbers of partitions ({shown}); recreate the topics that differ"
        )
    return counts.pop()


async def delete_before(bounds: Mapping[TopicPartition, int], kafka: KafkaSettings) -> None:
    """Permanently deletes the records before an offset of each partition; idempotent.

    Args:
        bounds: The new first offset of each partition.
        kafka: Kafka's settings.

    Raises:
        KafkaUnavailableError: If no broker answers, or the broker refuses.
    """
    if bounds:
        async with admin_client(kafka) as admin:
            await admin.delete_records({partition: RecordsToDelete(bound) for partition, bound in bounds.items()})
