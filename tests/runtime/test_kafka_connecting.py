"""A caller that gives up connecting leaves no connection open, whichever answer of the broker it waits for."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.conn import AIOKafkaConnection

from runtime.errors import KafkaUnavailableError
from runtime.kafka import KafkaOffsets, Producer
from runtime.kafka.client import admin_client, partition_counts
from runtime.kafka.topics import create_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.settings import KafkaSettings
from tests.one_broker import one_broker

pytestmark = pytest.mark.integration

ENOUGH_REQUESTS = 100
Use = Callable[[KafkaSettings], Awaitable[None]]


async def read_offsets(kafka: KafkaSettings) -> None:
    async with KafkaOffsets(kafka=kafka) as offsets:
        await offsets.end_offsets([])


async def open_producer(kafka: KafkaSettings) -> None:
    async with Producer(kafka=kafka):
        pass


async def take_an_id_over(kafka: KafkaSettings) -> None:
    producer = TransactionalProducer(kafka=kafka, transactional_id=f"{kafka.topic_prefix}connecting", partitions=1)
    await producer.start()
    await producer.stop()


async def administer(kafka: KafkaSettings) -> None:
    async with admin_client(kafka) as client:
        await partition_counts(client, ["t"])


def open_connections() -> list[AIOKafkaConnection]:
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is AIOKafkaConnection and each.connected()]


@pytest.mark.parametrize("use", [read_offsets, open_producer, take_an_id_over, administer])
async def test_giving_up_amid_any_request_leaves_nothing_open(
    use: Use, kafka: str, topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = one_broker(bootstrap=kafka, topic_prefix=topic_prefix)
    sent, before = AIOKafkaConnection.send, open_connections()
    for nth in range(1, ENOUGH_REQUESTS):
        requests = 0
        using = asyncio.ensure_future(use(settings))

        def send_and_give_up(connection: AIOKafkaConnection, request: Any, nth: int = nth, using: Any = using, **options: Any) -> Any:
            nonlocal requests
            requests += 1
            if requests == nth:
                asyncio.get_running_loop().call_soon(using.cancel)
            return sent(connection, request, **options)

        with monkeypatch.context() as patch:
            patch.setattr(AIOKafkaConnection, "send", send_and_give_up)
            await asyncio.gather(using, return_exceptions=True)
        left = [each for each in open_connections() if each not in before]
        for each in left:
            each.close()
        assert not left, f"given up after request {nth}"
        if requests < nth:
            assert nth > 2, "it was given up at least while the broker was found"
            return
    pytest.fail("it never ended by itself")


@pytest.mark.parametrize("use", [read_offsets, open_producer, take_an_id_over, administer])
async def test_giving_up_on_a_stopped_broker_leaves_nothing_open(use: Use, kafka: str, topic_prefix: str) -> None:
    """The broker sends its versions and then stops, as on a machine that stops for seconds."""
    before = open_connections()
    async with stopping_broker(kafka) as (address, has_stopped):
        using = asyncio.ensure_future(use(one_broker(bootstrap=address, topic_prefix=topic_prefix)))
        async with asyncio.timeout(60):
            await has_stopped.wait()
        using.cancel()
        await asyncio.gather(using, return_exceptions=True)
        left = [each for each in open_connections() if each not in before]
        for each in left:
            each.close()
    assert not left


@pytest.mark.parametrize("steps", range(1, 5))
async def test_a_cancelled_stop_leaves_nothing_open(kafka: str, topic_prefix: str, steps: int) -> None:
    before, settings = open_connections(), one_broker(bootstrap=kafka, topic_prefix=topic_prefix)
    await create_topic(topic_prefix, config={}, kafka=settings)
    offsets = KafkaOffsets(kafka=settings)
    await offsets.start()
    await offsets.end_offsets([topic_prefix])
    assert len([each for each in open_connections() if each not in before]) == 1, "all questions share a connection"
    stopping = asyncio.ensure_future(offsets.stop())
    for _ in range(steps):
        await asyncio.sleep(0)
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    del offsets
    left = [each for each in open_connections() if each not in before]
    for each in left:
        each.close()
    assert not left


async def test_a_cancelled_abort_leaves_nothing_open(kafka: str, topic_prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    aborting = asyncio.Event()

    async def abort(_: AIOKafkaProducer) -> None:
        aborting.set()
        await asyncio.Event().wait()

    before, settings = open_connections(), one_broker(bootstrap=kafka, topic_prefix=topic_prefix)
    producer = TransactionalProducer(kafka=settings, transactional_id=f"{topic_prefix}aborting", partitions=1)
    await producer.start()
    monkeypatch.setattr(AIOKafkaProducer, "abort_transaction", abort)
    stopping = asyncio.ensure_future(producer.stop())
    await aborting.wait()
    stopping.cancel()
    await asyncio.gather(stopping, return_exceptions=True)
    assert stopping.cancelled()
    left = [each for each in open_connections() if each not in before]
    for each in left:
        each.close()
    assert not left


@pytest.mark.parametrize("connects", [True, False], ids=["while it connects", "before it is used"])
async def test_a_stopped_producer_opens_no_connection(connects: bool, kafka: str, topic_prefix: str) -> None:
    before = open_connections()
    producer = Producer(kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix))
    if connects:
        sending = asyncio.ensure_future(producer.send("t", key=b"k", value=b"v"))
        await asyncio.sleep(0)
        await producer.stop()
    else:
        await producer.stop()
        sending = asyncio.ensure_future(producer.send("t", key=b"k", value=b"v"))
    with pytest.raises(KafkaUnavailableError, match="was stopped"):
        await sending
    left = [each for each in open_connections() if each not in before]
    for each in left:
        each.close()
    assert not left


@asynccontextmanager
async def stopping_broker(kafka: str) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """An address at which a broker answers the first request of each connection; the event is set when there is another one."""
    host, port = kafka.split(":")
    has_stopped = asyncio.Event()

    async def frame(reader: asyncio.StreamReader) -> bytes:
        size = await reader.readexactly(4)
        return size + await reader.readexactly(int.from_bytes(size, "big"))

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        broker_reader, broker_writer = await asyncio.open_connection(host, int(port))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            broker_writer.write(await frame(reader))
            writer.write(await frame(broker_reader))
            await frame(reader)
            has_stopped.set()
            await reader.read()
        for each in (broker_writer, writer):
            each.close()

    server = await asyncio.start_server(answer_once, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", has_stopped
