"""The final score."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.relevance.final_score import Weights, business_score, final_score, temporal_score
from tests.stores.factories import NOON, memory

DAY = 86400.0
SHARES = st.floats(0, 1)


def test_freshness_halves_beyond_the_window() -> None:
    weights = Weights(freshness_window_s=DAY, half_life_s=10 * DAY)
    assert [temporal_score(age * DAY, weights) for age in (-3, 0, 1, 11, 21)] == pytest.approx([1, 1, 1, 0.5, 0.25])


@given(st.floats(0, 1e9), st.floats(1, 1e7))
def test_freshness_never_grows_with_age(age: float, more: float) -> None:
    weights = Weights()
    assert 0 <= temporal_score(age + more, weights) <= temporal_score(age, weights) <= 1


@given(st.floats(2 * DAY, 1e8), st.floats(DAY, 1e7))
def test_decay_is_fast_then_slow(age: float, step: float) -> None:
    weights = Weights()
    first = temporal_score(age, weights) - temporal_score(age + step, weights)
    then = temporal_score(age + step, weights) - temporal_score(age + 2 * step, weights)
    assert then <= first + 1e-12


def test_business_score_is_type_weight_times_importance() -> None:
    assert business_score(memory(type="trip", importance=0.5), {"trip": 0.8}) == pytest.approx(0.4)
    assert business_score(memory(type="other", importance=0.5), {"trip": 0.8}) == 0.5
    assert business_score(memory(type="trip", importance=0.9), {"trip": 5}) == 1


@given(SHARES, SHARES, SHARES, SHARES, SHARES)
def test_the_final_score_is_a_mean_of_its_parts(time: float, business: float, origin: float, importance: float, days: float) -> None:
    time, business = time / 2, business / 2
    weights = Weights(time=time, business=business)
    scored = memory(importance=importance)
    score = final_score(scored, origin=origin, now=NOON + timedelta(days=100 * days), weights=weights)
    parts = (score.origin, score.time, score.business)
    assert score.final == pytest.approx((1 - time - business) * origin + time * score.time + business * score.business)
    assert min(parts) - 1e-9 <= score.final <= max(parts) + 1e-9


@pytest.mark.parametrize("bad", [{"time": 0.7, "business": 0.4}, {"time": -0.1}, {"half_life_s": 0}, {"freshness_window_s": -1}])
def test_weights_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        Weights(**bad)
