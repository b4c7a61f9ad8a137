"""A machine's clock that is wrong, or is set right: memories age no more than they may, and wait for nothing."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory.headers import KIND, TICK
from memory.records import Contribution
from tests.control_log import known_tenants
from tests.operators.timeline.diaries import diary_schema
from tests.streams.harness import plain_settings
from tests.streams.timelines_flow import TENANT, Timelines

YEARS = timedelta(days=3650)
HOURS = timedelta(hours=5)


@pytest.fixture
def flow(tmp_path: Path) -> Timelines:
    return Timelines(plain_settings(tmp_path), known_tenants({TENANT: diary_schema()}))


def ticks(flow: Timelines) -> list[datetime]:
    """The time that the ticks have reached."""
    return [Contribution.from_json(each.value or b"").time for each in flow.extractions if (KIND, TICK) in each.headers]


async def summarised_on(flow: Timelines) -> int:
    """The number of days until the first summary."""
    for day in range(1, 60):
        await flow.pass_time(1)
        if flow.kinds("summary"):
            return day
    raise AssertionError("never")


@pytest.fixture
async def usual(tmp_path: Path) -> int:
    """The number of days until the first summary with correct clocks."""
    flow = Timelines(plain_settings(tmp_path), known_tenants({TENANT: diary_schema()}))
    await flow.extract(0, 0, ["Moved to Lyon."])
    return await summarised_on(flow)


@pytest.mark.parametrize("step", [YEARS, -YEARS, HOURS, -HOURS])
async def test_a_step_under_a_worker_changes_nothing(flow: Timelines, usual: int, step: timedelta) -> None:
    flow.machine.by = step
    await flow.extract(0, 0, ["Moved to Lyon."])
    flow.machine.by = timedelta()
    assert await summarised_on(flow) == usual
    flow.machine.by = step
    assert await flow.tick() == 0


@pytest.mark.parametrize("step", [-YEARS, -HOURS])
async def test_a_start_after_a_clock_step_is_not_delayed(flow: Timelines, usual: int, step: timedelta) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    flow.machine.by = step
    flow.restart_entities()
    await flow.entities.recover()
    assert await summarised_on(flow) == usual


async def test_a_clock_far_ahead_ages_by_a_month(flow: Timelines) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    flow.machine.by = YEARS
    flow.restart_entities()
    await flow.entities.recover()
    await flow.pass_time(0.01, step=0.002)
    assert max(ticks(flow)) < flow.now(32)


async def test_a_clock_corrected_after_the_start_ages_nothing(flow: Timelines, usual: int) -> None:
    flow.machine.by = -YEARS
    flow.restart_entities()
    await flow.entities.recover()
    flow.machine.by = timedelta()
    await flow.extract(0, 0, ["Moved to Lyon."])
    # The rows have the machine's time, and not the time of the worker, which started years ago.
    flow.restart_entities()
    await flow.entities.recover()
    assert await summarised_on(flow) == usual


async def test_a_row_of_a_clock_set_back_ages_nothing(flow: Timelines, usual: int) -> None:
    flow.machine.by = -YEARS
    await flow.extract(0, 0, ["Moved to Lyon."])
    flow.machine.by = timedelta()
    flow.restart_entities()
    await flow.entities.recover()
    assert await summarised_on(flow) == usual


async def test_a_worker_of_a_clock_set_back_ages_nothing(flow: Timelines, usual: int) -> None:
    await flow.extract(0, 0, ["Moved to Lyon."])
    flow.machine.by = YEARS
    flow.restart_entities()
    await flow.entities.recover()
    flow.machine.by = timedelta()
    flow.initialize()
    await flow.entities.recover()
    assert await summarised_on(flow) == usual
