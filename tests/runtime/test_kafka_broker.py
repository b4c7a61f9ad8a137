import asyncio
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRecord
from aiokafka.admin import NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from memory.errors import RecordTooLargeError
from memory.keys import encode_key, partition_of
from memory.positions import LogPosition
from memory.topics import ALL, DEAD_LETTERS, EXTRACTIONS, MEMORIES, MESSAGES, WINDOWS, topic_name
from runtime.clocks import ManualClock
from runtime.errors import ClockError, KafkaUnavailableError, TopicMissingError
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, check_topics, client_options, create_topics
from runtime.kafka.client import admin_client, all_partition_counts, partition_counts
from runtime.kafka.topics import broker_config
from runtime.settings import KafkaSettings, Settings
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration


@pytest.fixture
def settings(kafka: str, topic_prefix: str) -> Settings:
    return Settings(kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=4, max_record_bytes=100_000))


@pytest.fixture
async def topics(settings: Settings) -> Settings:
    await create_topics(settings)
    return settings


@pytest.fixture
async def producer(topics: Settings) -> AsyncIterator[Producer]:
    async with Producer(kafka=topics.kafka) as producer:
        yield producer


@pytest.fixture
def nowhere() -> KafkaSettings:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return one_broker(bootstrap=f"127.0.0.1:{taken.getsockname()[1]}", request_timeout_s=2)


async def test_grown_topics_are_not_created_anew(settings: Settings) -> None:
    kafka = settings.kafka
    grown = kafka.model_copy(
        update={"topic_prefix": f"{kafka.topic_prefix[:-1]}24.", "control_prefix": kafka.topic_prefix, "partitions": 5}
    )
    await create_topics(Settings(kafka=grown))
    with pytest.raises(TopicMissingError) as error:
        await create_topics(settings)
    assert str(error.value) == (
        f"the topics have grown and are named {grown.topic_prefix}*: set VARVE_KAFKA__TOPIC_PREFIX={grown.topic_prefix}, "
        f"VARVE_KAFKA__CONTROL_PREFIX={kafka.topic_prefix} and VARVE_KAFKA__PARTITIONS=5"
    )
    with pytest.raises(TopicMissingError, match="missing at"):
        await check_topics(settings)


async def test_topics_are_created_once_with_their_configuration(settings: Settings) -> None:
    with pytest.raises(TopicMissingError, match="varve topics create"):
        await check_topics(settings)
    created = await create_topics(settings)
    assert set(created) == {topic_name(spec, settings.kafka.topic_prefix) for spec in ALL}
    assert await create_topics(settings) == ()
    assert await check_topics(settings) == 4
    async with admin_client(settings.kafka) as admin:
        for spec in (WINDOWS, MEMORIES, DEAD_LETTERS):
            wanted = broker_config(spec, settings.kafka)
            resource = ConfigResource(ConfigResourceType.TOPIC, settings.topic(spec.name), dict.fromkeys(wanted))
            (response,) = await admin.describe_configs([resource])
            assert {entry[0]: entry[1] for entry in response.resources[0][4]} == wanted


async def test_a_topic_with_another_partition_count_is_named(topics: Settings) -> None:
    odd = topics.topic(EXTRACTIONS.name)
    async with admin_client(topics.kafka) as admin:
        await admin.create_partitions({odd: NewPartitions(total_count=6)})
        async with asyncio.timeout(60):
            while (counts := await partition_counts(admin, [odd]))[odd] != 6:
                await asyncio.sleep(0.02)
                assert counts[odd] == 4
    with pytest.raises(TopicMissingError, match=f"{odd}: 6"):
        await check_topics(topics)


async def test_only_named_topics_are_asked_for(topics: Settings) -> None:
    named, missing = topics.topic(MESSAGES.name), topics.topic("missing")
    async with admin_client(topics.kafka) as admin:
        assert await partition_counts(admin, [named, missing, "no name!"]) == {named: 4}
        assert await partition_counts(admin, []) == {}
        there = await all_partition_counts(admin)
    assert there[named] == 4
    assert missing not in there, "a topic is not created by asking for it"


