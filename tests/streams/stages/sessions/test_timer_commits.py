"""A timer command whose commit failed is sent by the take-over that follows."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.keys import encode_key
from memory.records import SessionCommand
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings
from streams.engine.state.partition_state import pack
from streams.engine.tasks.ordered_task import OrderedTask
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.partition_rows import OpenWindowMark, mark_key
from streams.stages.sessions.windows import SessionState
from tests.control_log import known_tenants
from tests.streams.engine.doubles import ScriptedLog
from tests.streams.harness import plain_settings, stage_context, until


@pytest.mark.parametrize("kind", ["aborted_commits", "lost_answers"])
async def test_a_failed_commit_sends_its_timers_again(tmp_path: Path, kind: str) -> None:
    sessions = SessionSettings(wait_timeout_s=0.1, out_of_orderness_s=0, idle_partition_s=0.1)
    settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=1), sessions=sessions)
    said_ms = int(datetime.now(UTC).timestamp() * 1000)
    state = SessionState("acme", "s1", raw_messages=[b"{}"], ids=["m"], authors=["ada"], last_offset=0, last_event_ms=said_ms)
    key, codec = encode_key("acme", "s1"), SessionCodec()
    rows = {key: pack(0, codec.encode(state)), mark_key(key): pack(0, codec.encode(OpenWindowMark()))}
    log = ScriptedLog(changelog=rows, next_offset=1)
    setattr(log, kind, 1)
    writer = log.writer()
    processor = OrderedTask(
        partition=0,
        generation=1,
        new_handler=lambda: SessionsHandler(
            partition=0, settings=settings, tenants=known_tenants({"acme": "companion"}), tail=None, metrics=Metrics()
        ),
        codec=SessionCodec(),
        cache_bytes=100_000,
        max_queued=100,
        max_queued_bytes=1_000_000,
        writer=writer,
        context=stage_context(lambda partition: writer, stage="sessions").task,
    )
    processor.start()
    expected = 2 if kind == "lost_answers" else 1
    await until(lambda: len(log.outputs) == expected)
    await processor.stop()
    assert log.epoch == 2, "the partition was taken over again"
    commands = [SessionCommand.from_json(output.value or b"") for output in log.outputs]
    assert {(command.session, command.window_sequence, command.last_offset) for command in commands} == {("s1", 0, 0)}
