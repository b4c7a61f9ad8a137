"""A truncated log that grew again before a worker read it is detected by the last handled record."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiokafka.structs import OffsetAndMetadata

from runtime.kafka import KafkaOffsets, OffsetAndTimestamp, OutgoingRecord, Producer, TopicPartition, create_topics
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import Settings
from streams.engine.failures.data_loss import DataLoss, DataLossError
from streams.engine.tasks.checkpointer import Checkpointer
from streams.engine.tasks.offset_metadata import OffsetMetadata
from streams.operations.accept_loss import LostRange, accept_loss, find_loss
from tests.one_broker import one_broker
from tests.streams.flow import NewFlow, flow_settings
from tests.streams.gated_worker import GatedHandler, lost_by, working
from tests.streams.harness import until
from tests.streams.message_ledger import stage_done
from varve.embedded import jars
from varve.embedded.kafka import EmbeddedKafka
from varve.supervisor.process import ManagedProcess

pytestmark = pytest.mark.integration

HANDLED = 10


@pytest.fixture
async def settings(new_flow: NewFlow) -> Settings:
    return await new_flow({})


class Log:
    """One partition of a topic, with a group that has handled part of it. Its next owner reports the loss."""

    def __init__(self, settings: Settings, topic: str, offsets: KafkaOffsets, stack: AsyncExitStack) -> None:
        self.settings = settings
        self.source = TopicPartition(settings.topic(topic), 0)
        self.offsets = offsets
        self._stack = stack

    async def write(self, count: int) -> None:
        async with Producer(kafka=self.settings.kafka) as producer:
            await producer.send_many([OutgoingRecord(self.source.topic, b"k", b"%d" % number, partition=0) for number in range(count)])

    async def stamp(self, offset: int) -> OffsetAndTimestamp:
        return (await self.offsets.stamps({self.source: offset}))[self.source]

    async def note(self, next_offset: int, last: OffsetAndTimestamp) -> None:
        """Commits as the group, whose log had that record."""
        producer = TransactionalProducer(kafka=self.settings.kafka, transactional_id=f"{self.source.topic}.note", partitions=2)
        self._stack.push_async_callback(producer.stop)
        await producer.start()
        noted: Mapping[TopicPartition, OffsetAndMetadata] = {self.source: OffsetAndMetadata(next_offset, OffsetMetadata(last=last).text)}
        await producer.commit([], offsets=noted, group="g")

    async def loss(self) -> DataLoss | None:
        """The loss that a worker detects when it gets the partition."""
        writer = Checkpointer(source=self.source, group="g", kafka=self.settings.kafka, offsets=self.offsets)
        self._stack.push_async_callback(writer.stop)
        try:
            await writer.initialize()
        except DataLossError as error:
            return error.loss
        return None


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def merges(settings: Settings, stack: AsyncExitStack) -> Log:
    offsets = await stack.enter_async_context(KafkaOffsets(kafka=settings.kafka))
    log = Log(settings, "merges", offsets, stack)
    await log.write(HANDLED)
    return log


async def test_the_record_handled_last_is_known_again(merges: Log) -> None:
    last = await merges.stamp(6)
    assert last.offset == 6
    await merges.note(7, last)
    assert await merges.loss() is None
    assert await merges.loss() is None, "the note stays"
    first = await merges.stamp(0)
    await merges.note(7, OffsetAndTimestamp(last.offset, first.written_ms - 1))
    loss = await merges.loss()
    assert loss is not None
    assert (loss.is_cut, loss.first, loss.next) == (True, 0, 7), "all of it was written since"
    assert "the log was cut at 0 or before" in str(loss)
    assert await merges.loss() == loss, "a later check finds the same"


async def test_records_kept_by_a_truncation_are_not_named(merges: Log) -> None:
    """The log keeps the records before the truncation: the range begins at the first record that was written since."""
    kept = (await merges.stamp(HANDLED - 1)).written_ms
    async with asyncio.timeout(60):
        while round(time.time() * 1000) <= kept + 1:  # noqa: ASYNC110 - the clock has no event
            await asyncio.sleep(0.001)
    await merges.write(5)
    await merges.note(HANDLED + 4, OffsetAndTimestamp(HANDLED + 3, kept + 1))
    loss = await merges.loss()
    assert loss is not None
    assert (loss.first, loss.next) == (HANDLED, HANDLED + 4)


async def test_a_marker_in_its_place_is_another_log(merges: Log) -> None:
    producer = TransactionalProducer(kafka=merges.settings.kafka, transactional_id="m", partitions=2)
    await producer.start()
    await producer.commit([OutgoingRecord(merges.source.topic, b"k", b"v", partition=0)], offsets={}, group="g")
    await producer.stop()
    await merges.write(1)
    await merges.note(HANDLED + 2, OffsetAndTimestamp(HANDLED + 1, 5))
    loss = await merges.loss()
    assert loss is not None
    assert (loss.first, loss.next) == (0, HANDLED + 2)


@pytest.mark.parametrize("topic", ["memories", "windows", "extractions"])
async def test_compacted_records_are_no_loss(settings: Settings, stack: AsyncExitStack, topic: str) -> None:
    """Where compaction may have taken the record away, its absence is no loss."""
    offsets = await stack.enter_async_context(KafkaOffsets(kafka=settings.kafka))
    log = Log(settings, topic, offsets, stack)
    producer = TransactionalProducer(kafka=settings.kafka, transactional_id="c", partitions=2)
    await producer.start()
    await producer.commit([OutgoingRecord(log.source.topic, b"k", b"v", partition=0)], offsets={}, group="g")
    await producer.stop()
    await log.write(1)
    await log.note(2, OffsetAndTimestamp(1, 5))
    assert await log.loss() is None
    await log.note(1, OffsetAndTimestamp(0, 5))
    assert (await log.loss()) is not None, "a record that is there is another one"


async def test_a_lost_disk_stops_the_stage(tmp_path: Path, redis_url: str) -> None:
    """The broker loses a partition's files, and comes back with the group's offsets; new records take the old ones' offsets."""
    cache = Settings().cache_path
    jars.fetch(cache)
    broker = EmbeddedKafka(data=tmp_path / "kafka", cache=cache, heap_mb=256, short_lived=True)
    process = ManagedProcess(broker.prepare())
    await process.start()
    settings = flow_settings(kafka=broker.bootstrap, topic_prefix="cut.", redis_url=redis_url, data=tmp_path, socket=tmp_path / "none.sock")
    settings = settings.model_copy(update={"kafka": one_broker(bootstrap=broker.bootstrap, topic_prefix="cut.", partitions=2)})
    try:
        await create_topics(settings)
        await _send(settings, range(HANDLED))
        handler = GatedHandler(settings)
        handler.gate.set()
        async with working(settings, handler):
            await until(lambda: len(handler.handled[0]) == HANDLED)
            await stage_done(settings, "merging")

        assert await process.stop()
        (files,) = (tmp_path / "kafka").rglob(f"{settings.topic('merges')}-0")
        shutil.rmtree(files)
        process = ManagedProcess(broker.prepare())
        await process.start()
        await _send(settings, range(100, 100 + HANDLED + 5))

        handler = GatedHandler(settings)
        handler.gate.set()
        async with working(settings, handler) as worker:
            await until(lambda: lost_by(worker, settings) > 0)
            assert handler.handled[0] == [], "5 records would have been handled, and 10 passed over"
            loss = await find_loss(settings, "merging", 0)
            assert loss is not None
            assert (loss.first, loss.next) == (0, HANDLED)
            await accept_loss(settings, "merging", 0, LostRange(first=0, next=HANDLED), accepted_by="ada")
            await until(lambda: len(handler.handled[0]) == HANDLED + 5)
        assert sorted(handler.handled[0]) == list(range(HANDLED + 5))
    finally:
        await process.stop()


async def _send(settings: Settings, numbers: range) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(settings.topic("merges"), b"k%d" % each, b"v", partition=0) for each in numbers])
