"""Reading whole topics: leaves the event loop to others, since the service's jobs read next to its requests, and uses one connection."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.conn import AIOKafkaConnection
from aiokafka.protocol.fetch import FetchRequest

from runtime.errors import TopicMissingError
from runtime.kafka import OutgoingRecord, Producer, TopicReader, create_topics, read_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import Settings
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

RECORDS = 3000
WORK_S = 0.0002
LONGEST_S = 0.1


async def test_handling_records_does_not_block_the_loop(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(kafka=one_broker(partitions=1))
    await create_topics(settings)
    topic = settings.topic("extractions")
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(topic, b"acme/ann", b"%d" % number) for number in range(RECORDS)])
    pauses: list[float] = []

    async def measure() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            pauses.append(time.thread_time() - before)

    measuring = asyncio.create_task(measure())
    read = 0
    async for record in read_topic(topic, settings.kafka):
        assert record.value == b"%d" % read
        read += 1
        began = time.thread_time()
        while time.thread_time() - began < WORK_S:
            pass
    measuring.cancel()
    assert read == RECORDS
    assert max(pauses) < LONGEST_S


async def test_topics_share_a_connection_that_never_waits(make_settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch at a log's end would keep the questions about the next topic waiting on the shared connection."""
    settings = make_settings(kafka=one_broker(partitions=2))
    await create_topics(settings)
    topics = [settings.topic(each) for each in ("extractions", "memories")]
    records = [OutgoingRecord(topic, b"key", b"%d" % number, partition=number % 2) for topic in topics for number in range(10)]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(records)
    writer = TransactionalProducer(kafka=settings.kafka, transactional_id=settings.topic("writer"), partitions=2)
    await writer.start()
    await writer.commit(
        [OutgoingRecord(topic, b"key", b"%d" % number, partition=number % 2) for topic in topics for number in (10, 11)],
        offsets={},
        group="",
    )
    await writer.stop()
    connections: set[int] = set()
    fetched: list[int] = []
    send = AIOKafkaConnection.send

    def recorded(connection: AIOKafkaConnection, request: Any, **options: Any) -> Any:
        connections.add(id(connection))
        if isinstance(request, FetchRequest):
            fetched.extend(offset for _, partitions in request.topics for _, offset, _ in partitions)
        return send(connection, request, **options)

    async with TopicReader(kafka=settings.kafka) as reader:
        monkeypatch.setattr(AIOKafkaConnection, "send", recorded)
        for topic in topics:
            assert sorted([int(each.value or b"") async for each in reader.records(topic)]) == list(range(12))
        with pytest.raises(TopicMissingError, match="varve topics create"):
            await anext(reader.records(settings.topic("nothing")))
        assert [each async for each in reader.records(settings.topic("recalls"))] == []
    assert len(connections) == 1
    assert fetched
    assert max(fetched) < 7, "the transaction's marker is each partition's seventh record"


async def test_records_behind_an_open_transaction_are_read(make_settings: Callable[..., Settings]) -> None:
    settings = make_settings(kafka=one_broker(partitions=1))
    await create_topics(settings)
    topic = settings.topic("extractions")
    open_writer = AIOKafkaProducer(bootstrap_servers=settings.kafka.bootstrap, transactional_id=settings.topic("open"))
    await open_writer.start()
    await open_writer.begin_transaction()
    await open_writer.send_and_wait(topic, b"open", b"key", partition=0)
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(topic, b"key", b"behind", partition=0)])
    reading = asyncio.create_task(_values(topic, settings))
    done, _ = await asyncio.wait([reading], timeout=1)
    assert not done, "the read waits for the transaction"
    await open_writer.commit_transaction()
    await open_writer.stop()
    assert await reading == [b"open", b"behind"]


async def _values(topic: str, settings: Settings) -> list[bytes | None]:
    return [each.value async for each in read_topic(topic, settings.kafka)]
