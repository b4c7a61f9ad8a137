"""Creates, checks and deletes topics, and deletes the beginnings of their logs.

Faust is never assigned a topic that is missing at its start.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.admin.records_to_delete import RecordsToDelete
from aiokafka.errors import InvalidReplicationFactorError, TopicAlreadyExistsError, UnknownTopicOrPartitionError, for_code

from memory.topics import ALL, CONTROL, DEAD_LETTERS, MEMORIES, MESSAGES, TopicSpec, topic_name
from runtime.errors import KafkaUnavailableError, TopicConfigError, TopicMissingError
from runtime.kafka.client import admin_client, all_brokers_list, all_partition_counts, described_topics, partition_counts
from runtime.settings import KafkaSettings, Settings

DEAD_LETTER_HEADROOM_BYTES: Final = 65_536
"""Bytes that a dead letter's headers may add to the largest record; also enough for a small letter as a whole."""

_ONE_BROKER: Final = "; for a single broker, set VARVE_KAFKA__REPLICATION_FACTOR=1 and VARVE_KAFKA__MIN_INSYNC_REPLICAS=1"

_POLL_S: Final = 0.05

_FOR_EVER: Final = -1
_AT_LEAST: Final = ("delete.retention.ms", "min.insync.replicas")
_CHECKED: Final = dict.fromkeys(("cleanup.policy", "retention.ms", "retention.bytes", *_AT_LEAST))
"""The settings that :func:`topic_configs` reads; a topic has dozens."""
_BROKERS_OWN: Final = ("__consumer_offsets", "__transaction_state")
"""Topics of group offsets and of transactions. The broker creates them at their first use; not every user may see them."""
_MANY: Final = 1 << 15


def largest_record_bytes(topic: str, kafka: KafkaSettings) -> int:
    """Limit for :attr:`runtime.kafka.OutgoingRecord.size` in a topic, by its name on the broker; compressed records may be larger."""
    headroom = DEAD_LETTER_HEADROOM_BYTES if topic == kafka.topic(DEAD_LETTERS) else 0
    return kafka.max_message_bytes + headroom


def broker_config(spec: TopicSpec, kafka: KafkaSettings) -> dict[str, str]:
    """A topic's configuration as Kafka's settings."""
    return {
        "cleanup.policy": spec.cleanup,
        "retention.ms": str(spec.retention_ms),
        "min.insync.replicas": str(kafka.min_insync_replicas),
        "max.message.bytes": str(largest_record_bytes(kafka.topic(spec), kafka)),
        **({"delete.retention.ms": str(int(kafka.tombstone_retention_s * 1000))} if spec == MEMORIES else {}),
        **spec.config,
    }


async def create_topics(settings: Settings) -> tuple[str, ...]:
    """Creates the missing topics and waits until all brokers list them. Existing topics are not changed.

    Each has ``kafka.partitions`` partitions, unless its specification has another number.

    Returns:
        The names of the created topics on the broker.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses.
        TopicMissingError: If an existing topic's number of partitions differs from the others, or the installation has grown and the
            settings are the former ones.
    """
    kafka = settings.kafka
    async with admin_client(kafka) as client:
        names = [kafka.topic(spec) for spec in ALL]
        there = await partition_counts(client, names)
        if there and not any(kafka.topic(spec) in there for spec in ALL if spec.partitions is None):
            _require_not_grown(await all_partition_counts(client), kafka)
        missing = [spec for spec in ALL if kafka.topic(spec) not in there]
        created = await _create(client, [_new_topic(spec, kafka) for spec in missing], kafka)
        _common_partition_count(await partition_counts(client, names), kafka)
    return created


def _require_not_grown(there: Mapping[str, int], kafka: KafkaSettings) -> None:
    """Refuses to begin an installation again whose topics have grown: they have another prefix, and no control log of their own."""
    stem = re.escape(re.sub(r"\d*\.$", "", kafka.topic_prefix))
    grown = re.compile(rf"({stem}\d+\.){MESSAGES.name}")
    for name, partitions in there.items():
        found = grown.fullmatch(name)
        if found is not None and topic_name(CONTROL, found[1]) not in there:
            control = kafka.topic_prefix if kafka.control_prefix is None else kafka.control_prefix
            raise TopicMissingError(
                f"the topics have grown and are named {found[1]}*: set VARVE_KAFKA__TOPIC_PREFIX={found[1]}, "
                f"VARVE_KAFKA__CONTROL_PREFIX={control} and VARVE_KAFKA__PARTITIONS={partitions}"
            )


