"""The four ways in which plain Faust loses records, each tried on the stages, on a real broker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.keys import encode_key
from runtime.kafka import OutgoingRecord, Producer, create_topics, read_topic
from runtime.metrics import metrics
from runtime.settings import Settings
from runtime.tenants import add_tenant
from streams.delivery.folders import remove_folders, tables_folder
from streams.delivery.records import Delivered, Outgoing
from streams.run import serve_stage
from streams.stages import STAGES
from tests.streams.flow import TENANT, extraction_worker, flow_settings, serving
from tests.streams.harness import until
from tests.streams.message_ledger import MessageLedger, committed, committed_reaches, records_of, stage_done

pytestmark = pytest.mark.integration


@pytest.fixture
async def settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> Settings:
    settings = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path, socket=tmp_path / "none.sock")
    add_tenant(settings.tenants_path, TENANT, schema="companion")
    await create_topics(settings)
    return settings


class SlowHead:
    """Answers every record at once but those whose value is ``slow``: these wait until they are let go."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.evict = asyncio.Event()
        self.done: list[int] = []
        self.begun: list[int] = []

    def tenant_of(self, record: Delivered) -> str:
        return TENANT

    async def handle(self, record: Delivered) -> list[Outgoing]:
        self.begun.append(record.offset)
        if record.value == b"slow":
            await self.evict.wait()
        self.done.append(record.offset)
        return [Outgoing(self.topic, record.key, record.value)]


@asynccontextmanager
async def working(settings: Settings, handler: SlowHead) -> AsyncIterator[None]:
    """The extraction stage's delivery with another handler; leaving the block breaks it off."""
    worker = extraction_worker(settings, handler, max_span=100)
    running = asyncio.create_task(worker.run(asyncio.Event()))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled() or running.exception() is None


async def test_a_commit_never_passes_an_unfinished_record(settings: Settings) -> None:
    values = [b"slow", *(b"fast-%d" % number for number in range(7))]
    async with Producer(kafka=settings.kafka) as producer:
        topic = settings.topic("windows")
        await producer.send_many(
            [OutgoingRecord(topic=topic, key=encode_key(TENANT, f"s-{value!r}"), value=value, partition=0) for value in values]
        )
    first = SlowHead(settings.topic("extractions"))
    async with working(settings, first):
        await until(lambda: len(first.done) == 7, deadline_s=90)
    assert sorted(first.done) == list(range(1, 8))
    assert await committed(settings, "extraction") == 0
    second = SlowHead(settings.topic("extractions"))
    second.evict.set()
    async with working(settings, second):
        await stage_done(settings, "extraction")
    assert 0 in second.begun
    assert {record.value for record in await records_of(settings, "extractions")} == set(values)


@pytest.mark.parametrize("tables", ["kept", "dropped"])
async def test_a_cancelled_worker_resumes_its_backlog(settings: Settings, tables: str) -> None:
    ledger = MessageLedger(settings)
    for turn in range(3):
        await ledger.send([ledger.message(TENANT, f"s{number % 7}") for number in range(200 + turn)])
        handled = await committed(settings, "sessions")
        worker = asyncio.create_task(serve_stage("sessions", settings))
        await committed_reaches(settings, "sessions", handled + 1)
        worker.cancel()
        await asyncio.wait([worker])
        if tables == "dropped":
            # Whatever was committed must be in the changelog: there is nothing else now.
            remove_folders(tables_folder(settings.data, "sessions"))
    await ledger.send(ledger.flush(TENANT))
    async with serving(settings, ["sessions"]):
        await stage_done(settings, "sessions")
    await ledger.assert_exact()


async def test_a_zombies_late_changelog_row_is_skipped(settings: Settings) -> None:
    ledger = MessageLedger(settings)
    changelog = STAGES["sessions"].changelog(settings.kafka.topic_prefix)
    async with serving(settings, ["sessions"]):
        for _ in range(3):
            await ledger.send([ledger.message(TENANT, "s1")])
            await stage_done(settings, "sessions")
    rows = [record async for record in read_topic(changelog, settings.kafka)]
    assert len(rows) == 3
    late = rows[0]
    await ledger.send([OutgoingRecord(topic=changelog, key=late.key, value=late.value, partition=late.partition)])
    remove_folders(tables_folder(settings.data, "sessions"))
    async with serving(settings, ["sessions"]):
        await ledger.send([*ledger.flush(TENANT, "s1")])
        await stage_done(settings, "sessions")
    await ledger.assert_exact()


async def test_a_graceful_stop_commits_so_that_nothing_comes_again(settings: Settings) -> None:
    done = metrics().records.labels("sessions", "done")
    before = done._value.get()
    ledger = MessageLedger(settings)
    await ledger.send([ledger.message(TENANT, f"s{number % 5}") for number in range(100)])
    async with serving(settings, ["sessions"]):
        # Stopped as soon as it has begun: what it has taken in is finished and committed.
        await committed_reaches(settings, "sessions", 1)
    assert done._value.get() - before == await committed(settings, "sessions")
    async with serving(settings, ["sessions"]):
        await ledger.send(flushes := ledger.flush(TENANT))
        await stage_done(settings, "sessions")
    assert done._value.get() - before == 100 + len(flushes), "every record was handled once"
    await ledger.assert_exact()


async def test_rebalances_under_load_lose_nothing(settings: Settings) -> None:
    ledger = MessageLedger(settings)
    stop_sending = asyncio.Event()

    async def load() -> None:
        number = 0
        while not stop_sending.is_set():
            await ledger.send([ledger.message(TENANT, f"s{(number + place) % 20}") for place in range(20)])
            number += 20
            await asyncio.sleep(0.05)

    async with asyncio.timeout(200):
        sending = asyncio.create_task(load())
        async with serving(settings, ["sessions"]):
            await stage_done(settings, "sessions")
            async with serving(settings, ["sessions"]):
                await stage_done(settings, "sessions")
            await stage_done(settings, "sessions")
        async with serving(settings, ["sessions"]):
            await stage_done(settings, "sessions")
            stop_sending.set()
            await sending
            await ledger.send(ledger.flush(TENANT))
            await stage_done(settings, "sessions")
    await ledger.assert_exact()
