"""A second worker restores the state of the partitions that it takes over, even from a young changelog."""

import asyncio

import pytest

from memory.records import Window
from runtime.kafka import read_topic
from streams.engine.state.folders import tables_folder
from streams.run import serve_stage
from tests.streams.flow import NewFlow, caught_up, flush, send_sample
from tests.streams.harness import until

pytestmark = pytest.mark.integration

SESSIONS = tuple(f"s-{number}" for number in range(6))


async def test_a_second_worker_ends_windows_of_the_first(new_flow: NewFlow) -> None:
    settings = await new_flow()
    settings = settings.model_copy(
        update={"sessions": settings.sessions.model_copy(update={"message_count": 1000, "message_cap": 1000, "idle_partition_s": 3600.0})}
    )
    sent = sum([await send_sample(settings, session=session) for session in SESSIONS])
    stops = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as workers:
        workers.create_task(serve_stage("sessions", settings, stops[0]))
        try:
            await caught_up(settings, ["sessions"])
            workers.create_task(serve_stage("sessions", settings, stops[1]))
            second = tables_folder(settings.data, "sessions") / "1"
            await until(lambda: any(second.rglob("CURRENT")))
            await flush(settings)
            await caught_up(settings, ["sessions"])
        finally:
            for stop in stops:
                stop.set()
    windows = [Window.from_json(record.value or b"") async for record in read_topic(settings.topic("windows"), settings.kafka)]
    assert sum(len(window.messages) for window in {window.id: window for window in windows}.values()) == sent
