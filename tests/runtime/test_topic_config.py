"""A topic that keeps less than the flow rests on is refused, with the command that mends it."""

import asyncio
from pathlib import Path

import pytest
from aiokafka.admin import NewTopic

from memory.topics import ALL, EXTRACTIONS, MEMORIES, MESSAGES, WINDOWS
from runtime.errors import TopicConfigError
from runtime.kafka import check_topic_configs, create_topics
from runtime.kafka.client import admin_client
from runtime.kafka.topic_config import weaker_settings
from runtime.kafka.topics import broker_config
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, Settings
from streams.delivery.context import StageContext
from streams.delivery.driver import Driver
from streams.delivery.worker import Worker

KAFKA = KafkaSettings()
UNLIMITED = {"retention.bytes": "-1", "delete.retention.ms": "86400000"}


def test_topics_as_created_pass() -> None:
    for spec in ALL:
        assert weaker_settings(spec, {**UNLIMITED, **broker_config(spec, KAFKA)}, KAFKA) == {}


def test_shorter_or_smaller_retention_is_weaker() -> None:
    found = {**UNLIMITED, **broker_config(MESSAGES, KAFKA)}
    assert weaker_settings(MESSAGES, {**found, "retention.ms": "3600000"}, KAFKA) == {"retention.ms": "-1"}
    assert weaker_settings(MESSAGES, {**found, "retention.bytes": "1000000"}, KAFKA) == {"retention.bytes": "-1"}
    assert weaker_settings(MESSAGES, {**found, "cleanup.policy": "compact,delete"}, KAFKA) == {"cleanup.policy": "delete"}
    assert weaker_settings(WINDOWS, {**found, "retention.ms": "-1"}, KAFKA) == {}, "it keeps more"


def test_tombstones_that_go_too_early_are_weaker() -> None:
    found = {**UNLIMITED, **broker_config(MEMORIES, KAFKA)}
    assert found["delete.retention.ms"] == str(30 * 24 * 3600 * 1000)
    assert weaker_settings(MEMORIES, {**found, "delete.retention.ms": "86400000"}, KAFKA) == {"delete.retention.ms": "2592000000"}


def _never(context: StageContext) -> Driver:
    raise AssertionError("a worker whose topics keep too little must not begin")


@pytest.mark.integration
async def test_worker_refuses_topics_that_forget(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    broker = KafkaSettings(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2)
    settings = Settings(data=tmp_path, kafka=broker)
    names = [settings.topic(spec.name) for spec in (MESSAGES, EXTRACTIONS)]
    async with admin_client(broker) as admin:
        hour = {"retention.ms": "3600000"}
        await admin.create_topics([NewTopic(name=name, num_partitions=2, replication_factor=1, topic_configs=hour) for name in names])
    await create_topics(settings)
    with pytest.raises(TopicConfigError) as refused:
        await check_topic_configs(settings)
    for name in names:
        assert f"{name} has retention.ms=3600000 and must have -1" in str(refused.value)
        assert f"--entity-name {name} --add-config retention.ms=-1" in str(refused.value)
    assert "windows" not in str(refused.value)
    worker = Worker(
        stage="sessions", source=settings.topic("messages"), has_table=True, settings=settings, metrics=Metrics(), new_driver=_never
    )
    with pytest.raises(TopicConfigError):
        await worker.run(asyncio.Event())
