"""A batch that takes long lets the loop turn: heartbeats run on it."""

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
from streams.delivery.batch import Batch
from streams.delivery.build import NoState
from streams.delivery.state import PartitionState
from streams.sessions.codec import SessionCodec
from streams.sessions.handler import SessionsHandler
from tests.streams.harness import InMemoryRows, PartitionHarness, delivered, plain_settings, tenants_of

SESSIONS = 3000


async def test_while_a_long_batch_is_handled_the_loop_turns() -> None:
    records = [delivered("messages", offset, b"k", b"v") for offset in range(12)]
    batch = Batch(0, records, PartitionState(InMemoryRows(), NoState(), cache_bytes=0))
    seen: list[int] = []
    turns: list[int] = []

    async def beat() -> None:
        while True:
            turns.append(len(seen))
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    await batch.each(lambda record: (time.sleep(0.03), seen.append(record.offset))[1])
    beating.cancel()
    assert seen == list(range(12))
    assert len(set(turns) & set(range(1, 12))) >= 3


async def test_a_flush_of_many_sessions_lets_the_loop_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # However fast the machine is.
    monkeypatch.setattr("streams.delivery.cooperative._LONGEST_S", 0.001)
    settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=1))
    handler = SessionsHandler(
        partition=0, settings=settings, tenants=tenants_of(settings, {"acme": "companion"}), tail=None, metrics=Metrics()
    )
    steps = PartitionHarness(handler, SessionCodec())
    said_at = datetime(2024, 5, 1, tzinfo=UTC)
    messages = [Message(tenant="acme", user="ada", session=f"s{number}", text="hello", event_time=said_at) for number in range(SESSIONS)]
    keys = [encode_key("acme", message.session) for message in messages]
    await steps.process([delivered("messages", offset, keys[offset], message.to_json()) for offset, message in enumerate(messages)])
    flush = SessionCommand(command="flush", tenant="acme").to_json()
    turns = 0

    async def beat() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    batch = await steps.process_uncommitted([delivered("messages", SESSIONS, encode_key("acme"), flush, headers=((KIND, COMMAND),))])
    beating.cancel()
    assert len(batch.outputs) == SESSIONS
    assert turns >= 3
