"""A flooded or blocked partition is paused: none of its fetched records is lost, and the others continue."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from memory.keys import encode_key
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, create_topics
from runtime.metrics import Metrics
from runtime.settings import DeliverySettings, Settings
from streams.engine.build import ordered_driver_factory
from streams.engine.context import StageContext
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import NullStore
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.engine.tasks.checkpointer import Checkpointer, Writer
from streams.engine.tasks.driver import Driver
from streams.engine.worker import Worker
from streams.errors import TransientError
from tests.one_broker import one_broker
from tests.streams.flow import keyed_worker
from tests.streams.harness import until
from tests.streams.message_ledger import records_of

pytestmark = pytest.mark.integration

SPAN = 5
RECORDS = 600
PARTITIONS = 2
QUEUED = 20


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

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        await asyncio.sleep(0.005)
        self.handled.add(record.value or b"")
        return [OutgoingRecord(self.topic, record.key, record.value)]


class RefusedPartitions:
    """A worker whose partitions are taken over unless they are refused."""

    def __init__(self, settings: Settings) -> None:
        self.refused: set[int] = set()
        self.handled: dict[int, list[bytes | None]] = {number: [] for number in range(PARTITIONS)}
        self._new_driver = ordered_driver_factory(settings, NullStore(), lambda _: self._Handler(self))
        self.worker = Worker(
            stage="index",
            source=settings.topic("windows"),
            has_table=False,
            settings=settings,
            metrics=Metrics(),
            new_driver=self._driver,
        )

    def _driver(self, context: StageContext) -> Driver:
        def new_writer(partition: int) -> Writer:
            writer = context.new_writer(partition)
            assert isinstance(writer, Checkpointer)
            initialize = writer.initialize

            async def initialize_unless_refused() -> int | None:
                next_offset = await initialize()
                if partition in self.refused:
                    raise TransientError("the store lacks what the group has handled", dependency="store")
                return next_offset

            writer.initialize = initialize_unless_refused  # type: ignore[method-assign]
            return writer

        return self._new_driver(replace(context, new_writer=new_writer))

    class _Handler(BatchHandler):
        def __init__(self, partitions: "RefusedPartitions") -> None:
            self.partitions = partitions

        async def handle(self, batch: Batch) -> None:
            self.partitions.handled[batch.partition] += [record.value for record in batch.records]


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[None]:
    stop = asyncio.Event()
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
    async with working(keyed_worker(settings, handler, max_span=SPAN)):
        await until(lambda: len(handler.handled) == RECORDS)
        await send(settings, range(RECORDS, RECORDS + 4))
        await until(lambda: len(handler.handled) == RECORDS + 4)
    assert {record.value for record in await records_of(settings, "extractions")} == {b"%d" % number for number in range(RECORDS + 4)}
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        lag = await offsets.lag(settings.topic("extraction"), [settings.topic("windows")])
    assert not any(lag.values())


async def test_a_refused_partition_holds_up_no_other(settings: Settings) -> None:
    settings = settings.model_copy(update={"delivery": DeliverySettings(max_queued=QUEUED, retry_maximum_interval_s=0.5)})
    partitions = RefusedPartitions(settings)
    partitions.refused = {0}
    both = range(8 * QUEUED)
    values = {number: [b"%d" % each for each in both if each % PARTITIONS == number] for number in range(PARTITIONS)}
    async with working(partitions.worker):
        for start in both[:: 4 * QUEUED]:
            await send(settings, range(start, start + 4 * QUEUED))
            sent = (start + 4 * QUEUED) // PARTITIONS
            await until(lambda sent=sent: len(partitions.handled[1]) == sent)  # type: ignore[misc]
        assert partitions.handled == {0: [], 1: values[1]}
        partitions.refused = set()
        await until(lambda: len(partitions.handled[0]) >= len(values[0]))
    assert partitions.handled == values
