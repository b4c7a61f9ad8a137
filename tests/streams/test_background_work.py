"""Failed background work of a worker is restarted and reported at the health page; repeated failures stop the worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from runtime import background
from runtime.kafka import create_topics
from runtime.metrics import Metrics
from runtime.redis.entity_view import EntityView
from runtime.redis.session_tail import SessionTail
from runtime.resilience import Backoff
from runtime.settings import Settings
from streams.engine import backlog_watch
from streams.engine.backlog_watch import BacklogWatch
from streams.engine.build import ordered_driver_factory
from streams.engine.context import StageContext
from streams.engine.state.partition_state import NullStore
from streams.engine.tasks.batch import Batch, BatchHandler
from streams.engine.tasks.driver import Driver
from streams.engine.worker import Worker
from streams.errors import StreamError
from streams.stages.catalog import STAGES
from streams.stages.index import store_size
from streams.stages.index.store_size import StoreSizeWatch
from tests.one_broker import one_broker
from tests.streams.flow import caught_up, flush, send_sample, serving
from tests.streams.harness import until, until_true
from varve.embedded.ports import free_port

pytestmark = pytest.mark.integration

STAGES_WITH_WORK = ("sessions", "extraction", "events", "entities", "index")


class Idle(BatchHandler):
    """Gets no record."""

    async def handle(self, batch: Batch) -> None:
        raise AssertionError("no record was sent")


class Broken:
    """A method that raises once and then works, and counts its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        self.calls = 0
        method = getattr(owner, name)

        async def once_broken(*args: object) -> object:
            self.calls += 1
            if self.calls == 1:
                raise KeyError("unforeseen")
            return await method(*args)

        monkeypatch.setattr(owner, name, once_broken)


async def test_all_work_continues_after_an_exception(flow: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (backlog_watch, store_size):
        monkeypatch.setattr(module, "_INTERVAL_S", 0.2)
    broken = [
        Broken(monkeypatch, BacklogWatch, "measure"),
        Broken(monkeypatch, SessionTail, "write"),
        Broken(monkeypatch, EntityView, "write"),
        Broken(monkeypatch, StoreSizeWatch, "measure"),
    ]
    async with serving(flow, STAGES_WITH_WORK):
        for session in ("s-1", "s-2"):
            await send_sample(flow, session=session)
            await flush(flow)
            await caught_up(flow, STAGES_WITH_WORK)
            await until(lambda: all(each.calls for each in broken))
        await until(lambda: all(each.calls >= 2 for each in broken))


@asynccontextmanager
async def _working(settings: Settings, failing: "asyncio.Event") -> AsyncIterator["asyncio.Task[None]"]:
    """A worker with one more piece of background work, which raises while ``failing`` is set."""

    async def work() -> None:
        while True:
            if failing.is_set():
                raise KeyError("unforeseen")
            await asyncio.sleep(0.01)

    new_ordered_driver = ordered_driver_factory(settings, NullStore(), lambda _: Idle())

    def new_driver(context: StageContext) -> Driver:
        context.background.add("extra", work)
        return new_ordered_driver(context)

    stop = asyncio.Event()
    source = settings.topic(STAGES["index"].source.name)
    worker = Worker(stage="index", source=source, has_table=False, settings=settings, metrics=Metrics(), new_driver=new_driver)
    running = asyncio.create_task(worker.run(stop))
    try:
        yield running
    finally:
        stop.set()
        await asyncio.wait([running])


async def test_failing_work_finally_stops_the_worker(
    kafka: str, topic_prefix: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    restarts = replace(background.RESTARTS, backoff=Backoff(initial_interval_s=0.05, maximum_interval_s=0.3), reset_after_s=1.0)
    monkeypatch.setattr(background, "RESTARTS", restarts)
    settings = Settings(
        data=tmp_path_factory.mktemp("worker"),
        kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2),
        metrics_port=free_port(),
    )
    await create_topics(settings)
    failing = asyncio.Event()
    async with _working(settings, failing) as running, httpx.AsyncClient(base_url=f"http://127.0.0.1:{settings.metrics_port}") as http:

        async def problem() -> tuple[bool, str | None]:
            try:
                ready = (await http.get("/readyz")).json()
            except httpx.TransportError:
                return False, None
            return ready["ready"], ready["checks"]["background_work"]["problem"]

        async def is_well() -> bool:
            return await problem() == (True, None)

        async def is_told() -> bool:
            is_ready, problem_shown = await problem()
            return is_ready and "extra failed" in (problem_shown or "") and "KeyError('unforeseen')" in (problem_shown or "")

        await until_true(is_well)
        failing.set()
        await until_true(is_told)
        assert 'varve_background_failures_total{work="extra"}' in (await http.get("/metrics")).text
        failing.clear()
        await until_true(is_well)
        failing.set()
        await until(running.done)
        with pytest.raises(StreamError, match="the index worker stops: extra failed 20 times in a row"):
            await running