async def create_topic(name: str, *, config: Mapping[str, str], kafka: KafkaSettings, admin: AIOKafkaAdminClient | None = None) -> None:
    """Creates one topic with ``kafka.partitions`` partitions, if it is missing, and waits until all brokers list it.

    Args:
        name: The topic's name on the broker.
        config: Its settings that differ from the broker's defaults.
        kafka: Kafka's settings.
        admin: A connected client. Default: a new one.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses.
    """
    async with admin_client(kafka, admin) as client:
        if name not in await partition_counts(client, [name]):
            new = NewTopic(
                name=name, num_partitions=kafka.partitions, replication_factor=kafka.replication_factor, topic_configs=dict(config)
            )
            await _create(client, [new], kafka)


async def check_topics(settings: Settings, *, admin: AIOKafkaAdminClient | None = None) -> int:
    """Checks that every topic exists, and that all have the same number of partitions, which the stages' tables require.

    Args:
        settings: The settings, with Kafka's.
        admin: A connected client. Default: a new one.

    Returns:
        The number of partitions.

    Raises:
        TopicMissingError: If a topic is missing or if its number of partitions differs from the others; names it.
    """
    kafka = settings.kafka
    async with admin_client(kafka, admin) as client:
        return _common_partition_count(await partition_counts(client, [kafka.topic(spec) for spec in ALL]), kafka)


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
    async with asyncio.timeout(kafka.request_timeout_s):
        is_listed = await all_brokers_list(client, created)
        while not is_listed:
            await asyncio.sleep(_POLL_S)
            is_listed = await all_brokers_list(client, created)
    return created


def _new_topic(spec: TopicSpec, kafka: KafkaSettings) -> NewTopic:
    return NewTopic(
        name=kafka.topic(spec),
        num_partitions=spec.partitions or kafka.partitions,
        replication_factor=kafka.replication_factor,
        topic_configs=broker_config(spec, kafka),
    )


def _common_partition_count(there: Mapping[str, int], kafka: KafkaSettings) -> int:
    names = [kafka.topic(spec) for spec in ALL]
    missing = [name for name in names if name not in there]
    if missing:
        raise TopicMissingError(f"missing at {kafka.bootstrap}: {', '.join(missing)}; run `varve topics create`")
    names = [kafka.topic(spec) for spec in ALL if spec.partitions is None]
    counts = {there[name] for name in names}
    if len(counts) > 1:
        shown = ", ".join(f"{name}: {there[name]}" for name in names)
        raise TopicMissingError(
            f"the topics at {kafka.bootstrap} have different numbers of partitions ({shown}); recreate the topics that differ"
        )
    return counts.pop()


async def delete_topics(names: Sequence[str], kafka: KafkaSettings) -> tuple[str, ...]:
    """Deletes the existing topics among some, and waits until the broker lists none of them.

    Returns:
        The names of the deleted topics.
    """
    async with admin_client(kafka) as client, asyncio.timeout(kafka.request_timeout_s):
        there = await partition_counts(client, names)
        found = [name for name in names if name in there]
        if found:
            response = await client.delete_topics(found)
            for topic, code, *_ in response.topic_error_codes:
                if code and for_code(code) is not UnknownTopicOrPartitionError:
                    raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} refuses to delete {topic}: {for_code(code).__name__}")
        while any(name in there for name in found):
            await asyncio.sleep(_POLL_S)
            there = await partition_counts(client, names)
    return tuple(found)


async def topic_partitions(kafka: KafkaSettings) -> dict[str, int]:
    """The number of partitions of every topic on the broker."""
    async with admin_client(kafka) as client, asyncio.timeout(kafka.request_timeout_s):
        return await all_partition_counts(client)


async def set_topic_config(name: str, config: dict[str, str], kafka: KafkaSettings) -> None:
    """Replaces the configuration of a topic.

    Args:
        name: The topic's name on the broker.
        config: All its settings that differ from the broker's defaults.
        kafka: Kafka's settings.

    Raises:
        KafkaUnavailableError: If the broker does not answer or refuses.
    """
    async with admin_client(kafka) as client, asyncio.timeout(kafka.request_timeout_s):
        for response in await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, configs=config)]):
            for code, message, *_ in response.resources:
                if code:
                    raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} refuses the configuration of {name}: {message}")


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


