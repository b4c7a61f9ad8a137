"""Creates Varve's topics and checks that they are there: Faust is never assigned a topic that it did not find at its start."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import InvalidReplicationFactorError, TopicAlreadyExistsError, for_code

from memory.topics import ALL, DEAD_LETTERS, MEMORIES, TopicSpec, topic_name
from runtime.errors import KafkaUnavailableError, TopicMissingError
from runtime.kafka.client import admin_client, partition_counts
from runtime.settings import KafkaSettings, Settings

DEAD_LETTER_HEADROOM_BYTES: Final = 65_536
"""What a dead letter's own headers may add to the largest record; the smallest letters fit into this alone."""

_ONE_BROKER: Final = (
    "; where one broker is meant to be all there is, say so by VARVE_KAFKA__REPLICATION_FACTOR=1 and VARVE_KAFKA__MIN_INSYNC_REPLICAS=1"
)

_POLL_S: Final = 0.05


def largest_record_bytes(topic: str, kafka: KafkaSettings) -> int:
    """The largest :attr:`runtime.kafka.OutgoingRecord.size` that a topic takes, by its name on the broker; compressed, more may fit."""
    headroom = DEAD_LETTER_HEADROOM_BYTES if topic == topic_name(DEAD_LETTERS, kafka.topic_prefix) else 0
    return kafka.max_message_bytes + headroom


def broker_config(spec: TopicSpec, kafka: KafkaSettings) -> dict[str, str]:
    """A topic's configuration in Kafka's own words."""
    return {
        "cleanup.policy": spec.cleanup,
        "retention.ms": str(spec.retention_ms),
        "min.insync.replicas": str(kafka.min_insync_replicas),
        "max.message.bytes": str(largest_record_bytes(topic_name(spec, kafka.topic_prefix), kafka)),
        **({"delete.retention.ms": str(int(kafka.tombstone_retention_s * 1000))} if spec == MEMORIES else {}),
        **spec.config,
    }


async def create_topics(settings: Settings) -> tuple[str, ...]:
    """Creates the topics that are missing, and waits until the broker shows them.

    Each has ``kafka.partitions`` partitions, unless it has a number of its own.

    A topic that exists is left as it is.

    Returns:
        The names on the broker of the topics created; empty when all were there.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses; says why.
        TopicMissingError: If a topic that was there has another number of partitions than its neighbours.
    """
    kafka = settings.kafka
    async with admin_client(kafka) as client:
        there = await partition_counts(client)
        missing = [spec for spec in ALL if topic_name(spec, kafka.topic_prefix) not in there]
        created = await _create(client, [_new_topic(spec, kafka) for spec in missing], kafka)
        _common_partition_count(await partition_counts(client), kafka)
    return created


async def create_topic(name: str, *, config: Mapping[str, str], kafka: KafkaSettings) -> None:
    """Creates one topic with ``kafka.partitions`` partitions, where it is missing, and waits until the broker shows it.

    Args:
        name: The name on the broker, with prefix.
        config: Its configuration in Kafka's own words.
        kafka: Where to.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses; says why.
    """
    async with admin_client(kafka) as client:
        if name not in await partition_counts(client):
            new = NewTopic(
                name=name, num_partitions=kafka.partitions, replication_factor=kafka.replication_factor, topic_configs=dict(config)
            )
            await _create(client, [new], kafka)


async def check_topics(settings: Settings) -> int:
    """Checks that every topic is there, and all with the same number of partitions, as the stages' tables need it.

    Returns:
        That number of partitions.

    Raises:
        KafkaUnavailableError: If the broker does not answer.
        TopicMissingError: If a topic is missing or has another number of partitions than its neighbours; names it.
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
            f"the topics at {kafka.bootstrap} have different numbers of partitions ({shown}); "
            "create the odd ones again with the number of the others"
        )
    return counts.pop()
