"""Replays on a real broker: stages repeat their work with the same ids."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.records import Window
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox, DeadLetterSelection, RedriveResult
from runtime.errors import GroupInUseError
from runtime.kafka import ConsumerGroups, KafkaOffsets, Producer, TopicPartition, read_topic
from runtime.settings import Settings
from streams.errors import ReplayRefusedError, StreamError
from streams.operations.replay import OffsetReset, ReplayStart, replay
from streams.stages.catalog import STAGES
from tests.control_log import add_tenant
from tests.streams.flow import TENANT, caught_up, send_sample, serving
from tests.streams.merging_flow import memory_lines

pytestmark = pytest.mark.integration

ALL_BUT_SESSIONS = ("extraction", "events", "entities", "index")


async def test_every_stage_runs_again_into_the_same_ids(flow: Settings) -> None:
    await send_sample(flow, session="s-1")
    await send_sample(flow, session="s-2", tenant="late")
    async with serving(flow):
        await caught_up(flow)
        with pytest.raises(GroupInUseError, match="stop them first"):
            await replay(flow, "index", ReplayStart())
        # What a tenant sent before it was known counts once however often it is redriven.
        await add_tenant(flow, "late", schema="companion")
        refused = DeadLetterSelection(tenant="late", stage="sessions", reason="unknown_tenant")
        async with Producer(kafka=flow.kafka) as producer:
            box = DeadLetterBox(settings=flow, producer=producer, clock=SystemClock())
            letters = len(await box.letters(refused))
            assert await box.redrive(refused) == RedriveResult(redriven=letters)
            await caught_up(flow)
            late = await memory_lines(flow, "late")
            windows = await _windows(flow)
            again = DeadLetterSelection(tenant="late", states=frozenset({"open", "redriven"}))
            assert await box.redrive(again) == RedriveResult(redriven=letters)
            await caught_up(flow)
    assert late
    assert await memory_lines(flow, "late") == late
    assert await _windows(flow) == windows
    before = await memory_lines(flow, TENANT)

    for stage in ("index", "entities", "events"):
        assert await replay(flow, stage, ReplayStart()), stage
        await _run(flow, ALL_BUT_SESSIONS)
        assert await memory_lines(flow, TENANT) == before, stage
        assert await memory_lines(flow, "late") == late, stage

    extractions = await _count(flow, "extractions")
    resets = await replay(flow, "extraction", ReplayStart(time=datetime.now(UTC) - timedelta(hours=1)))
    assert sum(reset.before - reset.after for reset in resets.values()) >= len(windows), "markers take up offsets, too"
    await _run(flow, ALL_BUT_SESSIONS)
    assert await _count(flow, "extractions") == extractions + len(windows)
    assert _without_versions(await memory_lines(flow, TENANT)) == _without_versions(before)

    assert await replay(flow, "sessions", ReplayStart())
    await _run(flow, ("sessions",))
    replayed = await _windows(flow)
    assert sorted(replayed[: len(windows)]) == sorted(replayed[len(windows) :]), "the same windows once more"


async def test_a_replay_only_resets_backwards_where_asked(flow: Settings) -> None:
    await send_sample(flow)
    await _run(flow, ("sessions", "extraction", "events"))
    topic = flow.topic("extractions")
    ends = await _ends(flow, topic)
    (partition,) = [partition for partition, end in ends.items() if end]
    assert await replay(flow, "events", ReplayStart(offset=2, partition=1 - partition.partition)) == {}
    assert await replay(flow, "events", ReplayStart(time=datetime.now(UTC) + timedelta(hours=1))) == {}
    assert await replay(flow, "events", ReplayStart(offset=2)) == {partition: OffsetReset(ends[partition], 2)}
    assert await replay(flow, "events", ReplayStart(offset=3)) == {}, "what was not seen yet must not be skipped"
    with pytest.raises(ReplayRefusedError, match="none is numbered 9"):
        await replay(flow, "events", ReplayStart(partition=9))
    assert await replay(flow, "entities", ReplayStart()) == {}, "it has handled nothing"
    contributions = await _ends(flow, flow.topic("contributions"))
    await ConsumerGroups(kafka=flow.kafka).commit(STAGES["entities"].group(flow.kafka.topic_prefix), contributions)
    with pytest.raises(ReplayRefusedError, match=r"events has \d+ records? before it"):
        await replay(flow, "entities", ReplayStart())
    with pytest.raises(ReplayRefusedError, match="only be replayed from the beginning"):
        await replay(flow, "sessions", ReplayStart(offset=4))
    with pytest.raises(StreamError, match="no stage 'windows'"):
        await replay(flow, "windows", ReplayStart())


def test_a_start_is_a_time_or_an_offset() -> None:
    with pytest.raises(ValueError, match="not at both"):
        ReplayStart(time=datetime.now(UTC), offset=1)
    with pytest.raises(ValueError, match="zone"):
        ReplayStart(time=datetime(2024, 5, 1))
    assert ReplayStart().is_beginning
    assert not ReplayStart(partition=0).is_beginning


async def _run(settings: Settings, stages: tuple[str, ...]) -> None:
    async with serving(settings, stages):
        await caught_up(settings, stages)


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


async def _count(settings: Settings, topic: str) -> int:
    return len([record async for record in read_topic(settings.topic(topic), settings.kafka)])
