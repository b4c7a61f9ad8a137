"""A re-extraction stays within its budget, survives kills of its worker, and pauses and resumes without a doubled call."""

import asyncio
from collections import Counter

import pytest

from control import ControlWriter, Draft, read_control
from control.generations.reextraction_changes import pause_reextraction
from control.reextraction import RunBudget
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Profile
from models.llm.total_budget import forget_total
from runtime.redis.client import open_redis
from runtime.settings import ControlSettings, LLMSettings, Settings
from streams.operations.reextraction.progress import spent_by_log
from streams.operations.reextraction.start import resume
from streams.operations.reextraction.worker import work
from tests.control_log import write
from tests.streams.flow import DEADLINE_S, NewFlow
from tests.streams.operations.reextraction.history import (
    BY,
    NEW,
    NOTES,
    TENANT,
    begin,
    extracted,
    progress_of,
    send_windows,
    worker_process,
)
from tests.waiting import until_async

pytestmark = pytest.mark.integration

WINDOWS = 60
ALL = Counter(f"{TENANT} {number}" for number in range(WINDOWS))


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    """A tenant with a history, without a vector store; another tenant's windows are in the log, too."""
    settings = await new_flow({TENANT: NOTES, "globex": NOTES}, control=ControlSettings(lease_s=3.0))
    await send_windows(settings, range(WINDOWS))
    await send_windows(settings, range(WINDOWS, WINDOWS + 10), tenant="globex", user="bob")
    return settings


def with_llm(settings: Settings, simulator: LLMSimulator) -> Settings:
    llm = LLMSettings(base_url=simulator.base_url, model="simulated", concurrency=8, max_completion_tokens=512)
    return settings.model_copy(update={"llm": llm})


async def test_a_budget_pauses_it_and_a_larger_one_continues(flow: Settings) -> None:
    async with LLMSimulator() as simulator, asyncio.timeout(DEADLINE_S):
        settings = with_llm(flow, simulator)
        run = await begin(settings, budget=RunBudget(tokens=20_000))
        assert (run.estimate.windows, run.estimate.calls, run.estimate.messages) == (WINDOWS, WINDOWS, WINDOWS)
        assert run.estimate.cost is None

        assert await work(settings, NEW) == "paused"
        paused = await progress_of(settings)
        assert "the budget is used up" in paused.run.reason
        assert "of 20,000 tokens are used" in paused.run.reason
        assert 0 < paused.spent.amount.tokens <= 20_000
        assert paused.tokens_left == 20_000 - paused.spent.amount.tokens
        assert not paused.is_caught_up
        assert 0 < paused.windows_left < WINDOWS + 10
        first = await extracted(settings)
        assert 0 < first.total() == len(simulator.requests) < WINDOWS
        assert simulator.peak_concurrency <= 4, "half of the limit is left to live calls"

        assert await work(settings, NEW) == "paused", "a worker that is started again does nothing"
        assert len(simulator.requests) == first.total()

        await resume(settings, NEW, writer=ControlWriter(settings=settings), by=BY, limits={"tokens": 10_000_000})
        stop = asyncio.Event()
        working = asyncio.create_task(work(settings, NEW, stop=stop))
        await _caught_up(settings)
        stop.set()
        assert await working == "running"
        # A window that was extracted after one that the budget refused is extracted again, from the answer that is kept.
        assert (await extracted(settings)).keys() == ALL.keys(), "every window, and none of the other tenant"
        assert len(simulator.requests) == WINDOWS, "no call was made twice"
        done = await progress_of(settings)
        by_log = await spent_by_log(settings, done.run)
        assert (done.spent.amount.tokens, done.spent.calls) == (by_log.amount.tokens, by_log.calls)
        assert by_log.calls == WINDOWS


async def test_killed_workers_make_no_call_twice_but_running_ones(flow: Settings) -> None:
    async with LLMSimulator(profile=Profile(first_token_s=0.05)) as simulator, asyncio.timeout(DEADLINE_S):
        settings = with_llm(flow, simulator)
        await begin(settings)
        kills = 2
        for number in range(1, kills + 1):
            async with worker_process(settings) as process:
                await _asked(simulator, number * WINDOWS // 4)
                process.kill()
                await process.wait()
        before = (await extracted(settings)).total()
        assert before < WINDOWS
        async with open_redis(settings.redis) as redis:
            await forget_total(redis, NEW)  # the count of a Redis that lost its data comes from the log
        async with worker_process(settings):
            await _caught_up(settings)
        found = await extracted(settings)
        assert set(found) == set(ALL)
        assert found.total() - WINDOWS <= kills * 16, "windows that were done after a running one are produced again, from cached answers"
        assert len(simulator.requests) - WINDOWS <= kills * 4, "only running calls are made again"
        done = await progress_of(settings)
        by_log = await spent_by_log(settings, done.run)
        assert (done.spent.amount.tokens, done.spent.calls) == (by_log.amount.tokens, by_log.calls)


async def test_a_pause_stops_a_running_worker(flow: Settings) -> None:
    async with LLMSimulator() as simulator, asyncio.timeout(DEADLINE_S):
        settings = with_llm(flow, simulator)
        await begin(settings, budget=RunBudget(calls_per_minute=10))
        working = asyncio.create_task(work(settings, NEW))
        await _asked(simulator, 10)
        await write(settings, lambda draft: pause_reextraction(draft, NEW, reason="paused by hand"))
        assert await working == "paused"
        assert (await extracted(settings)).total() == len(simulator.requests) == 10, "the rate allows no more in a minute"
        async with worker_process(settings) as process:
            assert await process.wait() == 0, "it ends at once: the re-extraction is paused"
        await resume(settings, NEW, writer=ControlWriter(settings=settings), by=BY, limits={"calls_per_minute": None})
        async with worker_process(settings) as process:
            await _caught_up(settings)
            process.terminate()
            assert await process.wait() == 0
        assert await extracted(settings) == ALL
        assert len(simulator.requests) == WINDOWS
        assert Draft(await read_control(settings)).reextractions()[0].state == "running"


async def _caught_up(settings: Settings) -> None:
    await until_async(lambda: progress_of(settings), lambda found: found.is_caught_up)


async def _asked(simulator: LLMSimulator, number: int) -> None:
    """Returns when the model was asked so often."""

    async def count() -> int:
        return len(simulator.requests)

    await until_async(count, lambda found: found >= number)
