"""A topic with a shorter retention than the flow needs is refused, with the command that corrects it."""

import asyncio
from pathlib import Path

import pytest
from aiokafka.admin import NewTopic
from pydantic import ValidationError

from memory.topics import ALL, CONTRIBUTIONS, EXTRACTIONS, MEMORIES, MESSAGES, WINDOWS, TopicSpec
from runtime.errors import KafkaUnavailableError, TopicConfigError
from runtime.kafka import check_topic_configs, create_topic, create_topics
from runtime.kafka.client import admin_client
from runtime.kafka.topics import broker_config, weaker_settings
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, Settings
from streams.engine.context import StageContext
from streams.engine.faust.app import changelog_config
from streams.engine.state.partition_state import changelog_topic
from streams.engine.tasks.driver import Driver
from streams.engine.worker import Worker
from tests.one_broker import one_broker

KAFKA = one_broker()
UNLIMITED = {"retention.bytes": "-1", "delete.retention.ms": "86400000"}


def test_topics_as_created_pass() -> None:
    for spec in ALL:
        wanted = broker_config(spec, KAFKA)
        assert weaker_settings(wanted, {**UNLIMITED, **wanted}, is_marked=bool(spec.mark)) == {}


def test_shorter_or_smaller_retention_is_weaker() -> None:
    wanted = broker_config(MESSAGES, KAFKA)
    found = {**UNLIMITED, **wanted}
    assert weaker_settings(wanted, {**found, "retention.ms": "3600000"}) == {"retention.ms": "-1"}
    assert weaker_settings(wanted, {**found, "retention.bytes": "1000000"}) == {"retention.bytes": "-1"}
    assert weaker_settings(wanted, {**found, "cleanup.policy": "compact,delete"}) == {"cleanup.policy": "delete"}
    assert weaker_settings(broker_config(CONTRIBUTIONS, KAFKA), {**found, "retention.ms": "-1"}) == {}, "it keeps more"


@pytest.mark.parametrize("spec", [WINDOWS, EXTRACTIONS], ids=lambda spec: spec.name)
def test_an_existing_marked_topic_is_not_compacted(spec: TopicSpec) -> None:
    """Its keys have no marks: compaction would remove records that no erasure covers, so it must stay uncompacted."""
    wanted = broker_config(spec, KAFKA)
    of_before = {**UNLIMITED, **wanted, "cleanup.policy": "delete"}
    assert weaker_settings(wanted, of_before, is_marked=True) == {}
    assert weaker_settings(wanted, {**of_before, "retention.ms": "604800000"}, is_marked=True) == {"retention.ms": "-1"}
    assert weaker_settings(wanted, {**of_before, "retention.bytes": "1000000"}, is_marked=True) == {"retention.bytes": "-1"}


def test_an_existing_marked_topic_is_accepted_as_created() -> None:
    """Kafka's own default of how long tombstones are kept concerns no topic that is not compacted."""
    wanted = broker_config(EXTRACTIONS, KAFKA)
    as_created = {**wanted, "cleanup.policy": "delete", "retention.ms": "-1", **UNLIMITED}
    assert weaker_settings(wanted, as_created, is_marked=True) == {}


def test_a_policy_that_deletes_unerased_records_is_weaker() -> None:
    wanted = broker_config(WINDOWS, KAFKA)
    both = {**UNLIMITED, **wanted, "cleanup.policy": "compact,delete"}
    assert weaker_settings(wanted, both, is_marked=True) == {"cleanup.policy": "compact"}
    unmarked = broker_config(MEMORIES, KAFKA)
    deleted = {**UNLIMITED, **unmarked, "cleanup.policy": "delete"}
    assert weaker_settings(unmarked, deleted) == {"cleanup.policy": "compact"}, "its keys are as they were"


def test_tombstones_that_go_too_early_are_weaker() -> None:
    wanted = broker_config(MEMORIES, KAFKA)
    assert wanted["delete.retention.ms"] == str(30 * 24 * 3600 * 1000)
    assert weaker_settings(wanted, {**UNLIMITED, **wanted, "delete.retention.ms": "86400000"}) == {"delete.retention.ms": "2592000000"}


def test_confirmation_by_fewer_replicas_is_weaker() -> None:
    wanted = broker_config(WINDOWS, KafkaSettings())
    found = {**UNLIMITED, **wanted, "min.insync.replicas": "1"}
    assert weaker_settings(wanted, found) == {"min.insync.replicas": "2"}
    assert weaker_settings(broker_config(WINDOWS, KAFKA), found) == {}, "one broker was named as such"


@pytest.mark.parametrize(("replicas", "minimum"), [(3, 1), (2, 3), (1, 2)])
def test_replicas_that_would_not_help_are_refused(replicas: int, minimum: int) -> None:
    with pytest.raises(ValidationError, match="VARVE_KAFKA__MIN_INSYNC_REPLICAS is"):
        KafkaSettings(replication_factor=replicas, min_insync_replicas=minimum)


def _never(context: StageContext) -> Driver:
    raise AssertionError("a worker whose topics keep too little must not begin")


def _worker(settings: Settings) -> Worker:
    return Worker(
        stage="sessions", source=settings.topic("messages"), has_table=True, settings=settings, metrics=Metrics(), new_driver=_never
    )


@pytest.mark.integration
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


@pytest.mark.integration
async def test_worker_refuses_one_replica_unless_allowed(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    told = Settings(data=tmp_path, kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2))
    untold = told.model_copy(update={"kafka": KafkaSettings(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2)})
    with pytest.raises(KafkaUnavailableError, match="set VARVE_KAFKA__REPLICATION_FACTOR=1"):
        await create_topics(untold)
    await create_topics(told)
    await create_topic("varve.unrelated", config={}, kafka=told.kafka)
    changelog = changelog_topic(told.topic("sessions"))
    await create_topic(changelog, config=changelog_config(told.kafka), kafka=told.kafka)
    with pytest.raises(TopicConfigError) as refused:
        await _worker(untold).run(asyncio.Event())
    for name in (told.topic("messages"), changelog):
        assert f"{name} has replication factor 1 and must have 3" in str(refused.value)
        assert f"{name} has min.insync.replicas=1 and must have 2: kafka-configs.sh" in str(refused.value)
    assert "or, for a single broker, set VARVE_KAFKA__REPLICATION_FACTOR=1" in str(refused.value)
    assert "unrelated" not in str(refused.value)
    await check_topic_configs(told, {changelog: changelog_config(told.kafka)})


@pytest.mark.integration
async def test_worker_refuses_a_changelog_that_forgets(kafka: str, topic_prefix: str, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2))
    await create_topics(settings)
    changelog = changelog_topic(settings.topic("sessions"))
    await create_topic(changelog, config={"cleanup.policy": "delete"}, kafka=settings.kafka)
    with pytest.raises(TopicConfigError, match=f"{changelog} has cleanup.policy=delete and must have compact"):
        await _worker(settings).run(asyncio.Event())
