"""A group's backlog: its age, and the time at which Kafka deletes it."""

import time
from collections.abc import Collection

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.client import AIOKafkaClient
from aiokafka.cluster import ClusterMetadata

from memory.topics import DAY_MS, WINDOWS, topic_name
from runtime.errors import TopicMissingError
from runtime.kafka import (
    Backlog,
    ConsumerGroups,
    KafkaOffsets,
    OffsetAndTimestamp,
    OutgoingRecord,
    Producer,
    TopicPartition,
    client_options,
    create_topic,
    read_backlogs,
)
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import KafkaSettings
from tests.one_broker import one_broker

NOW_MS = 1_700_000_000_000
WEEK = {"retention.ms": str(7 * DAY_MS)}


def test_age_and_remaining_retention() -> None:
    backlog = Backlog(oldest=OffsetAndTimestamp(3, NOW_MS - 6 * DAY_MS), kept_ms=7 * DAY_MS)
    assert backlog.age_s(NOW_MS) == 6 * 86_400
    assert backlog.left_s(NOW_MS) == 86_400
    assert backlog.left_s(NOW_MS + 2 * DAY_MS) == -86_400, "what the log may have deleted already"
    assert Backlog(oldest=OffsetAndTimestamp(3, NOW_MS), kept_ms=None).left_s(NOW_MS) is None
    assert Backlog(oldest=OffsetAndTimestamp(3, NOW_MS + 5), kept_ms=None).age_s(NOW_MS) == 0, "clocks differ"


@pytest.fixture
def kafka_settings(kafka: str, topic_prefix: str) -> KafkaSettings:
    return one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2)


@pytest.mark.integration
async def test_age_is_that_of_the_first_unacknowledged_record(kafka_settings: KafkaSettings) -> None:
    topic = f"{kafka_settings.topic_prefix}old"
    await create_topic(topic, config=WEEK, kafka=kafka_settings)
    written_ms = round(time.time() * 1000) - 6 * DAY_MS
    producer = AIOKafkaProducer(**client_options(kafka_settings))
    await producer.start()
    for number in range(5):
        await producer.send_and_wait(topic, b"v", partition=0, timestamp_ms=written_ms + number)
    await producer.stop()
    partition = TopicPartition(topic, 0)
    async with KafkaOffsets(kafka=kafka_settings) as offsets:
        assert await read_backlogs("new", topic, offsets) == {
            partition: Backlog(oldest=OffsetAndTimestamp(0, written_ms), kept_ms=7 * DAY_MS)
        }
        await ConsumerGroups(kafka=kafka_settings).commit("old", {partition: 3})
        assert (await read_backlogs("old", topic, offsets))[partition].oldest == OffsetAndTimestamp(3, written_ms + 3)
        await ConsumerGroups(kafka=kafka_settings).commit("old", {partition: 5})
        assert await read_backlogs("old", topic, offsets) == {}
        with pytest.raises(TopicMissingError):
            await read_backlogs("old", f"{topic}er", offsets)


@pytest.mark.integration
async def test_reading_asks_for_no_other_topics_metadata(kafka_settings: KafkaSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster may have thousands of topics: the list of all of them took most of the time of a measurement."""
    topic = f"{kafka_settings.topic_prefix}measured"
    await create_topic(topic, config=WEEK, kafka=kafka_settings)
    async with Producer(kafka=kafka_settings) as producer:
        await producer.send_many([OutgoingRecord(topic, b"k", b"v", partition=number) for number in (0, 1)])
    asked: list[set[str]] = []
    update = AIOKafkaClient._metadata_update

    async def recorded(client: AIOKafkaClient, metadata: ClusterMetadata, topics: Collection[str]) -> bool:
        asked.append(set(topics or ()))
        return bool(await update(client, metadata, topics))

    monkeypatch.setattr(AIOKafkaClient, "_metadata_update", recorded)
    async with KafkaOffsets(kafka=kafka_settings) as offsets:
        for _ in range(2):
            assert len(await read_backlogs("new", topic, offsets)) == 2
    assert asked
    assert all(asked)


@pytest.mark.integration
@pytest.mark.parametrize(("policy", "kept_ms"), [("compact", None), ("delete", 5000)])
async def test_marked_keys_lose_nothing_with_time(kafka_settings: KafkaSettings, policy: str, kept_ms: int | None) -> None:
    """A tombstone loses nothing that a stage needs; an older topic deletes the records that the tombstones name."""
    topic = topic_name(WINDOWS, kafka_settings.topic_prefix)
    config = {"cleanup.policy": policy, "delete.retention.ms": "5000", "retention.ms": "5000"}
    await create_topic(topic, config=config, kafka=kafka_settings)
    async with KafkaOffsets(kafka=kafka_settings) as offsets:
        assert await offsets.kept_ms(topic) == kept_ms


@pytest.mark.integration
async def test_transaction_markers_alone_are_no_backlog(kafka_settings: KafkaSettings) -> None:
    topic = f"{kafka_settings.topic_prefix}marked"
    await create_topic(topic, config={"cleanup.policy": "compact", "delete.retention.ms": "5000"}, kafka=kafka_settings)
    producer = TransactionalProducer(kafka=kafka_settings, transactional_id=topic, partitions=2)
    await producer.start()
    await producer.commit([OutgoingRecord(topic, b"k", b"v", partition=1)], offsets={}, group="g")
    await producer.stop()
    partition = TopicPartition(topic, 1)
    async with KafkaOffsets(kafka=kafka_settings) as offsets:
        assert (await read_backlogs("g", topic, offsets))[partition].kept_ms == 5000, "a compacted topic keeps its tombstones so long"
        assert await offsets.stamps({partition: 1}) == {}, "a marker is no record"
        async with Producer(kafka=kafka_settings) as plain:
            await plain.send_many([OutgoingRecord(topic, b"k", b"v", partition=number) for number in (0, 1)])
        stamps = await offsets.stamps({partition: 1, TopicPartition(topic, 0): 0})
        assert {each.partition: stamp.offset for each, stamp in stamps.items()} == {0: 0, 1: 2}
