"""Records beyond what a worker may hold: their contents are let go, and read again when their turn comes."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.records_to_delete import RecordsToDelete

from runtime.breaker import CircuitBreaker
from runtime.kafka import OutgoingRecord, Producer, client_options, create_topics
from runtime.settings import KafkaSettings, Settings
from streams.delivery.driver import FaustRecord
from streams.delivery.keyed_driver import KeyedDriver
from streams.delivery.payload_loader import PayloadLoader
from streams.delivery.records import ConsumedRecord
from streams.delivery.scheduler import Scheduler
from streams.errors import PoisonRecordError, TransientError
from tests.streams.harness import stage_context, until

TOPIC = "windows"
COUNT = 50
STUBBORN = 30
"""A record whose log cannot be read, more often than a record is tried, while others are served."""
VALUES = {offset: b"value %d" % offset for offset in range(COUNT)}


class Scene:
    """KeyedDriver that may hold two records at a time; Faust, the handler, the outbox and the log are this object."""

    def __init__(self) -> None:
        self.acked: list[int] = []
        self.handled: dict[int, bytes | None] = {}
        self.loaded: list[int] = []
        self.away = 10
        self.longest_held = 0
        self.events: list[SimpleNamespace] = []
        context = stage_context(self, new_breaker=lambda: CircuitBreaker(failures=10, reset_s=0.002))
        scheduler = Scheduler[FaustRecord](slots=2, tenant_share=1.0, max_in_flight=2, max_span=COUNT, evict=FaustRecord.evict)
        self.driver = KeyedDriver(context=context, handler=self, topic=TOPIC, scheduler=scheduler, load_payload=self.load_payload)

    def tenant_of(self, record: ConsumedRecord) -> str:
        return "acme"

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        await asyncio.sleep(0)
        self.longest_held = max(self.longest_held, sum(event.value is not None for event in self.events))
        self.handled[record.offset] = record.value
        return []

    async def send(self, records: Sequence[OutgoingRecord], *, may_write: Callable[[], bool]) -> list[int]:
        return []

    async def load_payload(self, record: ConsumedRecord) -> ConsumedRecord:
        await asyncio.sleep(0)
        if self.away and record.offset == STUBBORN:
            self.away -= 1
            raise TransientError("no broker", dependency="kafka")
        self.loaded.append(record.offset)
        return ConsumedRecord(TOPIC, 0, record.offset, record.key, VALUES[record.offset], (), 0.0)

    async def put(self, offset: int) -> None:
        value = VALUES[offset]
        message = SimpleNamespace(topic=TOPIC, partition=0, offset=offset, key=b"%d" % offset, value=value, headers=(), timestamp=0.0)
        event = SimpleNamespace(message=message, value=value, ack=lambda: self.acked.append(offset))
        self.events.append(event)
        await self.driver.put(FaustRecord(event))


async def test_a_worker_sees_far_holds_little_and_handles_every_record_whole() -> None:
    scene = Scene()
    await scene.driver.assign({0}, 1)
    for offset in range(COUNT):
        await scene.put(offset)
    async with asyncio.timeout(60):
        await until(lambda: scene.driver.backlog == 0)
    await scene.driver.stop()
    assert scene.driver.failure is None
    assert scene.handled == VALUES
    assert scene.acked == list(range(COUNT))
    assert sorted(scene.loaded) == list(range(2, COUNT))
    assert scene.longest_held == 2


@pytest.mark.integration
async def test_records_are_read_again_in_any_order_and_one_that_expired_is_refused(kafka: str, topic_prefix: str) -> None:
    settings = Settings(_env_file=None, kafka=KafkaSettings(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2))
    await create_topics(settings)
    topic = settings.topic("windows")
    large = b"x" * 300_000
    async with Producer(kafka=settings.kafka) as producer:
        sent = [
            OutgoingRecord(topic=topic, key=b"%d" % number, value=b"%d" % number + large, headers=(("h", b"1"),), partition=number % 2)
            for number in range(20)
        ]
        positions = await producer.send_many(sent)
    asked = [
        ConsumedRecord(topic, position.partition, position.offset, record.key, None, (), 0.0)
        for record, position in zip(sent, positions, strict=True)
    ]
    async with PayloadLoader(kafka=settings.kafka) as loader:
        found = await asyncio.gather(*(loader.read(record) for record in reversed(asked)))
        assert [(each.position, each.key, each.value, each.headers) for each in reversed(found)] == [
            (position, record.key, record.value, (("h", b"1"),)) for record, position in zip(sent, positions, strict=True)
        ]
        admin = AIOKafkaAdminClient(**client_options(settings.kafka))
        await admin.start()
        await admin.delete_records({TopicPartition(topic, 0): RecordsToDelete(before_offset=5)})
        await admin.close()
        with pytest.raises(PoisonRecordError, match="retention") as refused:
            await loader.read(asked[0])
        assert refused.value.reason == "expired"
        assert (await loader.read(asked[-1])).value == sent[-1].value
