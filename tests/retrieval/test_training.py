"""A ranking that is fitted to judged recalls, and its figures against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import TrainingError
from retrieval.rankers.fitted_models import LEARNED
from retrieval.rankers.learned import linear_scores
from retrieval.relevance.features import FEATURES, NEVER_AGAINST
from retrieval.training.fitting import fitted
from retrieval.training.judged import JudgedRecall, JudgedRecalls
from retrieval.training.training import FOLDS, LEAST_QUESTIONS, figures_of, folds, rounded, train
from tests.retrieval.judged_recalls import judged_by

SCORES = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=8)


def recall_of(useful: list[float], useless: list[float], question: str = "Who?") -> tuple[np.ndarray, JudgedRecall]:
    scores = np.array([*useful, *useless])
    is_evidence = np.array([1.0] * len(useful) + [0.0] * len(useless))
    return scores, JudgedRecall(("ann", question), scores, dict.fromkeys(FEATURES, scores), is_evidence)


@given(SCORES, SCORES)
def test_figures_are_as_defined(useful: list[float], useless: list[float]) -> None:
    found = figures_of(*recall_of(useful, useless))
    pairs = [(one > other) + (one == other) / 2 for one in useful for other in useless]
    assert found.pairs == pytest.approx(sum(pairs) / len(pairs))
    order = sorted([(-score, 1) for score in useful] + [(-score, 0) for score in useless])
    first = next(rank for rank, (_, is_useful) in enumerate(order, start=1) if is_useful)
    assert (found.useful_first, found.reciprocal_rank) == (float(first == 1), 1 / first)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40))
def test_a_question_is_in_one_fold(questions: list[int]) -> None:
    recalls = [recall_of([1.0], [0.0], f"question {each}")[1] for each in questions]
    parts = folds(recalls)
    assert sorted(index for part in parts for index in part) == [*range(len(recalls))]
    assert len(parts) == min(FOLDS, len(set(questions)))
    by_part = [{questions[index] for index in part} for part in parts]
    assert sum(map(len, by_part)) == len(set(questions))


def test_training_ranks_useful_memories_higher() -> None:
    training = train(judged_by("question", recalls=80))
    assert training.model.weights["question"] > LEARNED.weights["question"] + 1
    assert training.model.slope > 0
    assert training.left_out.pairs > training.shipped.pairs
    assert training.gain.mean == pytest.approx(training.left_out.pairs - training.shipped.pairs)
    assert training.gain.mean > 4 * training.gain.standard_error > 0
    assert abs(training.as_ranked.pairs - 0.5) < 0.1
    assert (training.recalls, training.questions, training.judged) == (80, 80, 800)


def test_held_out_recalls_are_not_used_for_fitting() -> None:
    """Where usefulness is drawn, no model knows it of a recall that it has not seen."""
    judged = judged_by("late", recalls=60)
    random = np.random.default_rng(6)
    drawn = [JudgedRecall(each.question, each.ranks, each.features, random.permutation(each.is_evidence)) for each in judged.recalls]
    seen = fitted(drawn, ridge=0.01, around=LEARNED.weights, smoothing=1.0)
    by_seen = np.mean([figures_of(linear_scores(seen.weights, each.features), each).pairs for each in drawn])
    training = train(JudgedRecalls(drawn), ridge=0.01)
    assert by_seen > 0.55
    assert training.left_out.pairs < 0.55


def test_features_without_information_keep_their_shipped_weight() -> None:
    judged = judged_by("late", recalls=60)
    for recall in judged.recalls:
        recall.features["month"] = np.zeros(len(recall.is_evidence))
    assert train(judged).model.weights["month"] == LEARNED.weights["month"]
    strict = train(judged, ridge=1e9).model.weights
    assert strict == {name: pytest.approx(weight, abs=1e-3) for name, weight in LEARNED.weights.items()}


def test_too_few_recalls_are_refused_with_the_required_number() -> None:
    few = judged_by("late", recalls=LEAST_QUESTIONS - 1)
    with pytest.raises(TrainingError, match=r"49 recalls that ask 49 different questions .* a fit needs 50 questions"):
        train(few)
    repeated = JudgedRecalls(few.recalls * 3)
    with pytest.raises(TrainingError, match="147 recalls that ask 49 different questions"):
        train(repeated)
    with pytest.raises(TrainingError, match="0 recalls"):
        train(JudgedRecalls())


def test_uninformative_recalls_fit_nothing() -> None:
    same = [
        JudgedRecall(("ann", f"question {number}"), np.arange(1.0, 5), dict.fromkeys(FEATURES, np.ones(4)), np.array([1.0, 1, 0, 0]))
        for number in range(60)
    ]
    with pytest.raises(TrainingError, match="does not depend on"):
        train(JudgedRecalls(same))


def test_a_fault_free_order_makes_nothing_certain() -> None:
    judged = judged_by("late", recalls=60)
    separated = []
    for recall in judged.recalls:
        late = recall.is_evidence * 4 + recall.features["late"] / 10
        separated.append(JudgedRecall(recall.question, recall.ranks, recall.features | {"late": late}, recall.is_evidence))
    training = train(JudgedRecalls(separated), ridge=0.01)
    assert training.left_out.pairs == 1.0
    model = training.model
    probabilities = np.concatenate([model.probabilities(linear_scores(model.weights, each.features)) for each in separated])
    assert 0.001 < probabilities.min() < probabilities.max() < 0.999


def test_a_rounded_model_has_four_decimals() -> None:
    model = rounded(train(judged_by("late", recalls=60)).model)
    assert [*model.weights] == [*FEATURES]
    assert all(round(each, 4) == each for each in (*model.weights.values(), model.slope, model.intercept))


@pytest.mark.parametrize("feature", sorted(NEVER_AGAINST))
def test_no_weight_holds_a_match_against_a_memory(feature: str) -> None:
    judged = judged_by(feature, recalls=80, sign=-1.0).recalls
    model = fitted(judged, ridge=0.01)
    assert model.weights[feature] == 0.0
    assert [*model.weights] == [*FEATURES]
    assert min(model.weights[each] for each in NEVER_AGAINST) == 0.0
    assert fitted(judged_by(feature, recalls=80).recalls, ridge=0.01).weights[feature] > 0.1


@pytest.mark.parametrize("feature", sorted(FEATURES.keys() - NEVER_AGAINST))
def test_other_weights_may_be_negative(feature: str) -> None:
    assert fitted(judged_by(feature, recalls=80, sign=-1.0).recalls, ridge=0.01).weights[feature] < -0.1
