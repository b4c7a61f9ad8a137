"""A backoff grows to its maximum and no further, and its jitter is full."""

import random

import pytest

from runtime.resilience import Backoff

BACKOFF = Backoff(initial_interval_s=0.2, backoff_coefficient=3.0, maximum_interval_s=30.0)


def test_the_interval_grows_to_its_maximum() -> None:
    assert [round(BACKOFF.interval_s(failures), 6) for failures in (1, 2, 3, 5, 6, 100_000)] == [0.2, 0.6, 1.8, 16.2, 30.0, 30.0]


def test_the_jitter_is_full() -> None:
    intervals = [BACKOFF.jittered_s(3, uniform=random.Random(seed).uniform) for seed in range(200)]
    assert 0 <= min(intervals) < 0.1 * 1.8
    assert 0.9 * 1.8 < max(intervals) <= 1.8


@pytest.mark.parametrize(
    ("initial", "coefficient", "maximum", "named"),
    [(0, 2, 30, "initial_interval_s"), (1, 2, 0, "maximum_interval_s"), (1, 0.5, 30, "backoff_coefficient")],
)
def test_a_backoff_that_never_waits_is_refused(initial: float, coefficient: float, maximum: float, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Backoff(initial_interval_s=initial, backoff_coefficient=coefficient, maximum_interval_s=maximum)
