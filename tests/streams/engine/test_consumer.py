"""Where Faust's own consumer loses its position, ours keeps it (ADR 4, E and I), and it reads what is committed (ADR 18)."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import faust
import faust.streams
import pytest
from aiokafka import AIOKafkaProducer
from faust.types import TP

from runtime.clocks import boot_time
from runtime.kafka import Producer, client_options, create_topics
from runtime.settings import Settings
from streams.engine.faust.app import build_app, source_topic
from streams.engine.faust.consumer import App, Consumer
from streams.engine.faust.flow_control import FlowControl, PauseReason
from streams.errors import StreamError
from tests.one_broker import one_broker
from tests.streams.harness import until

pytestmark = pytest.mark.integration

RECORDS = 10
LARGE = 600_000
ONE_FETCH = 2_000_000
"""The bytes of a partition in one fetch, and those of the fetch before it."""


@pytest.fixture
async def settings(kafka: str, topic_prefix: str, tmp_path: Path) -> Settings:
    settings = Settings(data=tmp_path, kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=1))
    await create_topics(settings)
    return settings


async def test_records_fetched_while_flow_was_stopped_are_delivered(settings: Settings) -> None:
    async with _reading(settings) as (app, delivered):
        consumer: Any = app.consumer
        fetch, thrown_away = consumer._getmany, []

        async def fetch_and_stop_the_flow(*args: Any, **options: Any) -> Any:
            records = await fetch(*args, **options)
            if records:
                consumer.stop_flow()
                thrown_away.append(records)
            return records

        consumer._getmany = fetch_and_stop_the_flow
        await _send(settings)
        await until(lambda: bool(thrown_away))
        consumer._getmany = fetch
        consumer.resume_flow()
        await until(lambda: len(delivered) == RECORDS)
    assert delivered == list(range(RECORDS))


async def test_trailing_transaction_markers_are_detected_by_position(settings: Settings) -> None:
    source = TP(settings.topic("messages"), 0)
    async with _reading(settings) as (app, delivered):
        consumer = cast(Consumer, app.consumer)
        await _send_in_transaction(settings)
        await until(lambda: len(delivered) == RECORDS)
        await until(lambda: consumer.position_after(source, RECORDS) == RECORDS + 1)
        assert consumer.position_after(source, RECORDS - 1) is None, "a record lies between"
        assert consumer.position_after(source, RECORDS + 1) is None, "no record follows"


async def test_markers_between_records_are_not_kept(settings: Settings) -> None:
    async with _reading(settings, acknowledges=False) as (app, delivered):
        await _send_in_transaction(settings)
        await _send_in_transaction(settings)
        await until(lambda: len(delivered) == 2 * RECORDS)
        kept: Any = cast(Any, app.consumer)._gap
        assert not any(kept.values())


async def test_aborted_records_are_not_delivered(settings: Settings) -> None:
    async with _reading(settings) as (app, delivered):
        await _send_in_transaction(settings, abort=True)
        await _send(settings)
        await until(lambda: len(delivered) == RECORDS)
        assert delivered == list(range(RECORDS + 1, 2 * RECORDS + 1))
        await until(lambda: cast(Consumer, app.consumer).position_after(TP(settings.topic("messages"), 0), None) is None)


async def test_answered_heartbeats_are_reported(settings: Settings) -> None:
    async with _reading(settings) as (app, _):
        answered: list[float] = []
        cast(Consumer, app.consumer).on_heartbeat(answered.append)
        await until(lambda: bool(answered))
        assert answered[0] <= boot_time()


async def test_fetched_records_are_bounded_by_the_budget(settings: Settings) -> None:
    settings = settings.model_copy(update={"delivery": settings.delivery.model_copy(update={"max_fetched_bytes": LARGE})})
    takes_in = asyncio.Event()
    async with _reading(settings, takes_in=takes_in) as (app, delivered):
        fetches = _count_fetches(app)
        await _send(settings, large=True)
        await until(lambda: app.fetched_bytes >= LARGE)
        fetched = fetches[0]
        await until(lambda: fetches[0] >= fetched + 5)
        assert app.fetched_bytes < LARGE + ONE_FETCH, "of ten times as much in the log"
        takes_in.set()
        await until(lambda: len(delivered) == RECORDS)
        assert delivered == list(range(RECORDS))
        assert app.fetched_bytes == 0


async def test_records_dropped_by_faust_are_not_counted(settings: Settings) -> None:
    async with _reading(settings, takes_in=asyncio.Event()) as (app, _):
        await _send(settings, large=True)
        await until(lambda: app.fetched_bytes > 0)
        app.consumer.stop_flow()
        app.flow_control.suspend()
        app.flow_control.clear()
        assert app.fetched_bytes == 0


async def test_only_the_paused_partition_is_not_fetched(settings: Settings) -> None:
    settings = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"partitions": 2, "topic_prefix": "two."})})
    await create_topics(settings)
    source = settings.topic("messages")
    async with _reading(settings) as (app, delivered):
        flow_control = FlowControl(app=app, source=source)
        flow_control.pause(0, PauseReason.FULL)
        flow_control.pause(0, PauseReason.PARKING)
        flow_control.resume(0, PauseReason.FULL)
        flow_control.resume(0, PauseReason.DATA_LOSS)
        await _send(settings, partitions=2)
        await until(lambda: len(delivered) == RECORDS)
        paused = TP(source, 0)
        app.consumer.on_buffer_full(paused)
        app.consumer.on_buffer_drop(paused)
        await _send(settings, partitions=2)
        await until(lambda: len(delivered) == 2 * RECORDS)
        assert delivered == list(range(2 * RECORDS)), "those of the other one"
        flow_control.resume(0, PauseReason.PARKING)
        await until(lambda: len(delivered) == 4 * RECORDS)


def test_app_refuses_faust_without_compiled_stream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(faust.streams, "_CStreamIterator", None)
    with pytest.raises(StreamError, match="would lose records"):
        build_app(group="g", settings=Settings(), data=tmp_path)


def _group(settings: Settings) -> str:
    return settings.topic("readers")


def _count_fetches(app: App) -> list[int]:
    """How often the app has tried to fetch from now on."""
    consumer: Any = app.consumer
    fetch, count = consumer._getmany, [0]

    async def counted(*args: Any, **options: Any) -> Any:
        count[0] += 1
        return await fetch(*args, **options)

    consumer._getmany = counted
    return count


@asynccontextmanager
async def _reading(
    settings: Settings, *, acknowledges: bool = True, takes_in: asyncio.Event | None = None
) -> AsyncIterator[tuple[App, list[int]]]:
    """A group of one reader that starts on request, and acknowledges at once or never; with the offsets that it received."""
    app = build_app(group=_group(settings), settings=settings, data=settings.data / "faust")
    delivered: list[int] = []

    @app.agent(source_topic(app, settings.topic("messages")))
    async def intake(stream: Any) -> None:
        if takes_in is not None:
            await takes_in.wait()
        async for event in stream.noack().events():
            delivered.append(event.message.offset)
            if acknowledges:
                event.ack()

    app.finalize()
    await app.start()
    try:
        tables: Any = app.tables
        await until(tables.recovery.completed.is_set)
        yield app, delivered
    finally:
        await app.stop()


async def _send_in_transaction(settings: Settings, *, abort: bool = False) -> None:
    async with AIOKafkaProducer(**client_options(settings.kafka), transactional_id=settings.topic("sender")) as producer:
        await producer.begin_transaction()
        for number in range(RECORDS):
            await producer.send_and_wait(settings.topic("messages"), str(number).encode(), key=b"k", partition=0)
        await (producer.abort_transaction() if abort else producer.commit_transaction())


async def _send(settings: Settings, *, partitions: int = 1, large: bool = False) -> None:
    padding = random.randbytes(LARGE if large else 0)
    async with Producer(kafka=settings.kafka) as producer:
        for number in range(RECORDS):
            for partition in range(partitions):
                await producer.send(settings.topic("messages"), key=b"k", value=str(number).encode() + padding, partition=partition)
