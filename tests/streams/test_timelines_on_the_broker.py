"""Timelines with the real broker, stages and store: events are summarised and expire unless recalled, and a rebuild gives the same."""

import pytest

from memory.keys import encode_key
from memory.records import Extraction, Memory, RecalledEvent, RecallRecord
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import open_redis
from runtime.settings import Settings, TimelineSettings
from stores.build import build_store
from stores.port import MemoryStore, TenantScope
from streams.operations.rebuild import rebuild, snapshot
from tests.control_log import add_tenant
from tests.operators.timeline.diaries import day, diary_schema
from tests.streams.flow import caught_up, serving
from tests.streams.harness import until_true
from tests.streams.timelines_flow import USER, extraction

pytestmark = pytest.mark.integration

STAGES = ("events", "entities", "recalls", "index")
TENANT = "diarists"
DEADLINE_S = 120.0


async def test_timelines_age_and_a_rebuild_finds_them_aged(flow: Settings) -> None:
    # The diary keeps no details: its events expire.
    await add_tenant(flow, TENANT, schema=diary_schema())
    flow = flow.model_copy(update={"timelines": TimelineSettings(grace_s=0.5, out_of_orderness_s=0)})
    old, new = extraction(0, 0, ["Moved to Lyon.", "Met Paul."], tenant=TENANT), extraction(1, 100, ["Sold the boat."], tenant=TENANT)
    store = build_store(flow)
    try:
        async with Producer(kafka=flow.kafka) as producer, serving(flow, STAGES):
            await _extracted(producer, flow, old)
            await _stored(store, {"Moved to Lyon.", "Met Paul."})
            await _recalled(producer, flow, old, index=1)
            await caught_up(flow, STAGES)
            await _extracted(producer, flow, new)
            await _stored(store, {"Met Paul.", "Sold the boat."})
            await caught_up(flow, STAGES)
        before = [line async for line in snapshot(store, TENANT)]
        (summary,) = [each for each in await _memories(store) if each.kind == "summary"]
        assert set(summary.message_ids) == {"m0-0", "m0-1"}
        async with open_redis(flow.redis) as redis:
            await rebuild(flow, store=store, redis=redis)
        async with serving(flow, STAGES):
            await _stored(store, {"Met Paul.", "Sold the boat."})
            await caught_up(flow, STAGES)
        assert [line async for line in snapshot(store, TENANT)] == before
    finally:
        await store.close()


async def _extracted(producer: Producer, settings: Settings, what: Extraction) -> None:
    await producer.send_many([OutgoingRecord(settings.topic("extractions"), encode_key(TENANT, USER), what.to_json())])


async def _recalled(producer: Producer, settings: Settings, what: Extraction, *, index: int) -> None:
    event = what.events[index]
    record = RecallRecord(
        id="r1",
        tenant=TENANT,
        user=USER,
        memory_ids=[event.id],
        events=[RecalledEvent(id=event.id, user=USER, window_id=what.window_id)],
        time=day(90),
    )
    await producer.send_many([OutgoingRecord(settings.topic("recalls"), encode_key(TENANT, USER), record.to_json())])


async def _memories(store: MemoryStore) -> list[Memory]:
    return list(await store.scroll(TenantScope(TENANT), after=None, limit=100))


async def _stored(store: MemoryStore, events: set[str]) -> None:
    """Returns when the store holds these events, and no other."""
    found: set[str] = set()

    async def are_stored() -> bool:
        nonlocal found
        found = {each.content for each in await _memories(store) if each.kind == "event"}
        return found == events

    try:
        await until_true(are_stored, deadline_s=DEADLINE_S)
    except TimeoutError as error:
        raise AssertionError(f"not within {DEADLINE_S:g} s; the store's events are {sorted(found)}") from error
