"""A driver that is stopped while a rebalance changes its tasks: no task may keep a partition's local table open."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.streams.engine.keyed_harness import DriverHarness
from tests.streams.harness import until


@pytest.fixture
async def harness() -> AsyncIterator[DriverHarness]:
    """A driver with one restored partition whose writer stops when ``log.stop_gate`` is set."""
    harness = DriverHarness()
    await harness.assign(0)
    harness.log.stop_gate = asyncio.Event()
    yield harness
    release(harness)
    await harness.driver.stop()


def release(harness: DriverHarness) -> None:
    """Lets the writers stop."""
    assert harness.log.stop_gate is not None
    harness.log.stop_gate.set()


async def all_wait(*calls: asyncio.Task[None]) -> None:
    """Lets the calls run until none of them can continue."""
    for _ in range(20):
        await asyncio.sleep(0)
    assert not any(call.done() for call in calls)


async def test_stop_waits_for_a_running_revocation(harness: DriverHarness) -> None:
    revoking = asyncio.create_task(harness.driver.revoke())
    await until(lambda: not harness.driver.next_offsets)
    stopping = asyncio.create_task(harness.driver.stop())
    await all_wait(revoking, stopping)
    assert harness.log.open_writers == 1
    release(harness)
    await stopping
    assert harness.log.open_writers == 0


async def test_stop_waits_for_a_cancelled_revocation(harness: DriverHarness) -> None:
    revoking = asyncio.create_task(harness.driver.revoke())
    await until(lambda: not harness.driver.next_offsets)
    revoking.cancel()
    await asyncio.wait([revoking])
    stopping = asyncio.create_task(harness.driver.stop())
    await all_wait(stopping)
    release(harness)
    await stopping
    assert harness.log.open_writers == 0


async def test_a_stopped_driver_starts_no_task(harness: DriverHarness) -> None:
    assigning = asyncio.create_task(harness.driver.assign({0, 1}, harness.generation))
    await until(lambda: not harness.driver.next_offsets)
    stopping = asyncio.create_task(harness.driver.stop())
    await all_wait(assigning, stopping)
    release(harness)
    await asyncio.gather(assigning, stopping)
    await harness.driver.assign({0, 1}, harness.generation)
    assert not harness.driver.next_offsets
    assert sum(log.open_writers for log in harness.logs.values()) == 0


async def test_the_later_of_two_assignments_holds(harness: DriverHarness) -> None:
    first = asyncio.create_task(harness.driver.assign({0, 1}, harness.generation))
    await until(lambda: not harness.driver.next_offsets)
    second = asyncio.create_task(harness.driver.assign({1, 2}, harness.generation))
    await all_wait(first, second)
    release(harness)
    await asyncio.gather(first, second)
    await until(lambda: harness.driver.is_recovered)
    assert harness.driver.next_offsets.keys() == {1, 2}
    assert {partition for partition, log in harness.logs.items() if log.open_writers} == {1, 2}
