"""A worker is killed between the records of an edit: the old text is retracted once, and the new text is extracted once."""

import asyncio
import os
import signal
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiokafka import ConsumerRecord

from memory.headers import KIND, RETRACTION
from memory.keys import encode_key
from memory.records import Contribution, Extraction, Memory, MemoryChange, Message, MessageChange, MessageRetraction, Window
from runtime.kafka import OutgoingRecord, Producer, read_topic
from runtime.settings import Settings
from tests.chaos.failpoints import FailpointFile
from tests.streams.flow import TENANT, caught_up, flush, serving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
STAGES = ("sessions", "extraction", "events", "entities")
KEY = encode_key(TENANT, "s-1")
SAID = ("I live in Oslo with my sister Eva.", "My brother Tom bakes bread in a small bakery.")
EDITED = "I live in Bergen with my sister Eva."


@pytest.mark.parametrize("failpoint", ["sent", "committed"])
@pytest.mark.parametrize("stage", ["sessions", "extraction", "events"])
async def test_a_killed_worker_finishes_an_edit_once(flow: Settings, tmp_path: Path, stage: str, failpoint: str) -> None:
    await produce(flow, *(said(number, text) for number, text in enumerate(SAID)))
    async with serving(flow, STAGES):
        await caught_up(flow, ["sessions"])
        await flush(flow)
        await caught_up(flow, STAGES)
    before = await published(flow)
    assert [each for each in before if "Oslo" in each.content]

    edit = MessageChange(command="edit", tenant=TENANT, user="ada", session="s-1", id="m0", text=EDITED)
    await produce(flow, edit.to_json())
    earlier = STAGES[: STAGES.index(stage)]
    if earlier:
        async with serving(flow, earlier):
            await caught_up(flow, earlier)
    failpoints = FailpointFile(tmp_path / "failpoint")
    failpoints.set(failpoint, visit=1)
    assert await killed(flow, stage, tmp_path / "failpoint") == -signal.SIGKILL
    async with serving(flow, STAGES):
        await caught_up(flow, STAGES)

    extractions = await records(flow, "extractions")
    retractions = [MessageRetraction.from_json(each.value or b"") for each in extractions if (KIND, RETRACTION) in each.headers]
    assert [(each.revision, each.message_ids) for each in retractions] == [(1, ["m0"])]
    windows = [Window.from_json(each.value or b"") for each in await records(flow, "windows")]
    assert [(each.revision, "Oslo" in each.messages[0].text) for each in windows] == [(0, True), (1, False)]
    plain = [Extraction.from_json(each.value or b"") for each in extractions if not any(name == KIND for name, _ in each.headers)]
    assert [each.revision for each in plain] == [0, 1]

    contributions = [Contribution.from_json(each.value or b"") for each in await records(flow, "contributions")]
    places = Counter((each.entity_type, each.entity_key, each.source, each.position) for each in contributions)
    assert set(places.values()) == {1}, "each entity gets the changes of a record once"
    standing = Counter[str]()
    for contribution in contributions:
        for change in contribution.changes:
            standing[f"{contribution.entity_key} {change.property} {change.source_id} {change.value}"] += {"apply": 1, "retract": -1}.get(
                change.op, 0
            )
    assert set(standing.values()) <= {0, 1}
    assert not [name for name, count in standing.items() if count and "Oslo" in name]

    after = await published(flow)
    assert not [each.content for each in after if "Oslo" in each.content]
    assert len([each for each in after if each.kind == "event" and "Bergen" in each.content]) == 1
    assert [each.content for each in after if each.kind == "event" and "bread" in each.content] == [SAID[1]]
    assert await records(flow, "dead-letters") == []


def said(number: int, text: str) -> bytes:
    time = datetime(2024, 5, 1, tzinfo=UTC) + timedelta(minutes=number)
    return Message(tenant=TENANT, user="ada", session="s-1", id=f"m{number}", text=text, event_time=time).to_json()


async def produce(settings: Settings, *values: bytes) -> None:
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(settings.topic("messages"), KEY, each) for each in values])


async def records(settings: Settings, topic: str) -> list[ConsumerRecord]:
    return [each async for each in read_topic(settings.topic(topic), settings.kafka)]


async def published(settings: Settings) -> list[Memory]:
    """The memories of the change feed, each in its newest version."""
    newest: dict[bytes, Memory | None] = {}
    for record in await records(settings, "memories"):
        change = MemoryChange.from_json(record.value) if record.value else None
        if change is None or change.op != "step":
            newest[record.key or b""] = None if change is None else change.memory
    return [each for each in newest.values() if each is not None]


async def killed(settings: Settings, stage: str, failpoint_file: Path) -> int:
    """Runs a stage's worker until it kills itself at the failpoint; returns its exit code."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.chaos.failpoint_worker", str(failpoint_file), stage),
        cwd=ROOT,
        env={**os.environ, **environment(settings), "PYTHONPATH": str(ROOT)},
    )
    try:
        async with asyncio.timeout(90):
            return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def environment(settings: Settings) -> dict[str, str]:
    kafka, redis, sessions = settings.kafka, settings.redis, settings.sessions
    values = {
        "DATA": settings.data,
        "METRICS_PORT": 0,
        "KAFKA__BOOTSTRAP": kafka.bootstrap,
        "KAFKA__TOPIC_PREFIX": kafka.topic_prefix,
        "KAFKA__PARTITIONS": kafka.partitions,
        "KAFKA__REPLICATION_FACTOR": kafka.replication_factor,
        "KAFKA__MIN_INSYNC_REPLICAS": kafka.min_insync_replicas,
        "REDIS__URL": redis.url,
        "REDIS__PREFIX": redis.prefix,
        "STORE__SOCKET": settings.store.socket,
        "SESSIONS__MESSAGE_COUNT": sessions.message_count,
        "SESSIONS__MESSAGE_CAP": sessions.message_cap,
        "SESSIONS__IDLE_PARTITION_S": sessions.idle_partition_s,
        "DELIVERY__BATCH_INTERVAL_S": settings.delivery.batch_interval_s,
    }
    return {f"VARVE_{name}": str(value) for name, value in values.items()}
