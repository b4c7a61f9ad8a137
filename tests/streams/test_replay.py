"""Stages set back on the real broker: what they have done they do again, into the same ids."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.records import Window
from retrieval.stores.build import build_store
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox, Driven, Selection
from runtime.errors import GroupInUseError
from runtime.kafka import KafkaOffsets, Producer, TopicPartition, create_topics, read_topic
from runtime.settings import Settings
from runtime.tenants import add_tenant
from streams.errors import ReplayRefusedError, StreamError
from streams.replay import Moved, ReplayStart, replay
from streams.snapshot import snapshot
from tests.retrieval.edge_process import EdgeProcess
from tests.streams.flow import TENANT, caught_up, flow_settings, send_sample, serving

pytestmark = pytest.mark.integration

ALL_BUT_SESSIONS = ("extraction", "events", "entities", "index")


@pytest.fixture
async def settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Settings]:
    with EdgeProcess(tmp_path / "edge") as edge:
        settings = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path / "data", socket=edge.socket)
        add_tenant(settings.tenants_path, TENANT, schema="companion")
        await create_topics(settings)
        yield settings


async def test_every_stage_runs_again_into_the_same_ids(settings: Settings) -> None:
    await send_sample(settings, session="s-1")
    await send_sample(settings, session="s-2", tenant="late")
    async with serving(settings):
        await caught_up(settings)
        with pytest.raises(GroupInUseError, match="stop them first"):
            await replay(settings, "index", ReplayStart())
        # What a tenant sent before it was known is driven again, however often, and counts once.
        add_tenant(settings.tenants_path, "late", schema="companion")
        refused = Selection(tenant="late", stage="sessions", reason="unknown_tenant")
        async with Producer(kafka=settings.kafka) as producer:
            box = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
            letters = len(await box.letters(refused))
            assert await box.redrive(refused) == Driven(redriven=letters)
            await caught_up(settings)
            late = await _state(settings, "late")
            windows = await _windows(settings)
            again = Selection(tenant="late", states=frozenset({"open", "redriven"}))
            assert await box.redrive(again) == Driven(redriven=letters)
            await caught_up(settings)
    assert late
    assert await _state(settings, "late") == late
    assert await _windows(settings) == windows
    before = await _state(settings, TENANT)

    for stage in ("index", "entities", "events"):
        assert await replay(settings, stage, ReplayStart()), stage
        await _run(settings, ALL_BUT_SESSIONS)
        assert await _state(settings, TENANT) == before, stage
        assert await _state(settings, "late") == late, stage

    extractions = await _end(settings, "extractions")
    moved = await replay(settings, "extraction", ReplayStart(time=datetime.now(UTC) - timedelta(hours=1)))
    assert sum(move.before - move.after for move in moved.values()) == len(windows)
    await _run(settings, ALL_BUT_SESSIONS)
    assert await _end(settings, "extractions") == extractions + len(windows)
    assert _without_versions(await _state(settings, TENANT)) == _without_versions(before)

    assert await replay(settings, "sessions", ReplayStart())
    await _run(settings, ("sessions",))
    replayed = await _windows(settings)
    assert sorted(replayed[: len(windows)]) == sorted(replayed[len(windows) :]), "the same windows once more"


async def test_a_replay_goes_only_back_and_only_where_asked(settings: Settings) -> None:
    await send_sample(settings)
    await _run(settings, ("sessions", "extraction", "events"))
    topic = settings.topic("extractions")
    ends = await _ends(settings, topic)
    (place,) = [place for place, end in ends.items() if end]
    assert await replay(settings, "events", ReplayStart(offset=2, partition=1 - place.partition)) == {}
    assert await replay(settings, "events", ReplayStart(time=datetime.now(UTC) + timedelta(hours=1))) == {}
    assert await replay(settings, "events", ReplayStart(offset=2)) == {place: Moved(ends[place], 2)}
    assert await replay(settings, "events", ReplayStart(offset=3)) == {}, "what was not seen yet must not be skipped"
    with pytest.raises(ReplayRefusedError, match="there is none numbered 9"):
        await replay(settings, "events", ReplayStart(partition=9))
    with pytest.raises(ReplayRefusedError, match=r"events has \d+ records before it"):
        await replay(settings, "entities", ReplayStart())
    with pytest.raises(ReplayRefusedError, match="only be replayed from the beginning"):
        await replay(settings, "sessions", ReplayStart(offset=4))
    with pytest.raises(StreamError, match="no stage 'windows'"):
        await replay(settings, "windows", ReplayStart())


def test_a_start_is_a_time_or_an_offset() -> None:
    with pytest.raises(ValueError, match="not at both"):
        ReplayStart(time=datetime.now(UTC), offset=1)
    with pytest.raises(ValueError, match="zone"):
        ReplayStart(time=datetime(2024, 5, 1))
    assert ReplayStart().whole
    assert not ReplayStart(partition=0).whole


async def _run(settings: Settings, stages: tuple[str, ...]) -> None:
    async with serving(settings, stages):
        await caught_up(settings, stages)


async def _state(settings: Settings, tenant: str) -> list[bytes]:
    store = build_store(settings)
    try:
        return [line async for line in snapshot(store, tenant)]
    finally:
        await store.close()


def _without_versions(lines: list[bytes]) -> list[bytes]:
    return [line.partition(b'"version":')[0] for line in lines]


async def _windows(settings: Settings) -> list[str]:
    """Each window that was sent, with its messages."""
    found = []
    async for record in read_topic(settings.topic("windows"), settings.kafka):
        window = Window.from_json(record.value or b"")
        found.append(f"{window.id} {window.closed_by} {[message.id for message in window.messages]}")
    return found


async def _ends(settings: Settings, topic: str) -> dict[TopicPartition, int]:
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        return await offsets.end_offsets([topic])


async def _end(settings: Settings, topic: str) -> int:
    return sum((await _ends(settings, settings.topic(topic))).values())
