"""While a replay of sessions or a rebuild is unfinished, workers wait; run again, it ends as if nobody had killed it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.keys import encode_key
from memory.records import Message, Window
from runtime.errors import GroupInUseError, ProducerFencedError
from runtime.kafka import KafkaOffsets, OutgoingRecord, Producer, TopicPartition, read_topic
from runtime.kafka.transactional import TransactionalProducer
from runtime.metrics import metrics
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.build import build_store
from stores.port import MemoryStore
from streams.engine.state.folders import own_folder, tables_folder
from streams.engine.tasks.checkpointer import transactional_id
from streams.errors import ReplayRefusedError, WorkersRunningError
from streams.operations.rebuild import rebuild, snapshot
from streams.operations.replay import OffsetReset, ReplayStart, replay
from streams.operations.resetting import StageReset
from streams.stages.catalog import STAGES, StageSpec
from tests.streams.durable_steps import Killed, killed_after
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving
from tests.streams.harness import until

pytestmark = pytest.mark.integration

SESSIONS_STEPS = (("held", 1), ("rows dropped", 2), ("local tables dropped, where no rows are left", 2))
REBUILD_STEPS = (("some stages held", 2), ("tables of events and entities dropped", 6))
UNFINISHED = "did not run to its end"


@pytest.fixture
async def store(flow: Settings) -> AsyncIterator[MemoryStore]:
    store = build_store(flow)
    yield store
    await store.close()


async def test_sessions_wait_for_the_end_of_their_replay(flow: Settings) -> None:
    await send_sample(flow)
    async with serving(flow, ("sessions",)):
        await flush(flow)
        await caught_up(flow, ("sessions",))
    before = await _windows(flow)
    for number, (moment, step) in enumerate(SESSIONS_STEPS):
        with killed_after(step), pytest.raises(Killed):
            await replay(flow, "sessions", ReplayStart())
        await _say(flow, number)
        async with _waiting(flow, "sessions"):
            assert await _windows(flow) == before, moment
    assert await replay(flow, "sessions", ReplayStart())
    async with serving(flow, ("sessions",)):
        await flush(flow)
        await caught_up(flow, ("sessions",))
    after = await _windows(flow)
    assert {each: after[each] for each in before} == before, "no window has got another's id"
    said = {each for window in after.values() for messages in window for each in messages}
    assert said >= {f"new-{number}" for number in range(len(SESSIONS_STEPS))}


async def test_nothing_is_dropped_while_a_worker_holds_its_folder(
    flow: Settings, store: MemoryStore, redis: GuardedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streams.operations.resetting.FOLDER_PATIENCE_S", 0.5)
    await send_sample(flow)
    async with serving(flow, ("sessions",)):
        await caught_up(flow, ("sessions",))
    before = await _kept(flow)
    assert before[0]
    said: list[str] = []
    with own_folder(tables_folder(flow.data, "sessions"), "sessions"), killed_after(None) as steps:
        with pytest.raises(WorkersRunningError, match="stop it first"):
            await replay(flow, "sessions", ReplayStart(), notice=said.append)
        with pytest.raises(WorkersRunningError, match="stop it first"):
            await rebuild(flow, store=store, redis=redis)
    assert steps == []
    assert await _kept(flow) == before
    assert said == [f"waiting for a worker that uses {tables_folder(flow.data, 'sessions')} to end"]


async def test_a_replay_waits_for_a_worker_that_is_ending(flow: Settings, store: MemoryStore) -> None:
    await send_sample(flow)
    async with serving(flow, ("sessions",)):
        await caught_up(flow, ("sessions",))
    said: asyncio.Queue[str] = asyncio.Queue()
    with ExitStack() as worker:
        worker.enter_context(own_folder(tables_folder(flow.data, "sessions"), "sessions"))
        replaying = asyncio.create_task(replay(flow, "sessions", ReplayStart(), notice=said.put_nowait))
        assert "waiting for a worker" in await said.get()
    assert await replaying


async def test_stages_wait_for_the_end_of_a_rebuild(flow: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    for session in ("s-1", "s-2"):
        await send_sample(flow, session=session)
    async with serving(flow):
        await caught_up(flow)
    before = [line async for line in snapshot(store, TENANT)]
    for _, step in REBUILD_STEPS:
        with killed_after(step), pytest.raises(Killed):
            await rebuild(flow, store=store, redis=redis)
        async with _waiting(flow, "entities"):
            pass
    with pytest.raises(ReplayRefusedError, match=f"`varve rebuild` {UNFINISHED}: run it again first"):
        await replay(flow, "events", ReplayStart())
    await rebuild(flow, store=store, redis=redis)
    async with serving(flow):
        await caught_up(flow)
    assert [line async for line in snapshot(store, TENANT)] == before


async def test_two_operators_do_not_reset_at_once(
    flow: Settings, store: MemoryStore, redis: GuardedRedis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one works on another machine, where no folder of a worker is held."""
    await send_sample(flow)
    async with serving(flow):
        await caught_up(flow)
    before = [line async for line in snapshot(store, TENANT)]
    is_held, may_go_on = asyncio.Event(), asyncio.Event()
    finish = StageReset.finish

    async def held(reset: StageReset, stage: StageSpec) -> None:
        is_held.set()
        await may_go_on.wait()
        await finish(reset, stage)

    monkeypatch.setattr(StageReset, "finish", held)
    first = asyncio.create_task(rebuild(flow, store=store, redis=redis))
    await is_held.wait()
    elsewhere = flow.model_copy(update={"data": tmp_path / "elsewhere"})
    with killed_after(None) as steps:
        for command in (rebuild(elsewhere, store=store, redis=redis), replay(elsewhere, "index", ReplayStart())):
            with pytest.raises(GroupInUseError, match="another process resets stages"):
                await command
        assert steps == []
        may_go_on.set()
        await first
    async with serving(flow):
        await caught_up(flow)
    assert [line async for line in snapshot(store, TENANT)] == before


