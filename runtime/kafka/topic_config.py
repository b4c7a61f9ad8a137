"""Checks the configuration of Varve's topics in Kafka: a topic that was created by hand may delete records too early."""

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from memory.topics import ALL, topic_name
from runtime.errors import KafkaUnavailableError, TopicConfigError
from runtime.kafka.client import admin_client
from runtime.kafka.topics import broker_config
from runtime.settings import KafkaSettings, Settings

_FOR_EVER: Final = -1
_AT_LEAST: Final = ("delete.retention.ms", "min.insync.replicas")
_BROKERS_OWN: Final = ("__consumer_offsets", "__transaction_state")
"""Topics of group offsets and of transactions. The broker creates them at their first use; not every user may see them."""
_MANY: Final = 1 << 15


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


async def check_topic_configs(settings: Settings, changelogs: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> None:
    """Checks that every topic has the required retention and replication, or more.

    Args:
        settings: The settings.
        changelogs: Configurations of further topics, by their names on the broker.

    Raises:
        TopicConfigError: If a topic keeps less; names topics, settings, and the commands that repair them.
        KafkaUnavailableError: If the broker does not answer.
    """
    kafka = settings.kafka
    wanted = {topic_name(spec, kafka.topic_prefix): broker_config(spec, kafka) for spec in ALL} | {**changelogs}
    marked = {topic_name(spec, kafka.topic_prefix) for spec in ALL if spec.mark}
    async with admin_client(kafka) as admin, asyncio.timeout(kafka.request_timeout_s):
        configs = await _configs(admin, [*wanted], kafka)
        topics = await admin.describe_topics()
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

    Args:
        names: Names of the topics on the broker.
        kafka: Kafka's settings.

    Raises:
        KafkaUnavailableError: If the broker does not answer, or does not show their configuration.
    """
    async with admin_client(kafka) as admin, asyncio.timeout(kafka.request_timeout_s):
        configs = await _configs(admin, names, kafka)
    return all(config["cleanup.policy"] == "compact" for config in configs.values())


async def _configs(admin: AIOKafkaAdminClient, names: Sequence[str], kafka: KafkaSettings) -> dict[str, dict[str, str]]:
    """The configuration of topics, by their names on the broker."""
    (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in names])
    found: dict[str, dict[str, str]] = {}
    for code, message, _, name, entries in response.resources:
        if code:
            raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} does not show the configuration of {name}: {message}")
        found[name] = {entry[0]: entry[1] for entry in entries}
    return found


def _is_shorter(found: str, wanted: str) -> bool:
    return int(found) != _FOR_EVER and (int(wanted) == _FOR_EVER or int(found) < int(wanted))
