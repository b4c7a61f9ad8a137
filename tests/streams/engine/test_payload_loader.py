"""Records beyond what a worker may hold: their payloads are evicted, and loaded again before they run."""

import asyncio

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.records_to_delete import RecordsToDelete

from runtime.kafka import OutgoingRecord, Producer, client_options, create_topics
from runtime.resilience import CircuitBreaker
from runtime.settings import Settings
from streams.engine.keyed.keyed_driver import KeyedDriver
from streams.engine.keyed.payloads import PayloadLoader
from streams.engine.keyed.scheduler import Scheduler
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import FaustRecord, InFlightRecord
from streams.errors import PoisonRecordError, TransientError
from tests.one_broker import one_broker
from tests.streams.engine.doubles import ScriptedLog, faust_record
from tests.streams.harness import stage_context, until

TOPIC = "windows"
COUNT = 50
UNREADABLE = 30
"""A record whose payload fails to load more often than a record is tried, while others are handled."""
VALUES = {offset: b"value %d" % offset for offset in range(COUNT)}


class EvictingHarness:
    """A keyed driver that may hold two payloads at a time; the handler and the log are this object."""

    def __init__(self) -> None:
        self.log = ScriptedLog()
        self.handled: dict[int, bytes | None] = {}
        self.loaded: list[int] = []
        self.log_failures = 10
        self.peak_payloads = 0
        self.records: list[FaustRecord] = []
        context = stage_context(lambda partition: self.log.writer(), new_breaker=lambda: CircuitBreaker(failures=10, reset_s=0.002))
        scheduler = Scheduler[InFlightRecord](
            slots=2, tenant_share=1.0, max_in_flight=2, max_span=COUNT, evict=lambda record: record.evict()
        )
        self.driver = KeyedDriver(context=context, handler=self, topic=TOPIC, scheduler=scheduler, load_payload=self.load_payload)

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        await asyncio.sleep(0)
        self.peak_payloads = max(self.peak_payloads, sum(not each.is_evicted for each in self.records))
        self.handled[record.offset] = record.value
        return []

    async def load_payload(self, record: ConsumedRecord) -> ConsumedRecord:
        await asyncio.sleep(0)
        if self.log_failures and record.offset == UNREADABLE:
            self.log_failures -= 1
            raise TransientError("no broker", dependency="kafka")
        self.loaded.append(record.offset)
        return ConsumedRecord(TOPIC, 0, record.offset, record.key, VALUES[record.offset], (), 0.0)

    async def put(self, offset: int) -> None:
        record = faust_record(ConsumedRecord(TOPIC, 0, offset, b"%d" % offset, VALUES[offset], (), 0.0))
        self.records.append(record)
        await self.driver.put(record)


async def test_evicted_payloads_are_loaded_before_handling() -> None:
    harness = EvictingHarness()
    await harness.driver.assign({0}, 1)
    for offset in range(COUNT):
        await harness.put(offset)
    async with asyncio.timeout(60):
        await until(lambda: harness.driver.backlog == 0)
    await harness.driver.stop()
    assert harness.driver.failure is None
    assert harness.handled == VALUES
    assert harness.log.next_offset == COUNT
    assert sorted(harness.loaded) == list(range(2, COUNT))
    assert harness.peak_payloads == 2


@pytest.mark.integration
async def test_loader_reads_any_order_and_rejects_expired_records(kafka: str, topic_prefix: str) -> None:
    settings = Settings(_env_file=None, kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2))
    await create_topics(settings)
    topic = settings.topic("merges")
    large = b"x" * 300_000
    async with Producer(kafka=settings.kafka) as producer:
        sent = [OutgoingRecord(topic, b"%d" % number, b"%d" % number + large, (("h", b"1"),), number % 2) for number in range(20)]
        positions = await producer.send_many(sent)
    evicted = [
        ConsumedRecord(topic, position.partition, position.offset, record.key, None, (), 0.0)
        for record, position in zip(sent, positions, strict=True)
    ]
    async with PayloadLoader(kafka=settings.kafka) as loader:
        found = await asyncio.gather(*(loader.read(record) for record in reversed(evicted)))
        expected = [(position, record.key, record.value, (("h", b"1"),)) for record, position in zip(sent, positions, strict=True)]
        assert [(each.position, each.key, each.value, each.headers) for each in reversed(found)] == expected
        # In the log's order, with gaps, as another tenant's records leave them.
        onward = [number for number in range(20) if number % 2 and number % 5]
        assert [(await loader.read(evicted[number])).value for number in onward] == [sent[number].value for number in onward]
        admin = AIOKafkaAdminClient(**client_options(settings.kafka))
        await admin.start()
        await admin.delete_records({TopicPartition(topic, 0): RecordsToDelete(before_offset=5)})
        await admin.close()
        with pytest.raises(PoisonRecordError, match="retention") as refused:
            await loader.read(evicted[0])
        assert refused.value.reason == "expired"
        assert (await loader.read(evicted[-1])).value == sent[-1].value
