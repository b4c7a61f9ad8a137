"""Transactions on the real broker: all of a batch or nothing, and one holder of an id at a time."""

import asyncio
import gc
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from memory.errors import RecordTooLargeError
from runtime.clocks import ManualClock
from runtime.errors import KafkaUnavailableError, ProducerFencedError
from runtime.kafka import KafkaOffsets, OutgoingRecord, client_options
from runtime.kafka.topics import create_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import KafkaSettings
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

GROUP = "readers"


@pytest.fixture
async def topic(kafka: str, topic_prefix: str) -> str:
    name = f"{topic_prefix}transactions"
    await create_topic(name, config={}, kafka=one_broker(bootstrap=kafka, partitions=2))
    return name


@pytest.fixture
def settings(kafka: str) -> KafkaSettings:
    return one_broker(bootstrap=kafka, partitions=2, max_message_bytes=10_000)


def new_producer(settings: KafkaSettings, topic: str) -> TransactionalProducer:
    return TransactionalProducer(kafka=settings, transactional_id=f"{topic}-writer", partitions=2)


@pytest.fixture
async def producer(settings: KafkaSettings, topic: str) -> AsyncIterator[TransactionalProducer]:
    producer = new_producer(settings, topic)
    await producer.start()
    yield producer
    await producer.stop()


def record(topic: str, value: bytes, partition: int = 0) -> OutgoingRecord:
    return OutgoingRecord(topic=topic, key=b"k", value=value, partition=partition)


async def committed_values(settings: KafkaSettings, topic: str) -> list[bytes]:
    """The values that a reader of committed records sees up to the end."""
    async with KafkaOffsets(kafka=settings) as offsets:
        ends = await offsets.end_offsets([topic])
    consumer = AIOKafkaConsumer(**client_options(settings), isolation_level="read_committed", auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign(list(ends))
        values: list[bytes] = []
        while any([await consumer.position(partition) < end for partition, end in ends.items()]):
            for records in (await consumer.getmany(timeout_ms=100)).values():
                values += [each.value or b"" for each in records]
        return values
    finally:
        await consumer.stop()


async def committed_offset(settings: KafkaSettings, topic: str) -> int | None:
    async with KafkaOffsets(kafka=settings) as offsets:
        return (await offsets.committed_offsets(f"{topic}-{GROUP}", [topic])).get(TopicPartition(topic, 0))


async def test_a_commit_writes_offsets_and_moves_the_group(producer: TransactionalProducer, settings: KafkaSettings, topic: str) -> None:
    offsets = {TopicPartition(topic, 0): 7}
    written = await producer.commit(
        [record(topic, b"a"), record(topic, b"b", 1), record(topic, b"c")], offsets=offsets, group=f"{topic}-{GROUP}"
    )
    assert written == [0, 0, 1]
    assert sorted(await committed_values(settings, topic)) == [b"a", b"b", b"c"]
    assert await committed_offset(settings, topic) == 7


async def test_the_order_in_a_partition_holds_across_batches(producer: TransactionalProducer, settings: KafkaSettings, topic: str) -> None:
    values = [b"%06d" % number + b"x" * 5_000 for number in range(500)]
    written = await producer.commit([record(topic, value) for value in values], offsets={}, group=GROUP)
    assert written == list(range(500))
    assert await committed_values(settings, topic) == values


async def test_a_successor_fences_the_holder(producer: TransactionalProducer, settings: KafkaSettings, topic: str) -> None:
    await producer.commit([record(topic, b"before")], offsets={TopicPartition(topic, 0): 1}, group=f"{topic}-{GROUP}")
    successor = new_producer(settings, topic)
    await successor.start()
    try:
        with pytest.raises(ProducerFencedError):
            await producer.commit([record(topic, b"zombie")], offsets={TopicPartition(topic, 0): 9}, group=f"{topic}-{GROUP}")
        assert not producer.is_started
        await successor.commit([record(topic, b"after")], offsets={TopicPartition(topic, 0): 2}, group=f"{topic}-{GROUP}")
    finally:
        await successor.stop()
    assert await committed_values(settings, topic) == [b"before", b"after"]
    assert await committed_offset(settings, topic) == 2


@pytest.mark.parametrize("each", [1, 300], ids=["one batch a partition", "several batches a partition"])
@pytest.mark.parametrize("used", [False, True], ids=["at its first transaction", "at a later one"])
async def test_a_fenced_holder_leaves_no_warning_of_asyncio(settings: KafkaSettings, topic: str, each: int, used: bool) -> None:
    warned: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: warned.append(str(context)))
    records = [record(topic, b"x" * 9_000, partition) for partition in range(2) for _ in range(each)]
    holder, successor = new_producer(settings, topic), new_producer(settings, topic)
    await holder.start()
    if used:
        await holder.commit(records, offsets={}, group=GROUP)
    await successor.start()
    try:
        with pytest.raises(ProducerFencedError):
            await holder.commit(records, offsets={}, group=GROUP)
    finally:
        await successor.stop()
    gc.collect()  # asyncio warns when a future goes
    assert warned == []


