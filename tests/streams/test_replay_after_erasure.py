"""Replays and rebuilds after an erasure, on a real broker: a memory that others share keeps what they said later, with its history."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final
from unittest.mock import patch

import pytest

from control.tenant_changes import set_tenant
from memory.ids import entity_id
from memory.keys import encode_key, partition_of
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope
from streams.engine.tasks.batch import Batch
from streams.errors import StageBehindError
from streams.operations.erasure.erase import erase
from streams.operations.rebuild import rebuild, snapshot
from streams.operations.replay import ReplayStart, replay
from streams.operations.retention.run import retain
from streams.stages.events.handler import EventsHandler
from tests.control_log import add_tenant, write
from tests.streams.flow import TENANT, caught_up, serving
from tests.streams.harness import until_true
from tests.streams.stages.entities.team import SCHEMA, START, Remark, extraction

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

LEAVING: Final = "ann"
PARTITIONS: Final = 2
HOME: Final = partition_of(encode_key(TENANT, LEAVING), PARTITIONS)
NEIGHBOUR, STRANGER = (
    next(name for name in ("bob", "cid", "dan", "eve", "fay") if (partition_of(encode_key(TENANT, name), PARTITIONS) == HOME) == is_near)
    for is_near in (True, False)
)
"""Users whose extractions are in the partition of the erased user, and in the other one."""
TEA: Final = entity_id(TENANT, "subject", "tea")


async def said(settings: Settings, user: str, window: int, *remarks: Remark, at: datetime = START) -> None:
    made = extraction(user, window, remarks)
    events = [each.model_copy(update={"said_at": at, "event_time": at}) for each in made.events]
    made = made.model_copy(update={"schema_revision": 1, "events": events, "window_end": at})
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(settings.topic("extractions"), encode_key(TENANT, user), made.to_json())])
    await caught_up(settings)


async def history(store: MemoryStore) -> list[tuple[str | None, str, int]]:
    """The user, the source and the position of each step of the shared memory."""
    steps = [each.contribution for each in await store.steps(TenantScope(TENANT), TEA)]
    return sorted((each.user, each.source, each.position) for each in steps if each.merged is None)


async def published(store: MemoryStore) -> list[bytes]:
    return [line async for line in snapshot(store, TENANT)]


@contextmanager
def held_back(partition: int, is_released: asyncio.Event) -> Iterator[None]:
    """Has the events stage wait before it handles a partition."""
    handle = EventsHandler.handle

    async def waiting(handler: EventsHandler, batch: Batch) -> None:
        if batch.partition == partition:
            await is_released.wait()
        await handle(handler, batch)

    with patch.object(EventsHandler, "handle", waiting):
        yield


async def spoken(settings: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """All speak of tea, one is erased, and the others speak of tea again."""
    await add_tenant(settings, "crew", schema=SCHEMA)
    await said(settings, LEAVING, 0, ("tea", "oolong at dawn", 3))
    for user in (NEIGHBOUR, STRANGER):
        await said(settings, user, 0, ("tea", "sencha at noon", 5))
    await erase(settings, TENANT, [LEAVING], by="test", store=store, redis=redis)
    for user in (NEIGHBOUR, STRANGER):
        await said(settings, user, 1, ("tea", "matcha at nine", 2))


async def test_a_replay_keeps_the_history_since_an_erasure(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    async with serving(leased):
        await spoken(leased, store, redis)
    before, shown = await history(store), await published(store)
    assert {user for user, _, _ in before} == {NEIGHBOUR, STRANGER}
    for stage in ("entities", "events", "index"):
        assert await replay(leased, stage, ReplayStart())
        async with serving(leased):
            await caught_up(leased)
        assert await history(store) == before, stage
        assert await published(store) == shown, stage


async def test_a_rebuild_keeps_the_history_since_an_erasure(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """It reads the erasure's commands after everything in the other partition."""
    async with serving(leased):
        await spoken(leased, store, redis)
    before = await history(store)
    await rebuild(leased, store=store, redis=redis)
    is_released = asyncio.Event()

    async def is_other_partition_rebuilt() -> bool:
        return {each for each in before if each[0] == STRANGER} <= {*await history(store)}

    with held_back(HOME, is_released):
        async with serving(leased):
            await until_true(is_other_partition_rebuilt)
            is_released.set()
            await caught_up(leased)
    assert {*before} <= {*await history(store)}
    assert LEAVING not in {user for user, _, _ in await history(store)}


async def test_a_replay_keeps_history_after_erasure_and_retention(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """Retention empties the shared memory of which the user was erased, and the others speak of it again."""
    now = datetime.now(UTC)
    await add_tenant(leased, "crew", schema=SCHEMA)
    async with serving(leased):
        for user in (LEAVING, NEIGHBOUR, STRANGER):
            await said(leased, user, 0, ("tea", "oolong at dawn", 3))
        await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis)
        await write(leased, lambda draft: set_tenant(draft, TENANT, retention={"*": "30d"}))
        await retain(leased, redis=redis, now=now)
        await caught_up(leased)
        assert await history(store) == []
        for user in (NEIGHBOUR, STRANGER):
            await said(leased, user, 1, ("tea", "matcha at nine", 2), at=now)
    before, shown = await history(store), await published(store)
    assert {user for user, _, _ in before} == {NEIGHBOUR, STRANGER}
    assert await replay(leased, "entities", ReplayStart())
    async with serving(leased):
        await caught_up(leased)
    assert await history(store) == before
    assert await published(store) == shown


async def test_an_erasure_waits_for_the_end_of_a_rebuild(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """Another partition may still publish again what others' results quote of the user."""
    await add_tenant(leased, "crew", schema=SCHEMA)
    async with serving(leased):
        for user in (LEAVING, STRANGER):
            await said(leased, user, 0, ("tea", "oolong at dawn", 3))
    await rebuild(leased, store=store, redis=redis)
    is_released = asyncio.Event()
    with held_back(1 - HOME, is_released):
        async with serving(leased):
            with pytest.raises(StageBehindError, match="events still has 1 record to handle"):
                await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis, patience_s=40)
            is_released.set()
            (receipt,) = await erase(leased, TENANT, [LEAVING], by="test", store=store, redis=redis)
            assert receipt.finished_at is not None
            await caught_up(leased)
    assert {user for user, _, _ in await history(store)} <= {STRANGER}
