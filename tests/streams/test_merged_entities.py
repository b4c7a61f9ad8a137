"""Texts that a model merges, in the real flow: workers come and go amid merges, and a rebuild gives the same bytes without a call."""

from collections.abc import AsyncIterator

import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.records import Memory, Usage
from runtime.kafka import OutgoingRecord, Producer, read_topic
from runtime.redis.client import open_redis
from runtime.settings import LLMSettings, Settings
from stores.build import build_store
from streams.operations.rebuild import rebuild
from tests.control_log import add_tenant
from tests.streams.flow import caught_up, serving
from tests.streams.merged_remarks import SCHEMA, TENANT, extraction, extraction_record
from tests.streams.merging_flow import STAGES, memory_lines

pytestmark = pytest.mark.integration

USERS = ("ann", "ben")
WINDOWS = 12


@pytest.fixture
async def simulator() -> AsyncIterator[LLMSimulator]:
    async with LLMSimulator() as simulator:
        yield simulator


@pytest.fixture
async def merging(flow: Settings, simulator: LLMSimulator) -> Settings:
    """A flow with a simulated endpoint, and a tenant whose schema merges."""
    await add_tenant(flow, TENANT, schema=SCHEMA)
    return flow.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})


def extractions(settings: Settings) -> list[OutgoingRecord]:
    """Each user's windows, every third of them extracted again without its second remark."""
    topic, given = settings.topic("extractions"), []
    for window in range(WINDOWS):
        for user in USERS:
            remarks = {0: f"{user} says {window}a", 1: f"{user} says {window}b"}
            given.append(extraction(user, window, remarks))
            if window % 3 == 0:
                given.append(extraction(user, window, {0: remarks[0]}))
    return [extraction_record(topic, each) for each in given]


def expected_story(user: str) -> list[str]:
    return sorted(f"{user} says {window}{part}" for window in range(WINDOWS) for part in ("a" if window % 3 == 0 else "ab"))


async def test_a_rebuild_repeats_no_merge(merging: Settings, simulator: LLMSimulator) -> None:
    records = extractions(merging)
    async with Producer(kafka=merging.kafka) as producer:
        await producer.send_many(records[: len(records) // 2])
        async with serving(merging, STAGES):
            await producer.send_many(records[len(records) // 2 :])
        async with serving(merging, STAGES):
            await caught_up(merging, STAGES)
    before = await memory_lines(merging)
    profiles = {str(each.entity_key): each for line in before if (each := Memory.from_json(line)).kind == "entity"}
    assert {key: sorted(str(each.properties["story"]).splitlines()) for key, each in profiles.items()} == {
        user: expected_story(user) for user in USERS
    }
    marks = [(each.written or {})["story"] for each in profiles.values()]
    assert [(mark.by, mark.pending, mark.stale) for mark in marks] == [("simulated", 0, False)] * len(USERS)
    usages = [Usage.from_json(each.value or b"") async for each in read_topic(merging.topic("usage"), merging.kafka)]
    assert {(each.tenant, each.stage) for each in usages} == {(TENANT, "merging")}
    calls = len(simulator.requests)
    assert 0 < calls == len(usages) < len(records), "what queued up was merged together"

    for _ in range(2):
        store = build_store(merging)
        async with open_redis(merging.redis) as redis:
            await rebuild(merging, store=store, redis=redis)
        await store.close()
        async with serving(merging, STAGES):
            await caught_up(merging, STAGES)
        assert await memory_lines(merging) == before
    assert len(simulator.requests) == calls, "nothing was asked again"
