"""Summaries that a model writes: asked through the log, kept for a rebuild, and never of other events than they name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from loadtest.answers import extraction_answer
from loadtest.llm_simulator import LLMSimulator
from memory.records import Memory
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.operators.timeline.diaries import diary_schema
from tests.streams.simulated_model import simulated_model
from tests.streams.timelines_flow import TENANT, Timelines


@asynccontextmanager
async def running(settings: Settings, answer: str | None = None) -> AsyncIterator[tuple[Timelines, LLMSimulator]]:
    """The stages before a simulated endpoint, which says what it is given, or what it is asked for."""
    simulator = LLMSimulator(answer=extraction_answer if answer is None else lambda _: answer)
    async with simulated_model(simulator, settings) as (asking, llm):
        yield Timelines(asking, known_tenants({TENANT: diary_schema()}), llm), simulator


def summary(flow: Timelines) -> Memory:
    """The only summary."""
    (found,) = flow.kinds("summary").values()
    return found


async def test_a_model_writes_the_summary_once(settings: Settings) -> None:
    async with running(settings) as (flow, simulator):
        what = await flow.extract(0, 0, ["Moved to Lyon by train.", "Met Paul again."])
        await flow.pass_time(9)
        found = summary(flow)
        assert found.content == "story of ann, week 2026-W02 (2026-01-05 to 2026-01-11): Moved to; Met Paul"
        assert found.properties["written_by"] == "simulated"
        assert found.properties["events"] == sorted(each.id for each in what.events)
        assert found.written is None, "nothing waits"
        await flow.pass_time(20, step=5)
        assert len(simulator.requests) == 1


async def test_a_late_event_is_added_to_the_summary(settings: Settings) -> None:
    async with running(settings) as (flow, simulator):
        await flow.extract(0, 0, ["Moved to Lyon by train.", "Met Paul again."])
        await flow.pass_time(9)
        before = summary(flow)
        await flow.extract(1, 1, ["Saw Rita there."])
        assert summary(flow).content.endswith(": Moved to; Met Paul; Saw Rita")
        assert summary(flow).version > before.version
        assert len(simulator.requests) == 2


async def test_an_unusable_answer_leaves_the_extract(settings: Settings) -> None:
    async with running(settings, answer="I would rather not.") as (flow, simulator):
        await flow.extract(0, 0, ["Moved to Lyon by train.", "Met Paul again."])
        await flow.pass_time(9)
        found = summary(flow)
        assert "Moved to Lyon by train" in found.content
        assert (found.properties["written_by"], found.written) == ("extract", None)
        await flow.pass_time(14)
        assert len(simulator.requests) == settings.merging.attempts


async def test_merged_weeks_leave_no_outcomes(settings: Settings) -> None:
    async with running(settings) as (flow, _):
        for number in range(8):
            await flow.extract(number, number * 7, [f"Event {number} of the {place}." for place in ("town", "sea")])
        await flow.pass_time(200)
        periods = {str(each.properties["period"]) for each in flow.kinds("summary").values()}
        assert "2026-01" in periods
        assert {key.decode().rpartition("/")[2] for key in flow.merged} == periods


@pytest.mark.parametrize("days", [9, 30, 90, 400])
async def test_a_rebuild_asks_nothing_and_gives_the_same(settings: Settings, days: float) -> None:
    async with running(settings) as (flow, simulator):
        for number in range(6):
            await flow.extract(number, number * 5, [f"Event {number} of the {place}." for place in ("town", "sea", "hill")])
            await flow.tick()
        await flow.extract(20, 3, ["A late one."])
        await flow.extract(2, 10, ["Event 2, told anew."])
        await flow.pass_time(days)
        asked = len(simulator.requests)
        rebuilt = await flow.rebuilt()
        await rebuilt.pass_time(1)
        await flow.pass_time(1)
        assert rebuilt.memories == flow.memories
        assert rebuilt.merged.keys() == flow.merged.keys()
        assert len(simulator.requests) == asked
