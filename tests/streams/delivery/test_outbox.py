"""The outbox on aiokafka's own sender, with a broker that answers when it is told to."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import InvalidTopicError, MessageSizeTooLargeError

from memory.errors import RecordTooLargeError
from runtime.settings import KafkaSettings
from streams.delivery import outbox as outbox_module
from streams.delivery.outbox import Outbox
from streams.delivery.records import Outgoing
from streams.errors import TransientError
from tests.streams.harness import until

PARTITIONS = 3
BASE_OFFSET = 40


class Broker:
    """One node for each partition; it answers at once unless it is held, and takes what it is told to take."""

    def __init__(self) -> None:
        self.journal: list[str] = []
        self.held = {partition: asyncio.Event() for partition in range(PARTITIONS)}
        for gate in self.held.values():
            gate.set()
        self.refuses: dict[int, type[Any]] = {}

    def hold(self, *partitions: int) -> None:
        for partition in partitions:
            self.held[partition].clear()

    async def send(self, node: int, request: Any, **_: Any) -> Any:
        self.journal.append(f"asked {node}")
        await self.held[node].wait()
        code = self.refuses[node].errno if node in self.refuses else 0
        self.journal.append(f"{'refused' if code else 'took'} {node}")
        answers = [(topic, [(partition, code, BASE_OFFSET, -1, 0) for partition, _ in partitions]) for topic, partitions in request._topics]
        return SimpleNamespace(API_VERSION=7, topics=answers)


class Producer(AIOKafkaProducer):  # type: ignore[misc]
    """aiokafka's producer, but for its connections."""

    made: list["Producer"]
    broker: Broker
    are_connections_closed = False

    async def start(self) -> None:
        self.made.append(self)
        cluster = self.client.cluster
        cluster.partitions_for_topic = lambda topic: set(range(PARTITIONS)) if topic == "out" else None
        cluster.leader_for_partition = lambda place: place.partition
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
def made(monkeypatch: pytest.MonkeyPatch, broker: Broker) -> list[Producer]:
    monkeypatch.setattr(Producer, "made", [], raising=False)
    monkeypatch.setattr(Producer, "broker", broker, raising=False)
    monkeypatch.setattr(outbox_module, "AIOKafkaProducer", Producer)
    monkeypatch.setattr(outbox_module, "_CLOSE_S", 0.02)
    return Producer.made


@pytest.fixture
async def outbox(made: list[Producer]) -> AsyncIterator[Outbox]:
    outbox = Outbox(kafka=KafkaSettings(partitions=PARTITIONS, request_timeout_s=0.5), partitions=PARTITIONS)
    await outbox.start()
    yield outbox
    await outbox.stop()
    assert all(producer.is_dead for producer in made)


def record(partition: int, value: bytes = b"v", *, topic: str = "out") -> Outgoing:
    return Outgoing(topic, b"k", value, (), partition)


def sending(outbox: Outbox, *records: Outgoing) -> asyncio.Task[list[int]]:
    return asyncio.create_task(outbox.send(records, may_write=lambda: True))


async def asked(broker: Broker, *partitions: int) -> None:
    await until(lambda: all(f"asked {partition}" in broker.journal for partition in partitions))


async def test_each_record_gets_its_offset(outbox: Outbox) -> None:
    records = [record(0), record(1), record(0), record(1, b"x" * 900_000), record(1, b"x" * 900_000)]
    assert await outbox.send(records, may_write=lambda: True) == [40, 40, 41, 41, 40]


async def test_a_try_that_failed_raises_only_when_all_of_it_is_decided(outbox: Outbox, broker: Broker) -> None:
    broker.hold(0, 1)
    broker.refuses[0] = InvalidTopicError
    task = sending(outbox, record(0), record(1))
    await asked(broker, 0, 1)
    broker.held[0].set()
    for _ in range(100):
        await asyncio.sleep(0)
    broker.held[1].set()
    with pytest.raises(TransientError):
        await task
    assert broker.journal[2:] == ["refused 0", "took 1", "stopping"]


async def test_a_try_that_may_no_longer_write_waits_for_what_it_has_sent(outbox: Outbox, broker: Broker) -> None:
    broker.hold(0)
    answers = iter([True, False])
    task = asyncio.create_task(outbox.send([record(0), record(1)], may_write=lambda: next(answers)))
    await asked(broker, 0)
    for _ in range(100):
        await asyncio.sleep(0)
    assert not task.done()
    broker.held[0].set()
    with pytest.raises(TransientError) as caught:
        await task
    assert caught.value.dependency == "assignment"
    assert broker.journal == ["asked 0", "took 0"]


async def test_what_the_broker_finds_too_large_is_said_to_be(outbox: Outbox, broker: Broker) -> None:
    broker.refuses[1] = MessageSizeTooLargeError
    with pytest.raises(RecordTooLargeError):
        await outbox.send([record(0), record(1)], may_write=lambda: True)


async def test_nothing_of_a_producer_that_does_not_stop_is_sent_later(outbox: Outbox, broker: Broker, made: list[Producer]) -> None:
    broker.hold(1, 2)
    others = [sending(outbox, record(1)), sending(outbox, record(2)), sending(outbox, record(1, b"behind"))]
    await asked(broker, 1, 2)
    broker.refuses[0] = InvalidTopicError
    with pytest.raises(TransientError):
        await outbox.send([record(0)], may_write=lambda: True)
    assert made[0].is_dead
    for other in others:
        with pytest.raises(TransientError):
            await other
    before = list(broker.journal)
    broker.held[1].set()
    broker.held[2].set()
    broker.refuses.clear()
    assert await outbox.send([record(0)], may_write=lambda: True) == [BASE_OFFSET]
    assert broker.journal == [*before, "asked 0", "took 0"]
    assert len(made) == 2


async def test_a_producer_whose_renewal_is_broken_off_is_ended_too(
    outbox: Outbox, broker: Broker, made: list[Producer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "_CLOSE_S", 60.0)
    broker.hold(1)
    other = sending(outbox, record(1))
    await asked(broker, 1)
    broker.refuses[0] = InvalidTopicError
    failing = sending(outbox, record(0))
    await until(lambda: "stopping" in broker.journal)
    failing.cancel()
    await asyncio.wait({failing})
    assert made[0].is_dead
    broker.held[1].set()
    with pytest.raises(TransientError):
        await other
    assert "took 1" not in broker.journal


async def test_stopping_does_not_wait_for_a_broker_that_is_away(outbox: Outbox, broker: Broker, made: list[Producer]) -> None:
    broker.hold(1)
    task = sending(outbox, record(1))
    await asked(broker, 1)
    await outbox.stop()
    assert made[0].is_dead
    with pytest.raises(TransientError):
        await task


async def test_a_topic_that_is_never_heard_of_is_not_waited_for_for_ever(
    made: list[Producer], broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = Outbox(kafka=KafkaSettings(partitions=PARTITIONS, request_timeout_s=0.01), partitions=PARTITIONS)
    await outbox.start()
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    monkeypatch.setattr(made[0].client, "force_metadata_update", lambda: asyncio.shield(never))
    with pytest.raises(TransientError):
        await outbox.send([record(0, topic="unheard-of")], may_write=lambda: True)
    await outbox.stop()
