"""The rule of the limits, on a clock that the tests set; and that Redis and a process alone keep the same rule."""

import uuid
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from models.llm.limits import WINDOW_S, Lease, Limits, LocalLimits, SharedLimits
from runtime.redis.client import GuardedRedis


class Clocked:
    """Limits of one process, and shorthands for leases."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.local = LocalLimits(limits)

    def wait(self, tokens: int, now: float) -> float:
        """The wait for a lease; 0 where it was granted."""
        return self.local.acquire(self.limits.lease(tokens), now)

    def granted(self, tokens: int, now: float) -> Lease:
        lease = self.limits.lease(tokens)
        assert self.local.acquire(lease, now) == 0
        return lease


@pytest.mark.parametrize("limits", [{"concurrency": 0}, {"concurrency": 1, "requests_per_minute": 0}])
def test_a_limit_below_one_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Limits(**limits)


def test_leases_are_granted_up_to_the_concurrency() -> None:
    clocked = Clocked(Limits(concurrency=2))
    first = clocked.granted(10, 0.0)
    clocked.granted(10, 0.0)
    assert clocked.wait(10, 0.0) > 0
    clocked.local.release(first)
    clocked.granted(10, 0.0)


def test_the_wait_ends_when_a_request_fits() -> None:
    clocked = Clocked(Limits(concurrency=100, requests_per_minute=2))
    clocked.granted(0, 10.5)
    clocked.granted(0, 30.0)
    wait = clocked.wait(0, 40.0)
    assert wait == 10 + WINDOW_S + 1 - 40.0
    assert clocked.wait(0, 40.0 + wait - 0.01) > 0
    clocked.granted(0, 40.0 + wait)


def test_settling_returns_unused_tokens() -> None:
    clocked = Clocked(Limits(concurrency=100, tokens_per_minute=1000))
    lease = clocked.granted(900, 5.0)
    assert clocked.wait(500, 6.0) > 0
    lease.used = 100
    clocked.local.release(lease)
    clocked.granted(500, 6.0)


def test_a_call_above_the_limit_runs_exclusively() -> None:
    clocked = Clocked(Limits(concurrency=100, tokens_per_minute=1000))
    clocked.granted(5000, 5.0)
    assert clocked.wait(1, 6.0) > 0
    clocked.granted(1, 5.0 + WINDOW_S + 1)


def test_a_shorter_pause_ends_no_longer_one() -> None:
    clocked = Clocked(Limits(concurrency=1))
    clocked.local.pause(until=30.0)
    clocked.local.pause(until=10.0)
    assert clocked.wait(1, 12.0) == 18.0


@settings(max_examples=200)
@given(
    requests=st.integers(1, 6),
    tokens=st.integers(1, 100),
    calls=st.lists(st.tuples(st.floats(0, 40), st.integers(0, 120)), max_size=40),
)
def test_no_minute_exceeds_the_limits(requests: int, tokens: int, calls: list[tuple[float, int]]) -> None:
    clocked = Clocked(Limits(concurrency=1000, requests_per_minute=requests, tokens_per_minute=tokens))
    now, granted = 1000.0, list[tuple[float, int]]()
    for pause, reserved in calls:
        now += pause
        if wait := clocked.wait(reserved, now):
            now += wait
            assert clocked.wait(reserved, now) == 0, "no lease after the promised wait"
        granted.append((now, min(reserved, tokens)))
        minute = [each for at, each in granted if now - at < WINDOW_S]
        assert len(minute) <= requests
        assert sum(minute) <= tokens


@dataclass(frozen=True)
class Acquire:
    tokens: int


@dataclass(frozen=True)
class Release:
    """The release of one of the held leases; ``used`` settles it."""

    index: int
    used: int | None


@dataclass(frozen=True)
class Pause:
    milliseconds: int


TOKENS = st.integers(0, 60)
STEPS = st.tuples(
    st.sampled_from([0, 1, 999, 1000, 1001, 20_000, 59_999, 60_000, 61_000]) | st.integers(0, 70_000),
    st.builds(Acquire, TOKENS)
    | st.builds(Release, st.integers(0, 5), st.none() | TOKENS)
    | st.builds(Pause, st.integers(1, 3000) | st.sampled_from([60_000])),
)
LIMITS = st.builds(
    Limits,
    concurrency=st.integers(1, 4),
    requests_per_minute=st.none() | st.integers(1, 5),
    tokens_per_minute=st.none() | st.integers(1, 50),
)


@pytest.mark.integration
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(limits=LIMITS, started_ms=st.integers(10**12, 2 * 10**12), steps=st.lists(STEPS, max_size=40))
async def test_redis_and_one_process_keep_one_rule(
    redis: Redis, limits: Limits, started_ms: int, steps: list[tuple[int, Acquire | Release | Pause]]
) -> None:
    guarded = GuardedRedis(client=redis, prefix=f"test-{uuid.uuid4().hex}:")
    # Leases that expire are Redis's alone: a process that is killed takes its own limits with it.
    in_redis = SharedLimits(endpoint="e", limits=limits, redis=guarded, lease_s=10**6)
    alone = LocalLimits(limits)
    held: list[tuple[Lease, Lease]] = []
    now_ms = started_ms
    for passed_ms, step in steps:
        now_ms += passed_ms
        match step:
            case Acquire(tokens):
                ours, theirs = limits.lease(tokens), limits.lease(tokens)
                wait = alone.acquire(ours, now_ms / 1000)
                assert await in_redis.acquire(theirs, now_ms=now_ms) == pytest.approx(wait, abs=1e-3)
                assert ours.second == theirs.second
                if wait == 0:
                    held.append((ours, theirs))
            case Release(index, used) if held:
                ours, theirs = held.pop(index % len(held))
                ours.used = theirs.used = used
                alone.release(ours)
                await in_redis.release(theirs)
            case Pause(milliseconds):
                alone.pause(until=(now_ms + milliseconds) / 1000)
                await in_redis.pause(milliseconds / 1000, now_ms=now_ms)
            case _:
                pass