def weaker_settings(wanted: Mapping[str, str], found: Mapping[str, str], *, is_marked: bool = False) -> dict[str, str]:
    """The settings that make a topic keep less than required, with the required values.

    Args:
        wanted: The configuration with which Varve creates the topic.
        found: The topic's configuration on the broker.
        is_marked: The topic's keys have marks. A topic of an older version has keys without marks and must not be compacted: it would lose
            records that nothing erased.
    """
    weaker: dict[str, str] = {}
    policy = found["cleanup.policy"] if is_marked and found["cleanup.policy"] == "delete" else wanted["cleanup.policy"]
    if set(found["cleanup.policy"].split(",")) != {policy}:
        weaker["cleanup.policy"] = policy
    if policy == "delete":
        if _is_shorter(found["retention.ms"], wanted["retention.ms"]):
            weaker["retention.ms"] = wanted["retention.ms"]
        if int(found["retention.bytes"]) != _FOR_EVER:
            weaker["retention.bytes"] = str(_FOR_EVER)
    for setting in _AT_LEAST:
        if setting in wanted and int(found[setting]) < int(wanted[setting]):
            weaker[setting] = wanted[setting]
    return weaker


async def check_topic_configs(
    settings: Settings,
    changelogs: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    *,
    admin: AIOKafkaAdminClient | None = None,
) -> None:
    """Checks that every topic has the required retention and replication, or more.

    Args:
        settings: The settings, with Kafka's.
        changelogs: The required configuration of changelogs, by their names on the broker.
        admin: A connected client. Default: a new one.

    Raises:
        TopicConfigError: If a topic keeps less; names topics, settings, and the commands that repair them.
    """
    kafka = settings.kafka
    wanted = {kafka.topic(spec): broker_config(spec, kafka) for spec in ALL} | {**changelogs}
    marked = {kafka.topic(spec) for spec in ALL if spec.mark}
    async with admin_client(kafka, admin) as client, asyncio.timeout(kafka.request_timeout_s):
        configs = await topic_configs(client, [*wanted], kafka)
        topics = await described_topics(client, [*wanted, *_BROKERS_OWN])
    problems: list[str] = []
    for name, found in configs.items():
        problems.extend(
            f"{name} has {setting}={found[setting]} and must have {value}: kafka-configs.sh --bootstrap-server {kafka.bootstrap} --alter "
            f"--entity-type topics --entity-name {name} --add-config {setting}={value}"
            for setting, value in weaker_settings(wanted[name], found, is_marked=name in marked).items()
        )
    replicas = {topic["topic"]: min(len(each["replicas"]) for each in topic["partitions"]) for topic in topics if topic["partitions"]}
    lacking = {name: replicas[name] for name in (*wanted, *_BROKERS_OWN) if replicas.get(name, _MANY) < kafka.replication_factor}
    problems.extend(f"{name} has replication factor {count} and must have {kafka.replication_factor}" for name, count in lacking.items())
    if lacking:
        problems.append(
            "add replicas with kafka-reassign-partitions.sh; or, for a single broker, set "
            "VARVE_KAFKA__REPLICATION_FACTOR=1 and VARVE_KAFKA__MIN_INSYNC_REPLICAS=1: data that this broker loses is then lost"
        )
    if problems:
        raise TopicConfigError("topics keep less data than Varve requires. " + "; ".join(problems))


async def are_compacted(names: Sequence[str], kafka: KafkaSettings) -> bool:
    """Whether all given topics are compacted and nothing else deletes their records.

    Raises:
        KafkaUnavailableError: If the broker does not answer, or does not show their configuration.
    """
    async with admin_client(kafka) as admin, asyncio.timeout(kafka.request_timeout_s):
        configs = await topic_configs(admin, names, kafka)
    return all(config["cleanup.policy"] == "compact" for config in configs.values())


async def topic_configs(admin: AIOKafkaAdminClient, names: Sequence[str], kafka: KafkaSettings) -> dict[str, dict[str, str]]:
    """The settings of topics that decide what they keep, by the topics' names on the broker.

    Raises:
        KafkaUnavailableError: If the broker does not show them.
    """
    (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name, _CHECKED) for name in names])
    found: dict[str, dict[str, str]] = {}
    for code, message, _, name, entries in response.resources:
        if code:
            raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} does not show the configuration of {name}: {message}")
        found[name] = {entry[0]: entry[1] for entry in entries}
    return found


def _is_shorter(found: str, wanted: str) -> bool:
    return int(found) != _FOR_EVER and (int(wanted) == _FOR_EVER or int(found) < int(wanted))
