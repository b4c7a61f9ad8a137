"""The formulas of the reward and the measures, against values that were computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.sift.rewards.formulas import (
    TIERS,
    annealed_beta,
    answer_reward,
    overlong_penalty,
    retrieval_reward,
    tier_weights,
    total_reward,
)
from training.sift.rewards.measures import measures_of, ndcg
from training.sift.rewards.scoring import option_of, score

SCORES = st.lists(st.floats(min_value=0, max_value=1), min_size=len(TIERS), max_size=len(TIERS))


def test_weights_follow_equation_five() -> None:
    assert [round(each, 4) for each in tier_weights()] == [0.3691, 0.1309, 0.1131, 0.0714, 0.0264, 0.2891]
    assert sum(tier_weights()) == pytest.approx(1)
    assert tier_weights((0, 1, 3)) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0, 1, 1, 1, 1, 1, 1], 1.0),
        ([0, 0, 1, 1, 1, 1, 1], 0.6309),
        ([0, 0, 0, 0, 0, 0, 1], 0.2891),
        ([1, 1, 1, 1, 1, 1, 1], 0.0),
        ([0.5, 0, 0, 0, 0, 0, 0], -0.5),
        ([0.2, 0.4, 0.4, 0.8, 0.8, 0.8, 1], -0.2 + 0.5 * 0.4 + (0.1131 + 0.0714 + 0.0264) * 0.8 + 0.2891),
        ([0, 1, 0, 0, 0, 0, 0], 0.3691),
    ],
)
def test_answer_reward_is_equation_three(scores: list[float], expected: float) -> None:
    assert answer_reward(scores) == pytest.approx(expected, abs=1e-4)


@given(SCORES)
def test_answer_reward_equals_the_discounted_gains(scores: list[float]) -> None:
    """Equation 4, of which equation 3 is another form."""
    discounts = [1.0, 0.63093, 0.5, 0.386853, 0.315465, 0.289065]
    gains = [(later - earlier) * each for earlier, later, each in zip(scores, scores[1:], discounts, strict=False)]
    assert answer_reward(scores) == pytest.approx(sum(gains), abs=1e-4)


def test_ablations_of_the_answer_reward() -> None:
    scores = [0.5, 1, 0, 0, 0, 0, 1]
    assert answer_reward(scores, shaping="absolute") == pytest.approx(0.3691 + 0.2891, abs=1e-4)
    assert answer_reward(scores, shaping="uniform") == pytest.approx(2 / 6 - 0.5)


def test_retrieval_reward_is_dcg() -> None:
    assert retrieval_reward([4, 1, 7], {4, 7}) == pytest.approx(1 + 0.5)
    assert retrieval_reward([4, 1, 7], {1}) == pytest.approx(0.6309, abs=1e-4)
    assert retrieval_reward([4, 1, 7], ()) == 0
    assert total_reward(0.6, 1.5, alpha=2.0, beta=0.5) == pytest.approx(1.95)


@pytest.mark.parametrize(("epoch", "expected"), [(0, 0.4), (0.99, 0.4), (1, 0.4), (1.5, 0.2), (1.75, 0.1), (2, 0), (9, 0)])
def test_beta_falls_after_the_first_epoch(epoch: float, expected: float) -> None:
    assert annealed_beta(epoch, beta=0.4) == pytest.approx(expected)
    assert annealed_beta(epoch, beta=0.4, epochs=0) == (0.4 if epoch < 1 else 0)


@pytest.mark.parametrize(("tokens", "expected"), [(0, 0), (16_384, 0), (17_408, -0.25), (18_432, -0.5), (20_480, -1), (24_000, -1)])
def test_overlong_penalty_grows_in_its_buffer(tokens: int, expected: float) -> None:
    assert overlong_penalty(tokens, most=20_480, buffer=4_096) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "right", "scoring", "expected"),
    [
        ("on 7 May", "8 May", "f1", 0.4),
        ("8 May", "8 May", "f1", 1.0),
        ("42", "42", "f1", 1.0),
        ("42", "43", "f1", 0.0),
        ("The red kite.", "red kite", "f1", 1.0),
        ("", "red kite", "f1", 0.0),
        ("Red  Kite.", "red kite", "exact", 1.0),
        ("red kite, 7", "red kite", "exact", 0.0),
        ("(b) rye", "(b)", "auto", 1.0),
        ("b", "(b)", "auto", 1.0),
        ("The answer is b) rye", "(b)", "auto", 1.0),
        ("(a) or (b)", "(b)", "auto", 0.0),
        ("a nice loaf", "(a)", "auto", 0.0),
        ("(c)", "(b)", "option", 0.0),
    ],
)
def test_scores_of_answers(answer: str, right: str, scoring: str, expected: float) -> None:
    assert score(answer, right, scoring=scoring) == pytest.approx(expected)  # type: ignore[arg-type]


@given(st.text(max_size=40))
def test_any_answer_has_at_most_one_option(answer: str) -> None:
    found = option_of(answer)
    assert found is None or (len(found) == 1 and found in answer.lower())


def test_every_relevant_session_counts_at_the_first_place() -> None:
    assert ndcg([7, 4], {4, 7}, 1) == 1
    assert ndcg([4, 7], {4, 7}, 1) == 1
    assert ndcg([1, 4], {4, 7}, 1) == 0


def test_measures_of_a_ranking() -> None:
    found = measures_of([1, 4, 2, 3, 0, 5, 7], {4, 7})
    assert found["ndcg_at_1"] == 0
    assert found["ndcg_at_5"] == pytest.approx(0.63093 / 1.63093, abs=1e-4)
    assert found["ndcg_at_10"] == pytest.approx((0.63093 + 1 / 3) / 1.63093, abs=1e-4)
    assert found["recall_at_10"] == 1
    assert found["f1_at_10"] == pytest.approx(4 / 9)
    assert set(measures_of([], {4}).values()) == {0}
