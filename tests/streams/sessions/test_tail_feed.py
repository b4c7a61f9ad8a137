"""The feed of the session tails: what it writes, what it keeps for the next try, and what it must not write any more."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import cast

import pytest

from memory.keys import encode_key
from runtime.errors import RedisUnavailableError
from runtime.metrics import Metrics
from runtime.session_tail import SessionTail, TailUpdate, TailWindow
from runtime.settings import KafkaSettings
from streams.sessions import tail as tail_module
from streams.sessions.codec import SessionCodec
from streams.sessions.driver import SessionsDriver
from streams.sessions.handler import SessionsHandler
from streams.sessions.tail import TailFeed
from streams.sessions.windows import SessionState
from tests.streams.harness import InMemoryRows, plain_settings, stage_context, tenants_of, until


class ScriptedTail:
    """Redis, which may be away or slow."""

    def __init__(self) -> None:
        self.tries = 0
        self.open: dict[str, TailWindow] = {}
        self.closed: dict[str, TailWindow] = {}
        self.is_away = False
        self.answers = asyncio.Event()
        self.answers.set()

    async def write(self, updates: Iterable[TailUpdate]) -> None:
        updates = list(updates)
        self.tries += 1
        await self.answers.wait()
        if self.is_away:
            raise RedisUnavailableError("away")
        for update in updates:
            if update.view.open is not None:
                self.open[update.session] = update.view.open
            if update.view.closed is not None:
                self.closed[update.session] = update.view.closed


@pytest.fixture
def redis() -> ScriptedTail:
    return ScriptedTail()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def feed(redis: ScriptedTail, metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TailFeed]:
    monkeypatch.setattr(tail_module, "_INTERVAL_S", 0.0)
    monkeypatch.setattr(tail_module, "_RETRY_S", 0.0)
    feed = TailFeed(tail=cast(SessionTail, redis), metrics=metrics)
    feed.start()
    yield feed
    await feed.stop()


def session(name: str, *raws: bytes, sequence: int = 0) -> SessionState:
    return SessionState(tenant="acme", session=name, sequence=sequence, raws=list(raws), size=sum(map(len, raws)))


def window(sequence: int, *raws: bytes) -> TailWindow:
    return TailWindow(sequence, raws)


async def test_tails_are_written_once_redis_is_back(feed: TailFeed, redis: ScriptedTail) -> None:
    feed.assign(lambda: True)
    redis.is_away = True
    feed.moved(session("s", b"1", sequence=1))
    feed.closed("acme", "s", window(0, b"0"))
    await until(lambda: redis.tries >= 2)
    redis.is_away = False
    await until(lambda: "s" in redis.open)
    assert (redis.open["s"], redis.closed["s"]) == (window(1, b"1"), window(0, b"0"))


async def test_a_retried_tail_does_not_replace_a_newer_one(feed: TailFeed, redis: ScriptedTail) -> None:
    feed.assign(lambda: True)
    redis.is_away = True
    redis.answers.clear()
    feed.moved(session("s", b"old"))
    feed.closed("acme", "other", window(0, b"0"))
    await until(lambda: redis.tries == 1)
    feed.moved(session("s", b"new"))
    redis.answers.set()
    await until(lambda: redis.tries >= 2)
    redis.is_away = False
    await until(lambda: "s" in redis.open and "other" in redis.closed)
    assert redis.open["s"] == window(0, b"new")


async def test_pending_tails_are_bounded(feed: TailFeed, redis: ScriptedTail, metrics: Metrics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_module, "_MAX_KEPT_BYTES", 5)
    feed.assign(lambda: True)
    redis.is_away = True
    for name in "abcd":
        feed.moved(session(name, b"12"))
    await until(lambda: redis.tries >= 2)
    redis.is_away = False
    await until(lambda: len(redis.open) == 2)
    assert metrics.records.labels("sessions", "tail_skipped")._value.get() == 2


async def test_a_worker_that_may_not_write_drops_pending_tails(feed: TailFeed, redis: ScriptedTail) -> None:
    asked = 0
    is_ours = False

    def may_write() -> bool:
        nonlocal asked
        asked += 1
        return is_ours

    feed.assign(may_write)
    feed.moved(session("s", b"old"))
    await until(lambda: asked >= 1)
    is_ours = True
    feed.moved(session("ours", b"1"))
    await until(lambda: "ours" in redis.open)
    assert "s" not in redis.open


async def test_nothing_is_written_before_an_assignment(feed: TailFeed, redis: ScriptedTail) -> None:
    feed.moved(session("s", b"1"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert redis.tries == 0
    feed.assign(lambda: True)
    await until(lambda: "s" in redis.open)


async def test_a_revocation_awaits_the_current_write_and_drops_others(feed: TailFeed, redis: ScriptedTail) -> None:
    feed.assign(lambda: True)
    redis.answers.clear()
    redis.is_away = True
    feed.moved(session("s", b"old"))
    await until(lambda: redis.tries == 1)
    feed.moved(session("t", b"old"))
    revoking = asyncio.create_task(feed.revoke())
    for _ in range(20):
        await asyncio.sleep(0)
    assert not revoking.done()
    redis.answers.set()
    await revoking
    redis.is_away = False
    feed.assign(lambda: True)
    feed.moved(session("ours", b"1"))
    await until(lambda: "ours" in redis.open)
    assert redis.open.keys() == {"ours"}


async def test_tails_are_written_only_under_the_assigned_generation(feed: TailFeed, redis: ScriptedTail, tmp_path: Path) -> None:
    settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=1))
    tenants = tenants_of(settings, {"acme": "companion"})
    metrics = Metrics()
    present = 1
    context = stage_context(None, stage="sessions", metrics=metrics, may_write=lambda generation: generation == present)
    state = session("recovered", b"1")
    state.last_event_ms = 1
    rows = InMemoryRows()
    key = encode_key("acme", "recovered")
    rows.rows[key] = (0).to_bytes(8, "big") + SessionCodec().encode(state)
    processors = SessionsDriver(
        feed=feed,
        context=context,
        new_handler=lambda partition: SessionsHandler(partition=partition, settings=settings, tenants=tenants, tail=feed, metrics=metrics),
        rows=lambda _: rows,
        codec=SessionCodec(),
        max_span=10,
        cache_bytes=1_000_000,
    )
    await processors.assign({0}, 1)
    await until(lambda: "recovered" in redis.open)
    present = 2
    tries = redis.tries
    feed.moved(session("late", b"1"))
    await until(lambda: not feed._waiting)
    await processors.assign({0}, 2)
    await until(lambda: redis.tries > tries)
    feed.moved(session("in-time", b"1"))
    await until(lambda: "in-time" in redis.open)
    await processors.stop()
    assert "late" not in redis.open
