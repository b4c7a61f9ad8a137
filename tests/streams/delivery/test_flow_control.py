"""A flooded partition is paused, and nothing that was fetched of it is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.keys import encode_key
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, create_topics
from runtime.settings import Settings
from streams.delivery.records import ConsumedRecord
from tests.one_broker import one_broker
from tests.streams.flow import keyed_worker
from tests.streams.harness import until
from tests.streams.message_ledger import records_of

pytestmark = pytest.mark.integration

SPAN = 5
RECORDS = 600
PARTITIONS = 2


@pytest.fixture
async def settings(kafka: str, topic_prefix: str, tmp_path: Path) -> Settings:
    settings = Settings(data=tmp_path, kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=PARTITIONS))
    await create_topics(settings)
    return settings


class SlowHandler:
    """Takes its time, so that more is fetched than may be held."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.handled: set[bytes] = set()

    def tenant_of(self, record: ConsumedRecord) -> str:
        return "acme"

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        await asyncio.sleep(0.005)
        self.handled.add(record.value or b"")
        return [OutgoingRecord(self.topic, record.key, record.value)]


@asynccontextmanager
async def working(settings: Settings, handler: SlowHandler) -> AsyncIterator[None]:
    stop = asyncio.Event()
    worker = keyed_worker(settings, handler, max_span=SPAN)
    running = asyncio.create_task(worker.run(stop))
    try:
        yield
    finally:
        stop.set()
        await running


async def send(settings: Settings, numbers: range) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(
            [
                OutgoingRecord(settings.topic("windows"), encode_key("acme", f"s{number}"), b"%d" % number, partition=number % PARTITIONS)
                for number in numbers
            ]
        )


async def test_pausing_a_partition_loses_no_fetched_record(settings: Settings) -> None:
    handler = SlowHandler(settings.topic("extractions"))
    await send(settings, range(RECORDS))
    async with working(settings, handler):
        await until(lambda: len(handler.handled) == RECORDS)
        await send(settings, range(RECORDS, RECORDS + 4))
        await until(lambda: len(handler.handled) == RECORDS + 4)
    assert {record.value for record in await records_of(settings, "extractions")} == {b"%d" % number for number in range(RECORDS + 4)}
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        lag = await offsets.lag(settings.topic("extraction"), [settings.topic("windows")])
    assert not any(lag.values())