async def test_a_successor_aborts_the_open_transaction(settings: KafkaSettings, topic: str) -> None:
    dead = AIOKafkaProducer(**client_options(settings), transactional_id=f"{topic}-writer", transaction_timeout_ms=600_000)
    await dead.start()
    try:
        await dead.begin_transaction()
        await dead.send_and_wait(topic, b"never committed", partition=0)
        successor = new_producer(settings, topic)
        await successor.start()
        try:
            await successor.commit([record(topic, b"committed")], offsets={}, group=GROUP)
        finally:
            await successor.stop()
        assert await committed_values(settings, topic) == [b"committed"]
    finally:
        await dead.stop()


async def test_stopping_aborts_the_open_transaction(settings: KafkaSettings, topic: str) -> None:
    producer = new_producer(settings.model_copy(update={"transaction_timeout_s": 120.0}), topic)
    await producer.start()
    client = producer._client
    assert client is not None
    await client.begin_transaction()
    await client.send_and_wait(topic, b"open", partition=0)
    await producer.stop()
    async with asyncio.timeout(60):  # far less than the broker's time-out
        assert await committed_values(settings, topic) == []


async def test_a_record_too_large_is_refused_unsent(producer: TransactionalProducer, settings: KafkaSettings, topic: str) -> None:
    with pytest.raises(RecordTooLargeError, match=topic):
        await producer.commit([record(topic, b"a"), record(topic, b"x" * 1_000_000)], offsets={}, group=GROUP)
    assert await producer.commit([record(topic, b"b")], offsets={}, group=GROUP) == [0]


async def test_a_clock_that_is_ahead_is_named(
    producer: TransactionalProducer, settings: KafkaSettings, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_two_hours = datetime.now(UTC) + timedelta(hours=2)
    monkeypatch.setattr("runtime.kafka.transactional._CLOCK", ManualClock(in_two_hours))
    with pytest.raises(KafkaUnavailableError, match="was not confirmed: the broker refuses the time of the records"):
        await producer.commit([OutgoingRecord(topic, b"k", b"v")], offsets={}, group="g")


async def test_a_producer_that_is_not_started_raises(settings: KafkaSettings, topic: str) -> None:
    with pytest.raises(KafkaUnavailableError, match="not started"):
        await new_producer(settings, topic).commit([record(topic, b"a")], offsets={}, group=GROUP)


async def test_restarting_a_producer_fences_its_earlier_transaction(
    producer: TransactionalProducer, settings: KafkaSettings, topic: str
) -> None:
    await producer.commit([record(topic, b"first")], offsets={}, group=GROUP)
    await producer.start()
    assert await producer.commit([record(topic, b"second")], offsets={}, group=GROUP) == [2], "a commit's marker takes up an offset"
