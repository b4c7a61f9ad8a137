"""Reading a whole topic leaves the event loop to others: the service's jobs read next to its requests."""

import asyncio
import time
from collections.abc import Callable

import pytest

from runtime.kafka import OutgoingRecord, Producer, create_topics, read_topic
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
