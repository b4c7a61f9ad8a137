"""How long the delivery layer waits: before a retry, between two batches; and when a worker has slept too long."""

import asyncio
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.backoff import Backoff
from streams.delivery.membership import Membership
from streams.delivery.pacer import Pacer


@given(tries=st.integers(1, 1000), seed=st.integers(), retry_after=st.none() | st.floats(0, 500))
def test_a_wait_doubles_up_to_its_limit_with_jitter_and_never_undercuts_the_dependency(
    tries: int, seed: int, retry_after: float | None
) -> None:
    ceiling = min(30.0, 0.2 * 2 ** min(tries - 1, 20))
    wait = Backoff(first_s=0.2, longest_s=30.0).wait(tries, retry_after=retry_after, uniform=random.Random(seed).uniform)
    assert max(ceiling / 2, retry_after or 0.0) <= wait <= max(ceiling, retry_after or 0.0)


def test_the_beats_come_more_seldom_the_more_they_cost_and_recover() -> None:
    pacer = Pacer(shortest_s=0.02, longest_s=0.25)
    assert pacer.interval_s == 0.02
    for _ in range(60):
        pacer.took(0.04)
    assert pacer.interval_s == pytest.approx(0.16, rel=0.01)
    for _ in range(60):
        pacer.took(5.0)
    assert pacer.interval_s == 0.25
    for _ in range(60):
        pacer.took(0.0)
    assert pacer.interval_s == 0.02


async def test_lanes_meet_at_the_same_beat() -> None:
    pacer = Pacer(shortest_s=0.05, longest_s=0.05)
    since = time.monotonic()
    woken = []

    async def processor() -> None:
        await pacer.next_beat(since, behind=False)
        woken.append(time.monotonic())

    await asyncio.gather(processor(), processor(), processor())
    assert len({int(moment / 0.05) for moment in woken}) == 1


async def test_a_lane_that_is_behind_waits_for_a_fuller_batch() -> None:
    pacer = Pacer(shortest_s=0.0, longest_s=0.05)
    since = time.monotonic()
    await pacer.next_beat(since, behind=False)
    await pacer.next_beat(since, behind=True)
    assert int(time.monotonic() / 0.05) > int(since / 0.05)


async def test_who_comes_alone_does_not_wait() -> None:
    async with asyncio.timeout(30):
        await Pacer(shortest_s=3600, longest_s=3600).next_beat(time.monotonic() - 3601, behind=True)


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_worker_may_write_under_the_groups_generation_only() -> None:
    generation = 4
    membership = Membership(generation=lambda: generation, session_timeout_s=6, clock=Seconds())
    assert membership.may_write(4)
    assert not membership.may_write(3)
    assert not membership.may_write(5)


def test_a_worker_that_slept_through_its_session_never_writes_again() -> None:
    clock = Seconds()
    membership = Membership(generation=lambda: 1, session_timeout_s=6, clock=clock)
    clock.now = 6.0
    assert membership.may_write(1)
    clock.now = 6.1
    assert not membership.may_write(1), "found at the first write, before any pulse or rebalance can tell"
    assert membership.is_zombie
    clock.now = 6.2
    assert not membership.may_write(1)


async def test_the_pulse_of_a_worker_that_wakes_up_late_is_not_taken_up_again() -> None:
    clock = Seconds()
    membership = Membership(generation=lambda: 1, session_timeout_s=6, clock=clock)
    beating = asyncio.create_task(membership.beat())
    await asyncio.sleep(0)
    assert membership.may_write(1)
    clock.now = 100.0
    async with asyncio.timeout(30):
        await beating
    assert membership.is_zombie
