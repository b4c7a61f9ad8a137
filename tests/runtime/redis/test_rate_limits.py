"""Rates and slots admit the same calls in Redis and in one process."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from runtime.redis.rate_limits import LEASE_S, Demand, LocalRateLimits, Rate, RateLimiter, SharedRateLimits, Verdict
from runtime.settings import QuotaSettings

TEN_A_SECOND = Rate(name="messages", per_second=10, burst_s=2)
RATES = st.builds(
    Rate,
    name=st.just("messages"),
    per_second=st.sampled_from([0.3, 1, 7, 1000, 1 / 3]),
    burst_s=st.sampled_from([0.5, 1, 10, 1 / 3]),
)
REQUESTS = st.lists(st.tuples(st.floats(0, 5000), st.floats(0.1, 50)), max_size=60)


def ask(limits: LocalRateLimits, amount: float, now_ms: float, *, rate: Rate = TEN_A_SECOND, slots: int | None = None) -> Verdict:
    return limits.admit("acme", [Demand(rate=rate, amount=amount)], now_ms, slots=slots)


def test_a_burst_passes_at_once_then_the_rate() -> None:
    limits = LocalRateLimits()
    assert [ask(limits, 1, 0).is_admitted for _ in range(21)] == [True] * 20 + [False]
    refused = ask(limits, 1, 0)
    assert refused.wait_s == pytest.approx(0.1)
    assert refused.rates[0].remaining == 0
    assert not ask(limits, 1, 99).is_admitted
    assert ask(limits, 1, 100).is_admitted
    assert ask(limits, 1, 2200).rates[0].remaining == 19


def test_a_request_above_the_burst_counts_completely() -> None:
    limits = LocalRateLimits()
    assert ask(limits, 100, 0).is_admitted
    assert ask(limits, 1, 0).wait_s == pytest.approx(10 - 2 + 0.1)
    assert not ask(limits, 100, 9_999).is_admitted
    assert ask(limits, 100, 10_000).is_admitted


def test_a_refused_request_uses_no_quota() -> None:
    limits = LocalRateLimits()
    few, many = Rate(name="bytes", per_second=1, burst_s=1), Rate(name="messages", per_second=100, burst_s=1)
    both = [Demand(rate=many, amount=1), Demand(rate=few, amount=1)]
    assert limits.admit("acme", both, 0).is_admitted
    refused = limits.admit("acme", both, 0)
    assert [state.wait_ms for state in refused.rates] == [0, 1000]
    assert refused.rates[0].remaining == 99
    assert ask(limits, 1, 0, rate=many).rates[0].remaining == 98


def test_subjects_share_nothing() -> None:
    limits = LocalRateLimits()
    demand = [Demand(rate=TEN_A_SECOND, amount=20)]
    assert limits.admit("acme", demand, 0).is_admitted
    assert limits.admit("globex", demand, 0).is_admitted
    assert not limits.admit("acme", demand, 0).is_admitted


def test_slots_are_acquired_and_released() -> None:
    limits = LocalRateLimits()
    first, second = ask(limits, 1, 0, slots=2), ask(limits, 1, 0, slots=2)
    assert (first.free_slots, second.free_slots) == (1, 0)
    refused = ask(limits, 1, 0, slots=2)
    assert (refused.lease, refused.wait_s) == (None, 1)
    assert ask(limits, 1, 0).rates[0].remaining == 17, "a request without a slot takes nothing of the rate"
    assert first.lease is not None
    limits.release("acme", first.lease)
    assert ask(limits, 1, 0, slots=2).is_admitted


@given(rate=RATES, requests=REQUESTS)
def test_no_stretch_gets_more_than_rate_and_burst(rate: Rate, requests: list[tuple[float, float]]) -> None:
    limits, now_ms = LocalRateLimits(), 1e9
    admitted: list[tuple[float, float]] = []
    for passed_ms, amount in requests:
        now_ms += passed_ms
        if ask(limits, amount, now_ms, rate=rate).is_admitted:
            admitted.append((now_ms, amount))
    for first in range(len(admitted)):
        total = 0.0
        for at_ms, amount in admitted[first:]:
            # One request above the burst, the last one, may be admitted ahead of the clock.
            before = total
            total += amount
            allowed = rate.per_second * (at_ms - admitted[first][0]) / 1000 + rate.capacity
            assert before + min(amount, rate.capacity) <= allowed * (1 + 1e-9) + max(0.0, admitted[first][1] - rate.capacity)


@given(rate=RATES, requests=REQUESTS)
def test_a_client_waiting_as_advised_is_admitted(rate: Rate, requests: list[tuple[float, float]]) -> None:
    limits, now_ms = LocalRateLimits(), 1e9
    for passed_ms, amount in requests:
        now_ms += passed_ms
        verdict = ask(limits, amount, now_ms, rate=rate)
        if not verdict.is_admitted:
            assert not ask(limits, amount, now_ms + verdict.wait_s * 1000 * 0.99 - 0.01, rate=rate).is_admitted
            now_ms += verdict.wait_s * 1000 + 0.01
            assert ask(limits, amount, now_ms, rate=rate).is_admitted


def test_subjects_are_forgotten_when_their_time_has_passed() -> None:
    limits = LocalRateLimits()
    for number in range(20_000):
        limits.admit(f"t{number}", [Demand(rate=TEN_A_SECOND, amount=1)], number)
    assert len(limits._taken_until) <= 10_001


def test_a_tenants_own_quotas_override_and_lift() -> None:
    for_all = QuotaSettings(messages_per_second=5, memories=7)
    own = QuotaSettings.model_validate({"memories": None, "concurrent_recalls": 2})
    assert for_all.overridden_by(own) == QuotaSettings(messages_per_second=5, concurrent_recalls=2)


@dataclass(frozen=True)
class Ask:
    amounts: tuple[int, ...]
    slots: int | None


@dataclass(frozen=True)
class Release:
    index: int


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


STEPS = st.tuples(
    st.sampled_from([0, 1, 99, 100, 101, 1000]) | st.integers(0, 5000),
    st.builds(Ask, st.lists(st.integers(1, 40), max_size=2).map(tuple), st.none() | st.integers(1, 3))
    | st.builds(Release, st.integers(0, 5)),
)


@pytest.mark.integration
@hypothesis_settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rates=st.tuples(RATES, RATES), started_ms=st.integers(10**12, 2 * 10**12), steps=st.lists(STEPS, max_size=40))
async def test_redis_and_one_process_keep_one_rule(
    redis: Redis, rates: tuple[Rate, Rate], started_ms: int, steps: list[tuple[int, Ask | Release]]
) -> None:
    in_redis = SharedRateLimits(redis=GuardedRedis(client=redis, prefix=f"test-{uuid.uuid4().hex}:"), purpose="quota")
    alone = LocalRateLimits()
    named = [rates[0], Rate(name="bytes", per_second=rates[1].per_second, burst_s=rates[1].burst_s)]
    held: list[tuple[str, str]] = []
    now_ms = started_ms
    for passed_ms, step in steps:
        # Leases that expire are Redis's alone: a process that is killed takes its own limits with it.
        now_ms += min(passed_ms, int(LEASE_S * 1000 / 50))
        match step:
            case Ask(amounts, slots):
                demands = [Demand(rate=rate, amount=amount) for rate, amount in zip(named, amounts, strict=False)]
                ours = alone.admit("acme", demands, now_ms, slots=slots)
                theirs = await in_redis.admit("acme", demands, slots=slots, now_ms=now_ms)
                assert theirs.rates == ours.rates, "to the last bit"
                assert (theirs.slot_wait_ms, theirs.free_slots) == (ours.slot_wait_ms, ours.free_slots)
                if ours.lease is not None and theirs.lease is not None:
                    held.append((ours.lease, theirs.lease))
                assert (ours.lease is None) == (theirs.lease is None)
            case Release(index) if held:
                own, other = held.pop(index % len(held))
                alone.release("acme", own)
                await in_redis.release("acme", other)
            case _:
                pass


@pytest.mark.integration
async def test_a_slot_that_is_not_returned_expires(redis: Redis) -> None:
    limits = SharedRateLimits(redis=GuardedRedis(client=redis, prefix=f"test-{uuid.uuid4().hex}:"), purpose="quota")
    assert (await limits.admit("acme", [], slots=1, now_ms=10**12)).is_admitted
    before = 10**12 + int(LEASE_S * 1000) - 1
    assert not (await limits.admit("acme", [], slots=1, now_ms=before)).is_admitted
    assert (await limits.admit("acme", [], slots=1, now_ms=before + 1)).is_admitted


async def test_a_process_enforces_limits_without_redis() -> None:
    limiter = RateLimiter(redis=GuardedRedis(client=None, prefix="t:"), purpose="quota", metrics=Metrics())
    demand = [Demand(rate=Rate(name="recalls", per_second=0.001, burst_s=3000), amount=1)]
    verdicts = []
    for _ in range(4):
        async with limiter.admit("acme", demand) as verdict:
            verdicts.append(verdict.is_admitted)
    assert verdicts == [True, True, True, False]
    async with limiter.admit("acme", [], slots=1) as first, limiter.admit("acme", [], slots=1) as second:
        assert (first.is_admitted, second.is_admitted) == (True, False)
    async with limiter.admit("acme", [], slots=1) as third:
        assert third.is_admitted, "the slot was given back"
