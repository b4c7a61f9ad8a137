"""Compares how Kafka keeps Varve's topics with what the flow rests on: a topic that somebody made by hand may forget what it must keep."""

import asyncio
from collections.abc import Mapping
from typing import Final

from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from memory.topics import ALL, MEMORIES, TopicSpec, topic_name
from runtime.errors import KafkaUnavailableError, TopicConfigError
from runtime.kafka.client import admin_client
from runtime.kafka.topics import broker_config
from runtime.settings import KafkaSettings, Settings

_FOR_EVER: Final = -1


def weaker_settings(spec: TopicSpec, found: Mapping[str, str], kafka: KafkaSettings) -> dict[str, str]:
    """The settings by which a topic keeps less than it must, each with what it should be.

    Args:
        spec: The topic.
        found: Its configuration on the broker.
        kafka: The settings in force.
    """
    wanted = broker_config(spec, kafka)
    weaker: dict[str, str] = {}
    if set(found["cleanup.policy"].split(",")) != {wanted["cleanup.policy"]}:
        weaker["cleanup.policy"] = wanted["cleanup.policy"]
    if spec.cleanup == "delete":
        if _is_shorter(found["retention.ms"], wanted["retention.ms"]):
            weaker["retention.ms"] = wanted["retention.ms"]
        if int(found["retention.bytes"]) != _FOR_EVER:
            weaker["retention.bytes"] = str(_FOR_EVER)
    if spec == MEMORIES and int(found["delete.retention.ms"]) < int(wanted["delete.retention.ms"]):
        weaker["delete.retention.ms"] = wanted["delete.retention.ms"]
    return weaker


async def check_topic_configs(settings: Settings) -> None:
    """Checks that every topic keeps what the flow rests on; one that keeps more passes.

    Raises:
        TopicConfigError: If one keeps less; names topics and settings, and the commands that mend them.
        KafkaUnavailableError: If the broker does not answer.
    """
    kafka = settings.kafka
    names = {topic_name(spec, kafka.topic_prefix): spec for spec in ALL}
    async with admin_client(kafka) as admin, asyncio.timeout(kafka.request_timeout_s):
        (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in names])
    problems: list[str] = []
    for code, message, _, name, entries in response.resources:
        if code:
            raise KafkaUnavailableError(f"the broker at {kafka.bootstrap} does not show the configuration of {name}: {message}")
        found = {entry[0]: entry[1] for entry in entries}
        problems.extend(
            f"{name} has {setting}={found[setting]} and must have {wanted}: kafka-configs.sh --bootstrap-server {kafka.bootstrap} --alter "
            f"--entity-type topics --entity-name {name} --add-config {setting}={wanted}"
            for setting, wanted in weaker_settings(names[name], found, kafka).items()
        )
    if problems:
        raise TopicConfigError("topics keep less than the flow rests on. " + "; ".join(problems))


def _is_shorter(found: str, wanted: str) -> bool:
    return int(found) != _FOR_EVER and (int(wanted) == _FOR_EVER or int(found) < int(wanted))
