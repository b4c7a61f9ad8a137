"""The tail writer: what it writes, what it keeps for the next try, and what it drops."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import pytest

from memory.keys import encode_key
from runtime.background import BackgroundWorks
from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.redis.message_outcomes import MessageOutcome
from runtime.redis.session_tail import TailUpdate, TailWindow
from runtime.settings import KafkaSettings
from streams.engine.state.partition_state import pack
from streams.stages.sessions import tail_writer as tail_module
from streams.stages.sessions.build import SessionsDriver
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.partition_rows import OpenWindowMark, mark_key
from streams.stages.sessions.tail_writer import OutcomeWriter, TailWriter
from streams.stages.sessions.windows import SessionState
from tests.control_log import known_tenants
from tests.streams.engine.doubles import ScriptedLog
from tests.streams.harness import plain_settings, stage_context, until


async def refuse_outcomes(outcomes: Sequence[MessageOutcome]) -> None:
    """Takes outcomes of changed messages, of which these tests have none."""
    raise AssertionError(outcomes)


class FakeTailSink:
    """Takes tails, unless it is unavailable or slow."""

    def __init__(self) -> None:
        self.tries = 0
        self.open: dict[str, TailWindow] = {}
        self.closed: dict[str, TailWindow] = {}
        self.places: dict[str, tuple[int, int]] = {}
        self.is_unavailable = False
        self.answers = asyncio.Event()
        self.answers.set()

    async def write(self, updates: Iterable[TailUpdate]) -> None:
        updates = list(updates)
        self.tries += 1
        await self.answers.wait()
        if self.is_unavailable:
            raise RedisUnavailableError("away")
        for update in updates:
            self.places[update.session] = (update.partition, update.offset)
            if update.view.open is not None:
                self.open[update.session] = update.view.open
            if update.view.closed is not None:
                self.closed[update.session] = update.view.closed


@pytest.fixture
def sink() -> FakeTailSink:
    return FakeTailSink()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def writer(sink: FakeTailSink, metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TailWriter]:
    monkeypatch.setattr(tail_module, "_INTERVAL_S", 0.0)
    monkeypatch.setattr(tail_module, "_RETRY_S", 0.0)
    writer = TailWriter(write=sink.write, metrics=metrics)
    works = BackgroundWorks()
    works.add("session-tail", writer.run)
    async with works.running():
        yield writer


def session(name: str, *raw_messages: bytes, sequence: int = 0) -> SessionState:
    return SessionState(tenant="acme", session=name, sequence=sequence, raw_messages=list(raw_messages), size=sum(map(len, raw_messages)))


def window(sequence: int, *raw_messages: bytes) -> TailWindow:
    return TailWindow(sequence, raw_messages)


async def test_tails_are_written_once_redis_is_back(writer: TailWriter, sink: FakeTailSink) -> None:
    writer.assign(lambda: True)
    sink.is_unavailable = True
    writer.window_changed(session("s", b"1", sequence=1), partition=0)
    writer.window_closed(session("s"), window(0, b"0"), partition=0)
    await until(lambda: sink.tries >= 2)
    sink.is_unavailable = False
    await until(lambda: "s" in sink.open)
    assert (sink.open["s"], sink.closed["s"]) == (window(1, b"1"), window(0, b"0"))


async def test_a_tail_has_its_newest_messages_position(writer: TailWriter, sink: FakeTailSink) -> None:
    state, other = session("s", b"1"), session("other")
    state.last_offset = other.last_offset = 7
    writer.window_changed(state, partition=3)
    writer.window_closed(other, window(0, b"0"), partition=4)
    state.last_offset = 8
    writer.assign(lambda: True)
    await until(lambda: len(sink.places) == 2)
    assert sink.places == {"s": (3, 8), "other": (4, 7)}


async def test_a_retried_tail_does_not_replace_a_newer_one(writer: TailWriter, sink: FakeTailSink) -> None:
    writer.assign(lambda: True)
    sink.is_unavailable = True
    sink.answers.clear()
    writer.window_changed(session("s", b"old"), partition=0)
    writer.window_closed(session("other"), window(0, b"0"), partition=0)
    await until(lambda: sink.tries == 1)
    writer.window_changed(session("s", b"new"), partition=0)
    sink.answers.set()
    await until(lambda: sink.tries >= 2)
    sink.is_unavailable = False
    await until(lambda: "s" in sink.open and "other" in sink.closed)
    assert sink.open["s"] == window(0, b"new")


async def test_pending_tails_are_bounded(writer: TailWriter, sink: FakeTailSink, metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_module, "_MAX_PENDING_BYTES", 2 * (tail_module._TAIL_BYTES + 2))
    writer.assign(lambda: True)
    sink.is_unavailable = True
    for name in "abcd":
        writer.window_changed(session(name, b"12"), partition=0)
    await until(lambda: sink.tries >= 2)
    sink.is_unavailable = False
    await until(lambda: len(sink.open) == 2)
    assert metrics.records.labels("sessions", "tail_skipped")._value.get() == 2


async def test_tails_are_bounded_while_redis_is_slow(writer: TailWriter, sink: FakeTailSink, metrics: Metrics) -> None:
    bound = tail_module._MAX_PENDING_BYTES
    writer.assign(lambda: True)
    sink.answers.clear()
    for number in range(2_000):
        writer.window_changed(session(f"s-{number}", b"x" * 100_000), partition=0)
        if number == 100:
            await until(lambda: sink.tries == 1)
        assert writer._pending_bytes + writer._writing_bytes <= bound
    assert writer._writing_bytes > 0
    assert metrics.records.labels("sessions", "tail_skipped")._value.get() >= 2_000 - bound / 100_000
    sink.answers.set()
    await until(lambda: "s-1999" in sink.open and not writer._pending)
    assert writer._pending_bytes == 0


async def test_a_growing_tail_counts_as_it_grows(
    writer: TailWriter, sink: FakeTailSink, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "_MAX_PENDING_BYTES", tail_module._TAIL_BYTES + 5)
    state = session("s")
    for _ in range(5):
        state.raw_messages.append(b"1")
        state.size += 1
        writer.window_changed(state, partition=0)
    assert list(writer._pending) == [("acme", "s")]
    state.size += 1
    writer.window_changed(state, partition=0)
    assert not writer._pending
    assert metrics.records.labels("sessions", "tail_skipped")._value.get() == 1


async def test_a_worker_that_may_not_write_drops_pending_tails(writer: TailWriter, sink: FakeTailSink) -> None:
    checks = 0
    is_assigned = False

    def may_write() -> bool:
        nonlocal checks
        checks += 1
        return is_assigned

    writer.assign(may_write)
    writer.window_changed(session("s", b"old"), partition=0)
    await until(lambda: checks >= 1)
    is_assigned = True
    writer.window_changed(session("new", b"1"), partition=0)
    await until(lambda: "new" in sink.open)
    assert "s" not in sink.open


async def test_nothing_is_written_before_an_assignment(writer: TailWriter, sink: FakeTailSink) -> None:
    writer.window_changed(session("s", b"1"), partition=0)
    for _ in range(20):
        await asyncio.sleep(0)
    assert sink.tries == 0
    writer.assign(lambda: True)
    await until(lambda: "s" in sink.open)


async def test_a_revocation_awaits_the_current_write_and_drops_others(writer: TailWriter, sink: FakeTailSink) -> None:
    writer.assign(lambda: True)
    sink.answers.clear()
    sink.is_unavailable = True
    writer.window_changed(session("s", b"old"), partition=0)
    await until(lambda: sink.tries == 1)
    writer.window_changed(session("t", b"old"), partition=0)
    revoking = asyncio.create_task(writer.revoke())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not revoking.done()
    sink.answers.set()
    await revoking
    sink.is_unavailable = False
    writer.assign(lambda: True)
    writer.window_changed(session("new", b"1"), partition=0)
    await until(lambda: "new" in sink.open)
    assert sink.open.keys() == {"new"}


async def test_tails_are_written_only_under_the_assigned_generation(writer: TailWriter, sink: FakeTailSink, tmp_path: Path) -> None:
    settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=1))
    tenants = known_tenants({"acme": "companion"})
    metrics = Metrics()
    present = 1
    state = session("recovered", b"1")
    state.last_event_ms = 1
    key, codec = encode_key("acme", "recovered"), SessionCodec()
    log = ScriptedLog(changelog={key: pack(0, codec.encode(state)), mark_key(key): pack(0, codec.encode(OpenWindowMark()))})
    context = stage_context(
        lambda partition: log.writer(), stage="sessions", metrics=metrics, may_write=lambda generation: generation == present
    )
    processors = SessionsDriver(
        tail_writer=writer,
        outcome_writer=OutcomeWriter(refuse_outcomes),
        context=context,
        new_handler=lambda partition: SessionsHandler(
            partition=partition, settings=settings, tenants=tenants, tail=writer, metrics=metrics
        ),
        codec=SessionCodec(),
        max_queued=10,
        max_queued_bytes=10_000,
        cache_bytes=1_000_000,
    )
    await processors.assign({0}, 1)
    await until(lambda: "recovered" in sink.open)
    present = 2
    tries = sink.tries
    writer.window_changed(session("late", b"1"), partition=0)
    await until(lambda: not writer._pending)
    await processors.assign({0}, 2)
    await until(lambda: sink.tries > tries)
    writer.window_changed(session("in-time", b"1"), partition=0)
    await until(lambda: "in-time" in sink.open)
    await processors.stop()
    assert "late" not in sink.open
