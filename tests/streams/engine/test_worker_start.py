"""The checks of its topics that a worker makes before it joins its group."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiokafka.admin import NewTopic

from memory.topics import EXTRACTIONS, MESSAGES
from runtime.clocks import ManualClock
from runtime.errors import ClockError, KafkaUnavailableError, TopicConfigError, TopicMissingError
from runtime.kafka import check_topic_configs, create_topic, create_topics
from runtime.kafka.client import admin_client
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, RedisSettings, Settings
from streams.engine.context import StageContext
from streams.engine.faust.app import changelog_config
from streams.engine.state.partition_state import changelog_topic
from streams.engine.tasks.driver import Driver
from streams.engine.worker import Worker
from streams.run import serve_stage
from tests.one_broker import one_broker
from tests.streams.harness import until

pytestmark = pytest.mark.integration


def _never(context: StageContext) -> Driver:
    raise AssertionError("a worker whose topics are not right must not begin")


def _worker(settings: Settings) -> Worker:
    return Worker(
        stage="sessions", source=settings.topic("messages"), has_table=True, settings=settings, metrics=Metrics(), new_driver=_never
    )


async def test_worker_refuses_topics_with_other_partition_counts(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    broker = one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2)
    settings = Settings(data=tmp_path, kafka=broker)
    with pytest.raises(TopicMissingError, match="run `varve topics create`"):
        await _worker(settings).run(asyncio.Event())
    await create_topics(settings)
    others = settings.model_copy(update={"kafka": broker.model_copy(update={"partitions": 3})})
    with pytest.raises(TopicMissingError, match=r"have 2 partitions and the settings say 3: .* set VARVE_KAFKA__PARTITIONS=2"):
        await _worker(others).run(asyncio.Event())


async def test_worker_refuses_topics_that_forget(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    broker = one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2)
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
    with pytest.raises(TopicConfigError):
        await _worker(settings).run(asyncio.Event())


async def test_worker_refuses_one_replica_unless_allowed(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    allowed = Settings(data=tmp_path, kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2))
    strict = allowed.model_copy(update={"kafka": KafkaSettings(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2)})
    with pytest.raises(KafkaUnavailableError, match="set VARVE_KAFKA__REPLICATION_FACTOR=1"):
        await create_topics(strict)
    await create_topics(allowed)
    await create_topic("varve.unrelated", config={}, kafka=allowed.kafka)
    changelog = changelog_topic(allowed.topic("sessions"))
    await create_topic(changelog, config=changelog_config(allowed.kafka), kafka=allowed.kafka)
    with pytest.raises(TopicConfigError) as refused:
        await _worker(strict).run(asyncio.Event())
    for name in (allowed.topic("messages"), changelog):
        assert f"{name} has replication factor 1 and must have 3" in str(refused.value)
        assert f"{name} has min.insync.replicas=1 and must have 2: kafka-configs.sh" in str(refused.value)
    assert "or, for a single broker, set VARVE_KAFKA__REPLICATION_FACTOR=1" in str(refused.value)
    assert "unrelated" not in str(refused.value)
    await check_topic_configs(allowed, {changelog: changelog_config(allowed.kafka)})


async def test_worker_refuses_a_changelog_that_forgets(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2))
    await create_topics(settings)
    changelog = changelog_topic(settings.topic("sessions"))
    await create_topic(changelog, config={"cleanup.policy": "delete"}, kafka=settings.kafka)
    with pytest.raises(TopicConfigError, match=f"{changelog} has cleanup.policy=delete and must have compact"):
        await _worker(settings).run(asyncio.Event())


async def test_worker_ends_while_its_clock_is_wrong(kafka: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its start, and later, when the clock steps: it would write records that Kafka refuses, or deletes early."""
    settings = Settings(
        data=tmp_path,
        kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=1),
        redis=RedisSettings(url=f"unix://{tmp_path / 'none'}"),
        metrics_port=0,
    )
    await create_topics(settings)
    error = timedelta(hours=5)
    monkeypatch.setattr("runtime.clock_check.SystemClock", lambda: ManualClock(datetime.now(UTC) + error))
    monkeypatch.setattr("runtime.clock_check._INTERVAL_S", 0.05)
    with pytest.raises(ClockError, match=r"clock is 18000 s ahead of Kafka's: it shows .* compare both with a third clock"):
        await _worker(settings).run(asyncio.Event())
    error = timedelta(0)
    running = asyncio.create_task(serve_stage("sessions", settings))
    await until(lambda: (tmp_path / "tables" / "sessions").exists() or running.done())
    assert not running.done()
    error = timedelta(hours=-5)
    with pytest.raises(ClockError, match="clock is 18000 s behind Kafka's"):
        await asyncio.wait_for(running, timeout=60)
