"""Waiting by offsets, and reading whole topics, on a real broker."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, OffsetAndMetadata, TopicPartition

from memory.topics import MEMORIES, MESSAGES, WINDOWS
from runtime.kafka import KafkaOffsets, Producer, read_topic
from runtime.kafka.parked_note import ParkedNote, read_parked
from runtime.settings import Settings
from streams.operations.replay import ReplayStart, replay
from streams.stages.catalog import STAGES
from varve.errors import StalledError
from varve.lag import wait_for_zero_lag
from varve.stage_status import StageStatusReader

pytestmark = pytest.mark.integration


async def test_records_produced_meanwhile_must_be_committed_too(settings: Settings) -> None:
    await _produce(settings, MESSAGES.name, 3)
    waiting = asyncio.create_task(wait_for_zero_lag(settings))
    await _commit(settings, "sessions")
    await _produce(settings, WINDOWS.name, 1)
    done, _ = await asyncio.wait({waiting}, timeout=1.0)
    assert not done
    await _produce(settings, MESSAGES.name, 1)
    await _commit(settings, "extraction")
    done, _ = await asyncio.wait({waiting}, timeout=1.0)
    assert not done, "a late message was not waited for"
    await _commit(settings, "sessions")
    async with asyncio.timeout(60):
        await waiting


async def test_a_stalled_stage_is_named(settings: Settings) -> None:
    await _produce(settings, MESSAGES.name, 3)
    lags: list[tuple[str, int]] = []
    with pytest.raises(StalledError, match="the stage sessions has not moved for 1 s with 3 records before it"):
        await wait_for_zero_lag(settings, stall_s=0.5001, progress=lambda stage, lag: lags.append((stage, lag)))
    assert lags == [("sessions", 3)]


async def test_parked_records_are_awaited_and_shown(settings: Settings) -> None:
    await _produce(settings, WINDOWS.name, 8)
    await _commit(settings, "extraction", note=ParkedNote.of({"acme": 2}).text)
    with pytest.raises(StalledError, match=r"the stage extraction has not moved for \d s with 4 records before it, 4 of them parked"):
        await wait_for_zero_lag(settings, stall_s=0.5)
    async with StageStatusReader(settings=settings, probes={}) as reader:
        status = {stage.name: stage for stage in await reader.read()}
    assert status["extraction"].lag == 0
    assert status["extraction"].parked == ParkedNote(4, {"acme": 4})
    assert status["sessions"].parked == ParkedNote()

    notices: list[str] = []
    assert await replay(settings, "extraction", ReplayStart(), notice=notices.append)
    assert all(notice.endswith("; 2 records parked as before") for notice in notices)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        group = STAGES["extraction"].group(settings.kafka.topic_prefix)
        assert (await read_parked(offsets, group, [settings.topic(WINDOWS.name)])).count == 4
    await _commit(settings, "extraction")
    await wait_for_zero_lag(settings)


async def test_a_replay_is_followed_until_all_have_caught_up(settings: Settings, tmp_path: Path) -> None:
    await _produce(settings, MEMORIES.name, 3)
    await _commit(settings, "index")
    environment = {
        **os.environ,
        "VARVE_DATA": str(tmp_path),
        "VARVE_KAFKA__BOOTSTRAP": settings.kafka.bootstrap,
        "VARVE_KAFKA__TOPIC_PREFIX": settings.kafka.topic_prefix,
    }
    command = (sys.executable, "-m", "varve", "replay", "index", "--follow")
    following = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, env=environment)
    assert following.stdout is not None
    try:
        async with asyncio.timeout(120):
            printed = [await following.stdout.readline() for _ in range(2)]
            while b"start the workers" not in printed[-1]:
                printed.append(await following.stdout.readline())
            assert following.returncode is None
            await _commit(settings, "index")
            assert (await following.stdout.read()).decode() == "every stage has caught up\n"
            assert await following.wait() == 0
    finally:
        if following.returncode is None:
            following.kill()
            await following.wait()


async def test_a_topic_is_read_from_beginning_to_end(settings: Settings) -> None:
    assert [record async for record in read_topic(settings.topic(MESSAGES.name), settings.kafka)] == []
    await _produce(settings, MESSAGES.name, 25)
    values = sorted([int(record.value or b"") async for record in read_topic(settings.topic(MESSAGES.name), settings.kafka)])
    assert values == list(range(25))


async def _produce(settings: Settings, topic: str, count: int) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        for number in range(count):
            await producer.send(settings.topic(topic), key=b"t/%d" % number, value=b"%d" % number)


async def _commit(settings: Settings, stage: str, *, note: str = "") -> None:
    """Commits all records of the stage's topic, as its worker would; each partition's offset has the note as metadata."""
    spec = STAGES[stage]
    places = [TopicPartition(settings.topic(spec.source.name), number) for number in range(settings.kafka.partitions)]
    async with AIOKafkaConsumer(
        bootstrap_servers=settings.kafka.bootstrap, group_id=spec.group(settings.kafka.topic_prefix), enable_auto_commit=False
    ) as consumer:
        consumer.assign(places)
        await consumer.commit({place: OffsetAndMetadata(end, note) for place, end in (await consumer.end_offsets(places)).items()})
