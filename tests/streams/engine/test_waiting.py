"""The waits of the delivery layer before a retry and between two batches, and the detection of a worker that has slept too long."""

import asyncio
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.resilience import Backoff
from streams.engine.failures.dependency_health import RetryPolicy
from streams.engine.tasks.batch_interval import BatchInterval, common_end
from streams.engine.tasks.write_lease import WriteLease
from tests.streams.harness import until

POLICY = RetryPolicy(backoff=Backoff(initial_interval_s=0.2, backoff_coefficient=3.0, maximum_interval_s=30.0), maximum_attempts=6)


@given(attempt=st.integers(1, 1000), seed=st.integers(), retry_after_s=st.none() | st.floats(0, 500))
def test_retry_interval_is_bounded_by_policy_and_retry_after(attempt: int, seed: int, retry_after_s: float | None) -> None:
    ceiling = min(30.0, 0.2 * 3 ** min(attempt - 1, 20))
    interval = POLICY.interval_s(attempt, retry_after_s=retry_after_s, uniform=random.Random(seed).uniform)
    assert (retry_after_s or 0.0) <= interval <= max(ceiling, retry_after_s or 0.0)


def test_batch_interval_grows_with_cost_and_recovers() -> None:
    interval = BatchInterval(minimum_s=0.02, maximum_s=0.25)
    assert interval.seconds == 0.02
    for _ in range(60):
        interval.record_cost(0.04)
    assert interval.seconds == pytest.approx(0.16, rel=0.01)
    for _ in range(60):
        interval.record_cost(5.0)
    assert interval.seconds == 0.25
    for _ in range(60):
        interval.record_cost(0.0)
    assert interval.seconds == 0.02


@given(interval_s=st.floats(0.01, 1), number=st.integers(1, 10_000_000), parts=st.lists(st.floats(0.01, 0.99), min_size=2, max_size=5))
def test_processors_end_their_interval_together(interval_s: float, number: int, parts: list[float]) -> None:
    (end,) = {common_end((number + part) * interval_s, interval_s) for part in parts}
    assert end == pytest.approx((number + 1) * interval_s)


async def test_late_processor_waits_the_maximum_interval() -> None:
    interval = BatchInterval(minimum_s=0.0, maximum_s=0.05)
    since = time.monotonic()
    await interval.wait(since, is_behind=False, is_full=asyncio.Event())
    await interval.wait(since, is_behind=True, is_full=asyncio.Event())
    assert int(time.monotonic() / 0.05) > int(since / 0.05)


async def test_first_record_after_silence_does_not_wait() -> None:
    async with asyncio.timeout(60):
        await BatchInterval(minimum_s=3600, maximum_s=3600).wait(time.monotonic() - 3601, is_behind=True, is_full=asyncio.Event())


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def member(clock: FakeClock, *, generation: int = 1) -> WriteLease:
    membership = WriteLease(generation=lambda: generation, session_timeout_s=6, clock=clock)
    membership.on_assigned()
    return membership


def test_worker_writes_only_under_the_groups_generation() -> None:
    membership = member(FakeClock(), generation=4)
    assert membership.may_write(4)
    assert not membership.may_write(3)
    assert not membership.may_write(5)


def test_zombie_never_writes_again() -> None:
    clock = FakeClock()
    membership = member(clock)
    clock.now = 6.0
    assert membership.may_write(1)
    clock.now = 6.1
    assert not membership.may_write(1), "found at the first write, before any heartbeat or rebalance"
    assert membership.is_stale
    membership.on_heartbeat(6.1)
    assert not membership.may_write(1)


def test_a_slow_start_costs_no_session() -> None:
    clock = FakeClock()
    membership = WriteLease(generation=lambda: 1, session_timeout_s=6, clock=clock)
    clock.now = 20.0
    assert not membership.has_slept()
    membership.on_assigned()
    assert membership.may_write(1)
    clock.now = 40.0
    membership.on_assigned()
    assert not membership.may_write(1), "a later assignment forgives no gap"


async def test_heartbeat_finds_that_the_worker_has_woken_too_late() -> None:
    clock = FakeClock()
    membership = member(clock)
    heartbeat = asyncio.create_task(membership.run_heartbeat())
    await asyncio.sleep(0)
    assert membership.may_write(1)
    clock.now = 100.0
    await until(lambda: membership.is_stale)
    assert not membership.may_write(1)
    heartbeat.cancel()


async def test_unanswered_heartbeats_suspend_writing() -> None:
    clock = FakeClock()
    membership = member(clock)
    clock.now = 5.0
    membership.on_heartbeat(4.0)
    heartbeat = asyncio.create_task(membership.run_heartbeat())
    await asyncio.sleep(0)
    clock.now = 10.0
    assert membership.may_write(1)
    clock.now = 10.5
    assert not membership.may_write(1), "the last answer says nothing about the time after 4.0"
    membership.on_heartbeat(10.4)
    assert membership.may_write(1)
    assert not membership.is_stale
    heartbeat.cancel()


def test_revoked_worker_writes_nothing_until_assigned_again() -> None:
    membership = member(FakeClock())
    membership.on_revoked()
    membership.on_heartbeat(0.0)
    assert not membership.may_write(1)
    membership.on_assigned()
    assert membership.may_write(1)
