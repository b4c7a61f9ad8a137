"""The limits' rules, on a clock that the tests move."""

from hypothesis import given, settings
from hypothesis import strategies as st

from models.llm.limits import WINDOW_S, Limits, LocalLimits


def test_leases_are_granted_up_to_the_concurrency() -> None:
    limits = LocalLimits(Limits(concurrency=2))
    assert limits.acquire("a", 10, 0.0) == 0
    assert limits.acquire("b", 10, 0.0) == 0
    assert limits.acquire("c", 10, 0.0) > 0
    limits.release("a")
    assert limits.acquire("c", 10, 0.0) == 0


def test_the_wait_ends_when_a_request_fits() -> None:
    limits = LocalLimits(Limits(concurrency=100, requests_per_minute=2))
    assert limits.acquire("a", 0, 10.5) == 0
    assert limits.acquire("b", 0, 30.0) == 0
    wait = limits.acquire("c", 0, 40.0)
    assert wait == 10 + WINDOW_S + 1 - 40.0
    assert limits.acquire("c", 0, 40.0 + wait - 0.01) > 0
    assert limits.acquire("c", 0, 40.0 + wait) == 0


def test_settling_returns_unused_tokens() -> None:
    limits = LocalLimits(Limits(concurrency=100, tokens_per_minute=1000))
    assert limits.acquire("a", 900, 5.0) == 0
    assert limits.acquire("b", 500, 6.0) > 0
    limits.settle(5, 900, 100)
    assert limits.acquire("b", 500, 6.0) == 0


def test_a_call_above_the_limit_runs_alone() -> None:
    limits = LocalLimits(Limits(concurrency=100, tokens_per_minute=1000))
    assert limits.acquire("a", 5000, 5.0) == 0
    assert limits.acquire("b", 1, 6.0) > 0
    assert limits.acquire("b", 1, 5.0 + WINDOW_S + 1) == 0


@settings(max_examples=200)
@given(
    requests=st.integers(1, 6),
    tokens=st.integers(1, 100),
    calls=st.lists(st.tuples(st.floats(0, 40), st.integers(0, 120)), max_size=40),
)
def test_no_minute_exceeds_the_limits(requests: int, tokens: int, calls: list[tuple[float, int]]) -> None:
    limits = LocalLimits(Limits(concurrency=1000, requests_per_minute=requests, tokens_per_minute=tokens))
    now, granted = 1000.0, list[tuple[float, int]]()
    for place, (pause, wanted) in enumerate(calls):
        now += pause
        wait = limits.acquire(str(place), wanted, now)
        if wait:
            now += wait
            assert limits.acquire(str(place), wanted, now) == 0, "the promised time came, and there was no place"
        granted.append((now, min(wanted, tokens)))
        minute = [each for at, each in granted if now - at < WINDOW_S]
        assert len(minute) <= requests
        assert sum(minute) <= tokens
