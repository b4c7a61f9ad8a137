"""A batch that takes long yields to the event loop: heartbeats run on it."""

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import NullStore, PartitionState
from streams.engine.tasks.batch import Batch
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from tests.control_log import known_tenants
from tests.growth import turns_during
from tests.streams.harness import APPENDED_AT, InMemoryRows, PartitionHarness, delivered, plain_settings

SESSIONS = 3000


async def test_long_batch_yields_to_the_event_loop() -> None:
    records = [delivered("messages", offset, b"k", b"v") for offset in range(12)]
    batch = Batch(0, records, PartitionState(InMemoryRows(), NullStore(), cache_bytes=0), APPENDED_AT)
    seen: list[int] = []
    loop_turns: list[int] = []

    async def beat() -> None:
        while True:
            loop_turns.append(len(seen))
            await asyncio.sleep(0)

    def handle(record: ConsumedRecord) -> None:
        time.sleep(0.03)
        seen.append(record.offset)

    heartbeat = asyncio.create_task(beat())
    await batch.each(handle)
    heartbeat.cancel()
    assert seen == list(range(12))
    assert len(set(loop_turns) & set(range(1, 12))) >= 3


async def test_flush_of_many_sessions_yields_to_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # However fast the machine is.
    monkeypatch.setattr("runtime.pieces.LONG_PIECE_S", 0.001)
    settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=1))
    handler = SessionsHandler(partition=0, settings=settings, tenants=known_tenants({"acme": "companion"}), tail=None, metrics=Metrics())
    harness = PartitionHarness(handler, SessionCodec())
    event_time = datetime(2024, 5, 1, tzinfo=UTC)
    messages = [Message(tenant="acme", user="ada", session=f"s{number}", text="hello", event_time=event_time) for number in range(SESSIONS)]
    keys = [encode_key("acme", message.session) for message in messages]
    await harness.process([delivered("messages", offset, keys[offset], message.to_json()) for offset, message in enumerate(messages)])
    flush = SessionCommand(command="flush", tenant="acme").to_json()
    record = delivered("messages", SESSIONS, encode_key("acme"), flush, headers=((KIND, COMMAND),))
    batch, loop_turns = await turns_during(harness.process_uncommitted([record]))
    assert len(batch.outputs) == SESSIONS
    assert loop_turns >= 3