async def test_records_go_to_their_keys_partition_in_order(topics: Settings, producer: Producer) -> None:
    topic = topics.topic(MESSAGES.name)
    keys = [encode_key("acme", f"s{number % 7}") for number in range(60)]
    positions = await producer.send_many(
        [
            OutgoingRecord(topic=topic, key=key, value=b"%d" % number, headers=(("n", b"%d" % number), ("n", b"again")))
            for number, key in enumerate(keys)
        ]
    )
    assert [position.partition for position in positions] == [partition_of(key, 4) for key in keys]
    tombstone = await producer.send(topic, key=keys[0], value=None, partition=3)
    assert tombstone.partition == 3
    assert await producer.partitions(topic) == 4
    records = await _read_all(topics, topic)
    by_position = {LogPosition(record.topic, record.partition, record.offset): record for record in records}
    for number, position in enumerate(positions):
        record = by_position[position]
        assert (record.key, record.value) == (keys[number], b"%d" % number)
        assert record.headers == (("n", b"%d" % number), ("n", b"again"))
    assert by_position[tombstone].value is None
    for key in set(keys):
        values = [int(record.value) for record in records if record.key == key and record.value is not None]
        assert values == sorted(values)


async def test_many_records_keep_their_order(topics: Settings, producer: Producer) -> None:
    topic = topics.topic(MESSAGES.name)
    positions = await producer.send_in_batches([OutgoingRecord(topic, b"k", b"%d" % number, partition=0) for number in range(1201)])
    assert [position.offset for position in positions] == sorted(position.offset for position in positions)
    assert [int(record.value or b"") for record in await _read_all(topics, topic)] == list(range(1201))


@pytest.mark.parametrize(("error_s", "shown"), [(3600, "3600 s ahead of"), (-3600, "3600 s behind"), (60, None), (-60, None)])
async def test_a_wrong_clock_is_reported(topics: Settings, error_s: float, shown: str | None) -> None:
    """Only where the broker sets the time: elsewhere, there is nothing to compare with."""
    clock = ManualClock(datetime.now(UTC) + timedelta(seconds=error_s))
    async with Producer(kafka=topics.kafka, max_ahead_s=300, max_behind_s=300, clock=clock) as producer:
        names = [topics.topic(MESSAGES.name), topics.topic(WINDOWS.name)]
        message, window = await producer.send_each([OutgoingRecord(name, b"acme/s", b"x") for name in names])
    assert isinstance(window, LogPosition)
    if shown is None:
        assert isinstance(message, LogPosition)
    else:
        assert isinstance(message, ClockError)
        assert f"this machine's clock is {shown} the broker's" in str(message)


async def test_one_bad_record_does_not_affect_the_others(topics: Settings, producer: Producer) -> None:
    topic = topics.topic(MESSAGES.name)
    too_large, good, last = await producer.send_each(
        [
            OutgoingRecord(topic=topic, key=b"a", value=b"x" * 100_001),
            OutgoingRecord(topic=topic, key=b"a", value=b"x" * 100_000),
            OutgoingRecord(topic=topic, key=b"a", value=b"x"),
        ]
    )
    assert isinstance(too_large, RecordTooLargeError)
    assert good == LogPosition(topic, partition_of(b"a", 4), 0)
    assert last == LogPosition(topic, partition_of(b"a", 4), 1)
    with pytest.raises(ValueError, match="4 partitions, so there is no partition 4"):
        await producer.send(topic, key=b"a", value=b"x", partition=4)


