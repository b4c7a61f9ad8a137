"""Retention on real parts: old results and messages are removed everywhere, do not return, and a rebuild gives the same."""

import asyncio
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from control.hold_changes import place_hold, release_hold
from control.tenant_changes import add_generation, set_tenant
from memory.keys import encode_key
from memory.records import Message
from memory.topics import EXTRACTIONS, MEMORIES, MERGED, MESSAGES, WINDOWS
from runtime.kafka import Producer, read_topic
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_steps
from streams.engine.state.partition_state import unpack
from streams.operations.rebuild import digest, rebuild, snapshot
from streams.operations.replay import ReplayStart, replay
from streams.operations.retention.run import retain
from streams.run import serve_stage
from streams.stages.catalog import STAGES
from tests.control_log import write
from tests.streams.flow import TENANT, caught_up, flush, followed, serving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

NOW = datetime.now(UTC)
OLD, YOUNG = NOW - timedelta(days=100), NOW - timedelta(days=1)
POLICY = {"*": "30d"}
ALL = {"*": "30d", "messages": "30d"}
PARROT, BOAT = "parrot", "sailboat"
"""A word of the old messages, and one of the young ones."""


async def test_old_results_and_messages_are_removed(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    await _say(leased, OLD, f"My {PARROT} is called Rio, and I live in Lisbon.", "I love hiking in the mountains.", session="s-old")
    await _say(leased, YOUNG, f"I bought a {BOAT} in Porto.", "My sister Ann visited me.", session="s-young")
    async with serving(leased):
        await caught_up(leased)
        assert await _places_naming(leased, store, PARROT) >= {"extractions", "memories", "windows", "messages", "store", "events"}
        young = await _lines(store, BOAT)
        assert young

        await _retains(leased, ALL)
        report = await retain(leased, redis=redis, now=NOW)
        await caught_up(leased)
        assert report.found[TENANT]["windows"] == 1
        assert report.found[TENANT]["results"] >= 2

        assert await _places_naming(leased, store, PARROT) == set()
        assert await _lines(store, BOAT) == young, "the young memory is as it was"
        assert not (await retain(leased, redis=redis, now=NOW)).found.get(TENANT), "nothing is left to do"

    for stage in ("extraction", "events", "entities"):
        assert await replay(leased, stage, ReplayStart())
        async with serving(leased):
            await caught_up(leased)
            assert await _places_naming(leased, store, PARROT) == set(), stage
    kept = await digest(store, TENANT)
    kept = await digest(store, TENANT)
    await rebuild(leased, store=store, redis=redis)
    async with serving(leased):
        await caught_up(leased)
        assert await digest(store, TENANT) == kept
        assert await _places_naming(leased, store, PARROT) == set()


async def test_a_new_generation_restores_no_expired_memories(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    await _say(leased, OLD, f"My {PARROT} is called Rio, and I live in Lisbon.", session="s-1")
    await _say(leased, YOUNG, f"I bought a {BOAT} in Porto.", session="s-1")
    async with serving(leased):
        await caught_up(leased)
        await _retains(leased, POLICY)
        await retain(leased, redis=redis, now=NOW)
        await caught_up(leased)
        assert await _lines(store, PARROT) == []
        assert "windows" in await _places_naming(leased, store, PARROT), "raw messages have no period"
        await write(leased, lambda draft: add_generation(draft, TENANT, "v2"))
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as running:
            running.create_task(serve_stage("extraction", leased, stop, generation="v2", only=frozenset({TENANT})))
            await followed(leased, "v2")
            await caught_up(leased)
            stop.set()
        lines = [each async for each in snapshot(store, TENANT)]
        assert any(BOAT.encode() in each and b'"generation":"v2"' in each for each in lines)
        assert not any(PARROT.encode() in each for each in lines)


async def test_a_hold_stops_retention(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    await _say(leased, OLD, f"My {PARROT} is called Rio, and I live in Lisbon.", session="s-1", user="ada")
    await _say(leased, OLD, f"I bought a {BOAT} in Porto.", session="s-2", user="bob")
    async with serving(leased):
        await caught_up(leased)
        await _retains(leased, ALL)
        await write(leased, lambda draft: place_hold(draft, TENANT, "ada", at=NOW, by="counsel", reason="case 17"))
        before = await _lines(store, PARROT)
        await retain(leased, redis=redis, now=NOW)
        await caught_up(leased)
        assert await _lines(store, PARROT) == before != []
        assert await _places_naming(leased, store, BOAT) == set()
        assert "windows" in await _places_naming(leased, store, PARROT)
        await write(leased, lambda draft: release_hold(draft, TENANT, "ada", at=NOW, by="counsel"))
        await retain(leased, redis=redis, now=NOW)
        await caught_up(leased)
        assert await _places_naming(leased, store, PARROT) == set()


async def test_a_dry_run_only_counts(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    await _say(leased, OLD, f"My {PARROT} is called Rio, and I live in Lisbon.", session="s-1")
    async with serving(leased):
        await caught_up(leased)
        await _retains(leased, ALL)
        before = await digest(store, TENANT)
        report = await retain(leased, redis=redis, now=NOW, dry_run=True)
        await caught_up(leased)
        assert (report.found[TENANT]["windows"], report.found[TENANT]["extractions"]) == (1, 1)
        assert await digest(store, TENANT) == before
        assert not (await retain(leased, redis=redis, now=OLD)).found


async def _retains(settings: Settings, policy: Mapping[str, str]) -> None:
    await write(settings, lambda draft: set_tenant(draft, TENANT, retention=dict(policy)))


async def _say(settings: Settings, start: datetime, *texts: str, session: str, user: str = "ada") -> None:
    async with Producer(kafka=settings.kafka) as producer:
        for number, text in enumerate(texts):
            at = start + timedelta(minutes=number)
            said = Message(tenant=TENANT, user=user, session=session, id=f"{session}-{start:%m}-{number}", text=text, event_time=at)
            await producer.send(settings.topic("messages"), key=encode_key(TENANT, session), value=said.to_json())
    await flush(settings)


async def _lines(store: MemoryStore, word: str) -> list[bytes]:
    return [each async for each in snapshot(store, TENANT) if word.encode() in each]


async def _places_naming(settings: Settings, store: MemoryStore, word: str) -> set[str]:
    """The topics and changelogs whose readable records have a word, and the store."""
    found = {"store"} if await _lines(store, word) or await _steps(store, word) else set()
    specs = {each.name: settings.topic(each.name) for each in (MESSAGES, WINDOWS, EXTRACTIONS, MEMORIES, MERGED)}
    changelogs = {name: STAGES[name].changelog(settings.kafka.topic_prefix) for name in ("sessions", "extraction", "events", "entities")}
    for name, topic in (specs | changelogs).items():
        standing: dict[Any, bytes] = {}
        async for record in read_topic(topic, settings.kafka):
            place = (record.partition, record.key if name != "messages" else record.offset)
            standing.pop(place, None)
            if record.value is not None:
                standing[place] = _plain(unpack(record.value)[1] if name in changelogs else record.value)
        if any(word.encode() in each for each in standing.values()):
            found.add(name)
    return found


def _plain(value: bytes) -> bytes:
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


async def _steps(store: MemoryStore, word: str) -> list[str]:
    return [each.id async for each in all_steps(store, TenantScope(TENANT), None) if word.encode() in each.to_json()]
