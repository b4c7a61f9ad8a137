"""A re-extraction waits for the next day of a tenant's budget, shows that it waits, continues without a command, and loses no window."""

import asyncio
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from control.tenant_changes import set_tenant
from loadtest.llm_simulator import LLMSimulator
from memory.ids import event_id, segment_id
from memory.records import Extraction
from models.llm.daily_budget import read_totals
from runtime.clocks import ManualClock
from runtime.kafka import KafkaOffsets
from runtime.metrics import metrics
from runtime.redis.client import open_redis
from runtime.redis.keys import KeyFamily
from runtime.settings import ControlSettings, DeliverySettings, LLMSettings, Settings
from streams.operations.reextraction import worker
from streams.operations.reextraction.progress import Progress
from streams.operations.reextraction.worker import work
from tests.control_log import write
from tests.streams.flow import DEADLINE_S, NewFlow
from tests.streams.message_ledger import records_of
from tests.streams.operations.reextraction.history import NEW, NOTES, TENANT, begin, extracted, progress_of, send_windows
from tests.waiting import until_async

pytestmark = pytest.mark.integration

WINDOWS, OTHERS = 40, 5
SHARE = 12_000
OTHER = "globex"
UNLIMITED = "v3"


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    """Two tenants with a history. A stage that parks windows would park them at once."""
    delivery = DeliverySettings(batch_interval_s=0.0, park_after_s=0.0)
    settings = await new_flow({TENANT: NOTES, OTHER: NOTES}, control=ControlSettings(lease_s=3.0), delivery=delivery)
    await send_windows(settings, range(WINDOWS))
    await send_windows(settings, range(WINDOWS, WINDOWS + OTHERS), tenant=OTHER, user="bob")
    return settings


async def test_it_waits_for_the_next_day_and_loses_nothing(flow: Settings) -> None:
    async with LLMSimulator() as simulator, asyncio.timeout(DEADLINE_S):
        # Without cached answers, both generations ask the model for each window.
        llm = LLMSettings(base_url=simulator.base_url, model="simulated", max_completion_tokens=512, cache_ttl_s=0.0)
        settings = flow.model_copy(update={"llm": llm})
        clock = ManualClock(datetime.now(UTC))
        await begin(settings, TENANT, OTHER, generation=UNLIMITED)
        assert await run_to_the_end(settings, UNLIMITED, clock) == 0

        await write(settings, lambda draft: set_tenant(draft, TENANT, budget={"hard_tokens": 2 * SHARE, "policy": "offline"}))
        clock.advance(timedelta(days=1))
        before = len(simulator.requests)
        await begin(settings, TENANT, OTHER)
        days = await run_to_the_end(settings, NEW, clock)

        assert days >= 2
        assert len(simulator.requests) - before == WINDOWS + OTHERS, "no call was made twice"
        assert (await extracted(settings)).total() == WINDOWS + OTHERS
        assert await digest_of(settings, NEW) == await digest_of(settings, UNLIMITED)


async def test_its_wait_is_shown_during_live_traffic(flow: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    busy: str | None = None

    async def busy_stage(settings: Settings, offsets: KafkaOffsets) -> str | None:
        return busy

    monkeypatch.setattr(worker, "busy_stage", busy_stage)
    monkeypatch.setattr(worker, "RENEWAL_S", 0.2)
    async with LLMSimulator() as simulator, asyncio.timeout(DEADLINE_S):
        # One call at a time: the end of another call would free a part of the budget, and end the wait.
        llm = LLMSettings(base_url=simulator.base_url, model="simulated", concurrency=2, max_completion_tokens=512, cache_ttl_s=0.0)
        settings = flow.model_copy(update={"llm": llm})
        await write(settings, lambda draft: set_tenant(draft, TENANT, budget={"hard_tokens": 2 * SHARE}))
        await begin(settings)
        stop = asyncio.Event()
        working = asyncio.create_task(work(settings, NEW, stop=stop))
        try:
            await until_async(lambda: progress_of(settings), lambda found: bool(found.waits))
            busy = "events (2,500 records)"
            await until_async(lambda: sample("varve_reextraction_yielding"), lambda value: value == 1)
            async with open_redis(settings.redis) as redis:
                note = redis.key(KeyFamily.LLM_REEXTRACTION_WAITS, NEW, TENANT)
                for _ in range(3):
                    await redis.unlink("expiring a note", [note])
                    await until_async(lambda: progress_of(settings), lambda found: bool(found.waits))
        finally:
            stop.set()
            await working


async def sample(name: str) -> float | None:
    return metrics().registry.get_sample_value(name, {"generation": NEW})


async def run_to_the_end(settings: Settings, generation: str, clock: ManualClock) -> int:
    """Works until it has caught up. Returns how often a new day had to begin for that."""
    stop, days = asyncio.Event(), 0
    working = asyncio.create_task(work(settings, generation, stop=stop, clock=clock))
    try:
        while not (found := await moved(settings, generation, clock)).is_caught_up:
            await assert_waits(settings, generation, clock, found)
            clock.advance(timedelta(days=1))
            days += 1
    finally:
        stop.set()
        state = await working
    assert state == "running", "a wait is no pause"
    return days


async def moved(settings: Settings, generation: str, clock: ManualClock) -> Progress:
    """The progress once it waits and the other tenant's windows are done, or it has caught up."""

    async def read() -> tuple[Progress, int]:
        found = await progress_of(settings, generation, now=clock.now())
        windows = await extracted(settings, generation)
        return found, sum(count for window, count in windows.items() if window.startswith(OTHER))

    found, _ = await until_async(read, lambda each: each[0].is_caught_up or (bool(each[0].waits) and each[1] == OTHERS))
    return found


async def assert_waits(settings: Settings, generation: str, clock: ManualClock, found: Progress) -> None:
    now = clock.now()
    wait = found.waits[TENANT]
    assert wait.until == (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    assert f"of the {SHARE:,} tokens that re-extractions may use today" in wait.reason
    assert found.as_json()["waits_for_budget"] == [wait.as_json(TENANT)]
    assert "varve tenants set" in found.advice
    assert (found.run.state, found.parked, found.workers) == ("running", 0, 1)
    assert metrics().registry.get_sample_value("varve_reextraction_waiting_tenants", {"generation": generation}) == 1
    async with open_redis(settings.redis) as redis:
        (used,) = await read_totals(redis, [TENANT], now)
    assert 0 < used.tokens <= SHARE


async def digest_of(settings: Settings, generation: str) -> str:
    """The digest of all that a generation has extracted, with the ids of the first generation, and without the calls' times."""
    found: list[str] = []
    for record in await records_of(settings, "extractions"):
        if record.value is not None and b'"window_id"' in record.value:
            read = Extraction.from_json(record.value)
            if read.generation == generation:
                value = read.model_copy(update={"generation": "", "usage": []}).to_json().decode()
                # Ids follow from the window, the index and the generation.
                for index, segment in enumerate(read.segments):
                    value = value.replace(segment.id, segment_id(read.window_id, index))
                for index, event in enumerate(read.events):
                    value = value.replace(event.id, event_id(read.window_id, index))
                found.append(value)
    return sha256("\n".join(sorted(found)).encode()).hexdigest()
