"""The batch producer on aiokafka's own sender, with a broker whose answers the test times."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import InvalidTopicError, MessageSizeTooLargeError

from memory.errors import RecordTooLargeError
from runtime.kafka import OutgoingRecord, producer_connection
from runtime.settings import KafkaSettings
from streams.delivery.batch_producer import BatchProducer
from streams.errors import TransientError
from tests.streams.harness import until

PARTITIONS = 3
BASE_OFFSET = 40


class Broker:
    """One node for each partition; it answers at once unless its gate is shut, and refuses where the test says so."""

    def __init__(self) -> None:
        self.journal: list[str] = []
        self.gates = {partition: asyncio.Event() for partition in range(PARTITIONS)}
        for gate in self.gates.values():
            gate.set()
        self.refuses: dict[int, type[Any]] = {}

    def hold(self, *partitions: int) -> None:
        for partition in partitions:
            self.gates[partition].clear()

    async def send(self, node: int, request: Any, **_: Any) -> Any:
        self.journal.append(f"request {node}")
        await self.gates[node].wait()
        code = self.refuses[node].errno if node in self.refuses else 0
        self.journal.append(f"{'refused' if code else 'took'} {node}")
        answers = [(topic, [(partition, code, BASE_OFFSET, -1, 0) for partition, _ in partitions]) for topic, partitions in request._topics]
        return SimpleNamespace(API_VERSION=7, topics=answers)


class Client(AIOKafkaProducer):  # type: ignore[misc]
    """aiokafka's producer, but for its connections."""

    made: list["Client"]
    broker: Broker
    are_connections_closed = False

    async def start(self) -> None:
        self.made.append(self)
        cluster = self.client.cluster
        cluster.partitions_for_topic = lambda topic: set(range(PARTITIONS)) if topic == "out" else None
        cluster.leader_for_partition = lambda partition: partition.partition
        self.client.send = self.broker.send
        close = self.client.close

        async def closing() -> None:
            self.are_connections_closed = True
            await close()

        self.client.close = closing
        self._txn_manager.set_pid_and_epoch(1, 0)
        await self._sender.start()

    async def stop(self) -> None:
        self.broker.journal.append("stopping")
        await super().stop()

    @property
    def is_dead(self) -> bool:
        """It sends nothing any more, and its connections are closed."""
        return bool(self._sender.sender_task.done()) and self.are_connections_closed


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, broker: Broker) -> list[Client]:
    monkeypatch.setattr(Client, "made", [], raising=False)
    monkeypatch.setattr(Client, "broker", broker, raising=False)
    monkeypatch.setattr(producer_connection, "AIOKafkaProducer", Client)
    return Client.made


@pytest.fixture
async def producer(made: list[Client]) -> AsyncIterator[BatchProducer]:
    producer = BatchProducer(kafka=KafkaSettings(partitions=PARTITIONS, request_timeout_s=0.5), partitions=PARTITIONS, close_timeout_s=0.02)
    await producer.start()
    yield producer
    await producer.stop()
    assert all(client.is_dead for client in made)


def record(partition: int, value: bytes = b"v", *, topic: str = "out") -> OutgoingRecord:
    return OutgoingRecord(topic, b"k", value, (), partition)


def sending(producer: BatchProducer, *records: OutgoingRecord) -> asyncio.Task[list[int]]:
    return asyncio.create_task(producer.send(records, may_write=lambda: True))


async def requested(broker: Broker, *partitions: int) -> None:
    await until(lambda: all(f"request {partition}" in broker.journal for partition in partitions))


async def test_each_record_gets_its_offset(producer: BatchProducer) -> None:
    records = [record(0), record(1), record(0), record(1, b"x" * 900_000), record(1, b"x" * 900_000)]
    assert await producer.send(records, may_write=lambda: True) == [40, 40, 41, 41, 40]


async def test_failed_send_raises_only_when_every_batch_is_decided(producer: BatchProducer, broker: Broker) -> None:
    broker.hold(0, 1)
    broker.refuses[0] = InvalidTopicError
    task = sending(producer, record(0), record(1))
    await requested(broker, 0, 1)
    broker.gates[0].set()
    for _ in range(100):
        await asyncio.sleep(0)
    broker.gates[1].set()
    with pytest.raises(TransientError):
        await task
    assert broker.journal[2:] == ["refused 0", "took 1", "stopping"]


async def test_fenced_send_waits_for_batches_already_sent(producer: BatchProducer, broker: Broker) -> None:
    broker.hold(0)
    answers = iter([True, False])
    task = asyncio.create_task(producer.send([record(0), record(1)], may_write=lambda: next(answers)))
    await requested(broker, 0)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not task.done()
    broker.gates[0].set()
    with pytest.raises(TransientError) as caught:
        await task
    assert caught.value.dependency == "assignment"
    assert broker.journal == ["request 0", "took 0"]


async def test_record_too_large_for_the_broker_is_reported(producer: BatchProducer, broker: Broker) -> None:
    broker.refuses[1] = MessageSizeTooLargeError
    with pytest.raises(RecordTooLargeError):
        await producer.send([record(0), record(1)], may_write=lambda: True)


async def test_aborted_client_sends_nothing_later(producer: BatchProducer, broker: Broker, made: list[Client]) -> None:
    broker.hold(1, 2)
    others = [sending(producer, record(1)), sending(producer, record(2)), sending(producer, record(1, b"behind"))]
    await requested(broker, 1, 2)
    broker.refuses[0] = InvalidTopicError
    with pytest.raises(TransientError):
        await producer.send([record(0)], may_write=lambda: True)
    assert made[0].is_dead
    for other in others:
        with pytest.raises(TransientError):
            await other
    before = list(broker.journal)
    broker.gates[1].set()
    broker.gates[2].set()
    broker.refuses.clear()
    assert await producer.send([record(0)], may_write=lambda: True) == [BASE_OFFSET]
    assert broker.journal == [*before, "request 0", "took 0"]
    assert len(made) == 2


async def test_client_is_aborted_when_its_replacement_is_cancelled(broker: Broker, made: list[Client]) -> None:
    producer = BatchProducer(kafka=KafkaSettings(partitions=PARTITIONS), partitions=PARTITIONS, close_timeout_s=60)
    await producer.start()
    broker.hold(1)
    other = sending(producer, record(1))
    await requested(broker, 1)
    broker.refuses[0] = InvalidTopicError
    failing = sending(producer, record(0))
    await until(lambda: "stopping" in broker.journal)
    failing.cancel()
    await asyncio.wait({failing})
    assert made[0].is_dead
    broker.gates[1].set()
    with pytest.raises(TransientError):
        await other
    assert "took 1" not in broker.journal


async def test_stop_does_not_wait_for_unavailable_broker(producer: BatchProducer, broker: Broker, made: list[Client]) -> None:
    broker.hold(1)
    task = sending(producer, record(1))
    await requested(broker, 1)
    await producer.stop()
    assert made[0].is_dead
    with pytest.raises(TransientError):
        await task


async def test_send_to_unknown_topic_times_out(made: list[Client], broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    producer = BatchProducer(kafka=KafkaSettings(partitions=PARTITIONS, request_timeout_s=0.01), partitions=PARTITIONS)
    await producer.start()
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    monkeypatch.setattr(made[0].client, "force_metadata_update", lambda: asyncio.shield(never))
    with pytest.raises(TransientError):
        await producer.send([record(0, topic="unheard-of")], may_write=lambda: True)
    await producer.stop()