async def test_dead_letter_may_reach_the_topics_limit(topics: Settings, producer: Producer) -> None:
    largest = b"x" * (topics.kafka.max_message_bytes - 1000)
    headers = (("varve-dlq-detail", b"d" * 60_000),)
    position = await producer.send(topics.topic(DEAD_LETTERS.name), key=b"a", value=largest, headers=headers)
    assert position.offset == 0


async def test_refused_batch_does_not_block_later_ones(topics: Settings, producer: Producer) -> None:
    small = f"{topics.kafka.topic_prefix}small"
    async with admin_client(topics.kafka) as admin:
        await admin.create_topics([NewTopic(small, 1, 1, topic_configs={"max.message.bytes": "2000"})])
    assert (await producer.send(small, key=b"a", value=b"first")).offset == 0
    with pytest.raises(RecordTooLargeError):
        await producer.send(small, key=b"a", value=b"x" * 50_000)
    assert [(await producer.send(small, key=b"a", value=b"behind")).offset for _ in range(3)] == [1, 2, 3]


async def test_unknown_topic_is_reported_missing(topics: Settings) -> None:
    quick = topics.kafka.model_copy(update={"request_timeout_s": 1.0})
    async with Producer(kafka=quick, timeout_s=5) as producer:
        with pytest.raises(TopicMissingError, match="varve topics create"):
            await producer.send(f"{topics.kafka.topic_prefix}nowhere", key=b"a", value=b"x")


async def test_missing_broker_is_reported_unavailable(nowhere: KafkaSettings) -> None:
    producer = Producer(kafka=nowhere, timeout_s=2)
    with pytest.raises(KafkaUnavailableError, match="VARVE_KAFKA__BOOTSTRAP"):
        await producer.start()
    (outcome,) = await producer.send_each([OutgoingRecord(topic="t", key=b"a", value=b"x")])
    assert isinstance(outcome, KafkaUnavailableError)
    await producer.stop()
    with pytest.raises(KafkaUnavailableError):
        await check_topics(Settings(kafka=nowhere))
    with pytest.raises(KafkaUnavailableError):
        await KafkaOffsets(kafka=nowhere).start()


async def test_lag_is_end_minus_commit(topics: Settings, producer: Producer) -> None:
    topic, group = topics.topic(MESSAGES.name), f"{topics.kafka.topic_prefix}sessions"
    await producer.send_many([OutgoingRecord(topic=topic, key=b"k", value=b"x", partition=number % 2) for number in range(10)])
    async with KafkaOffsets(kafka=topics.kafka) as offsets:
        ends = {TopicPartition(topic, 0): 5, TopicPartition(topic, 1): 5, TopicPartition(topic, 2): 0, TopicPartition(topic, 3): 0}
        assert await offsets.end_offsets([topic]) == ends
        assert await offsets.committed_offsets(group, [topic]) == {}
        assert await offsets.lag(group, [topic]) == ends
        async with AIOKafkaConsumer(**client_options(topics.kafka), group_id=group, enable_auto_commit=False) as consumer:
            consumer.assign([TopicPartition(topic, 0)])
            await consumer.commit({TopicPartition(topic, 0): 3})
        assert await offsets.committed_offsets(group, [topic]) == {TopicPartition(topic, 0): 3}
        assert await offsets.committed_offsets(group, []) == {}
        assert await offsets.lag(group, [topic]) == {**ends, TopicPartition(topic, 0): 2}
        with pytest.raises(TopicMissingError):
            await offsets.end_offsets([f"{topic}.nowhere"])


async def _read_all(settings: Settings, topic: str) -> list[ConsumerRecord]:
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        ends = await offsets.end_offsets([topic])
    async with AIOKafkaConsumer(**client_options(settings.kafka), auto_offset_reset="earliest") as consumer:
        consumer.assign(list(ends))
        records: list[ConsumerRecord] = []
        async with asyncio.timeout(60):
            while len(records) < sum(ends.values()):
                for batch in (await consumer.getmany(timeout_ms=1000)).values():
                    records.extend(batch)
        return records
