"""Four ways in which plain Faust loses records, tried on the stages and a real broker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memory.keys import encode_key
from runtime.kafka import OutgoingRecord, Producer, read_topic
from runtime.metrics import metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.run import serve_stage
from streams.stages.catalog import STAGES
from tests.streams.flow import TENANT, NewFlow, keyed_worker, serving
from tests.streams.harness import remove_tables, until
from tests.streams.message_ledger import MessageLedger, committed, committed_reaches, records_of, stage_done

pytestmark = pytest.mark.integration


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    """A flow of one tenant."""
    return await new_flow()


class SlowHead:
    """Answers every record at once but those whose value is ``slow``: these wait until they are released."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.release = asyncio.Event()
        self.done: list[int] = []
        self.started: list[int] = []

    async def handle(self, record: ConsumedRecord) -> list[OutgoingRecord]:
        self.started.append(record.offset)
        if record.value == b"slow":
            await self.release.wait()
        self.done.append(record.offset)
        return [OutgoingRecord(self.topic, record.key, record.value)]


@asynccontextmanager
async def working(settings: Settings, handler: SlowHead) -> AsyncIterator[None]:
    """The extraction stage's delivery with another handler; leaving the block breaks it off."""
    worker = keyed_worker(settings, handler, max_span=100)
    running = asyncio.create_task(worker.run(asyncio.Event()))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled() or running.exception() is None


async def test_a_commit_never_passes_an_unfinished_record(flow: Settings) -> None:
    values = [b"slow", *(b"fast-%d" % number for number in range(7))]
    async with Producer(kafka=flow.kafka) as producer:
        topic = flow.topic("windows")
        await producer.send_many(
            [OutgoingRecord(topic=topic, key=encode_key(TENANT, f"s-{value!r}"), value=value, partition=0) for value in values]
        )
    first = SlowHead(flow.topic("extractions"))
    async with working(flow, first):
        await until(lambda: len(first.done) == 7, deadline_s=90)
    assert sorted(first.done) == list(range(1, 8))
    assert await committed(flow, "extraction") == 0
    second = SlowHead(flow.topic("extractions"))
    second.release.set()
    async with working(flow, second):
        await stage_done(flow, "extraction")
    assert 0 in second.started
    assert {record.value for record in await records_of(flow, "extractions")} == set(values)


@pytest.mark.parametrize("tables", ["intact", "dropped"])
async def test_a_cancelled_worker_resumes_its_backlog(flow: Settings, tables: str) -> None:
    ledger = MessageLedger(flow)
    for turn in range(3):
        await ledger.send([ledger.message(TENANT, f"s{number % 7}") for number in range(200 + turn)])
        handled = await committed(flow, "sessions")
        worker = asyncio.create_task(serve_stage("sessions", flow))
        await committed_reaches(flow, "sessions", handled + 1)
        worker.cancel()
        await asyncio.wait([worker])
        if tables == "dropped":
            # Whatever was committed must be in the changelog: there is nothing else now.
            remove_tables(flow.data, "sessions")
    await ledger.send(ledger.flush(TENANT))
    async with serving(flow, ["sessions"]):
        await stage_done(flow, "sessions")
    await ledger.assert_exact()


async def test_a_zombies_late_changelog_row_is_skipped(flow: Settings) -> None:
    ledger = MessageLedger(flow)
    changelog = STAGES["sessions"].changelog(flow.kafka.topic_prefix)
    async with serving(flow, ["sessions"]):
        for _ in range(3):
            await ledger.send([ledger.message(TENANT, "s1")])
            await stage_done(flow, "sessions")
    session = encode_key(TENANT, "s1")
    rows = [record async for record in read_topic(changelog, flow.kafka) if record.key == session]
    assert len(rows) == 3
    late = rows[0]
    await ledger.send([OutgoingRecord(topic=changelog, key=late.key, value=late.value, partition=late.partition)])
    remove_tables(flow.data, "sessions")
    async with serving(flow, ["sessions"]):
        await ledger.send([*ledger.flush(TENANT, "s1")])
        await stage_done(flow, "sessions")
    await ledger.assert_exact()


async def test_a_graceful_stop_commits_all_finished_records(flow: Settings) -> None:
    done = metrics().records.labels("sessions", "done")
    before = done._value.get()
    ledger = MessageLedger(flow)
    await ledger.send([ledger.message(TENANT, f"s{number % 5}") for number in range(100)])
    async with serving(flow, ["sessions"]):
        # Stopped as soon as it has started: what it has taken in is finished and committed.
        await committed_reaches(flow, "sessions", 1)
    assert done._value.get() - before == await committed(flow, "sessions")
    async with serving(flow, ["sessions"]):
        await ledger.send(flushes := ledger.flush(TENANT))
        await stage_done(flow, "sessions")
    assert done._value.get() - before == 100 + len(flushes), "every record was handled once"
    await ledger.assert_exact()


async def test_rebalances_under_load_lose_nothing(flow: Settings) -> None:
    ledger = MessageLedger(flow)
    stop_sending = asyncio.Event()

    async def load() -> None:
        number = 0
        while not stop_sending.is_set():
            await ledger.send([ledger.message(TENANT, f"s{(number + index) % 20}") for index in range(20)])
            number += 20
            await asyncio.sleep(0.05)

    async with asyncio.timeout(200):
        sending = asyncio.create_task(load())
        async with serving(flow, ["sessions"]):
            await stage_done(flow, "sessions")
            async with serving(flow, ["sessions"]):
                await stage_done(flow, "sessions")
            await stage_done(flow, "sessions")
        async with serving(flow, ["sessions"]):
            await stage_done(flow, "sessions")
            stop_sending.set()
            await sending
            await ledger.send(ledger.flush(TENANT))
            await stage_done(flow, "sessions")
    await ledger.assert_exact()