@asynccontextmanager
async def _waiting(settings: Settings, stage: str) -> AsyncIterator[None]:
    """Runs a stage for the length of a block, once its workers are seen to wait."""
    retries = metrics().retries.labels(stage)._value
    before = retries.get()
    async with serving(settings, (stage,)):
        await until(lambda: retries.get() >= before + 2)
        yield


async def _kept(settings: Settings) -> tuple[list[bytes | None], dict[int, int]]:
    stage = STAGES["sessions"]
    rows = [record.value async for record in read_topic(stage.changelog(settings.kafka.topic_prefix), settings.kafka)]
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        commits = await offsets.committed_offsets(stage.group(settings.kafka.topic_prefix), [settings.topic("messages")])
    return rows, {each.partition: offset for each, offset in commits.items()}


async def _windows(settings: Settings) -> dict[str, set[tuple[str, ...]]]:
    """The messages of each window: one id must never stand for different ones."""
    found: dict[str, set[tuple[str, ...]]] = {}
    async for record in read_topic(settings.topic("windows"), settings.kafka):
        window = Window.from_json(record.value or b"")
        found.setdefault(window.id, set()).add(tuple(message.id or "" for message in window.messages))
    return found


async def _say(settings: Settings, number: int) -> None:
    said_at = datetime(2024, 5, 3, tzinfo=UTC) + timedelta(minutes=number)
    message = Message(tenant=TENANT, user="ada", session="s-1", id=f"new-{number}", text="I adopted a cat.", event_time=said_at)
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send(settings.topic("messages"), key=encode_key(TENANT, "s-1"), value=message.to_json())


async def test_a_frozen_worker_cannot_undo_a_replay(flow: Settings) -> None:
    """Its session is over, so that the group is empty, and it wakes with a transaction in its hands."""
    stage, source = STAGES["events"], TopicPartition(flow.topic("extractions"), 0)
    group = stage.group(flow.kafka.topic_prefix)
    frozen = TransactionalProducer(kafka=flow.kafka, transactional_id=transactional_id(group, 0), partitions=flow.kafka.partitions)
    await frozen.start()
    await frozen.commit([OutgoingRecord(source.topic, b"k", b"v", partition=0)], offsets={source: 1}, group=group)
    assert await replay(flow, "events", ReplayStart()) == {source: OffsetReset(1, 0)}
    with pytest.raises(ProducerFencedError):
        await frozen.commit([], offsets={source: 1}, group=group)
    async with KafkaOffsets(kafka=flow.kafka) as offsets:
        assert await offsets.committed_offsets(group, [source.topic]) == {source: 0}
