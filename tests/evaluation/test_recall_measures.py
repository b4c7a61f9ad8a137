"""The measures of a ranking, against their definitions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.recall.fit import ablation, fit
from evaluation.recall.measures import area_under_roc, differences, messages_by_score, outcome_of, ranked_messages, summary
from retrieval.relevance.features import FEATURES
from stores.port import ScoredMemory
from tests.evaluation.ranking_examples import example
from tests.stores.factories import memory

SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12)


def test_messages_are_ranked_once_and_cut() -> None:
    assert ranked_messages([["a", "b"], ["b"], ["c"]]) == ["a", "b", "c"]
    assert ranked_messages([[f"m{number}"] for number in range(20)]) == [f"m{number}" for number in range(10)]


def test_messages_are_ordered_by_their_best_score() -> None:
    results = [(("a", "b"), (0.9, 0.45)), (("c", "a"), (0.6, 0.3)), (("b",), (0.5,))]
    assert messages_by_score(results) == ["a", "c", "b"]
    assert messages_by_score(results, cut=2) == ["a", "c"]
    assert messages_by_score([((f"m{number}",), (1 - number / 20,)) for number in range(20)]) == [f"m{number}" for number in range(10)]


def test_an_outcome_is_as_defined() -> None:
    outcome = outcome_of(["a", "b", "c", "d", "e", "f"], ["c", "f", "z"])
    assert (outcome.recall_at_10, outcome.hit_at_5, outcome.reciprocal_rank) == (2 / 3, 1.0, 1 / 3)
    late = outcome_of(["a", "b", "c", "d", "e", "f"], ["f"])
    assert (late.recall_at_10, late.hit_at_5, late.reciprocal_rank) == (1.0, 0.0, 1 / 6)
    assert outcome_of([], ["a"]).reciprocal_rank == 0


def test_a_summary_has_means_within_their_intervals() -> None:
    outcomes = [outcome_of(["a"], ["a"]), outcome_of(["b"], ["a"])] * 50
    report: Any = summary(outcomes)
    assert (report["questions"], report["recall_at_10"], report["hit_at_5"], report["mrr"]) == (100, 0.5, 0.5, 0.5)
    low, high = report["recall_at_10_interval"]
    assert 0.35 < low < 0.5 < high < 0.65
    assert summary([]) == {"questions": 0}


def test_differences_are_of_the_same_questions() -> None:
    found, missed = outcome_of(["a"], ["a"]), outcome_of(["b"], ["a"])
    report = differences([found, missed, found, missed], [missed, missed, found, missed])
    assert (report["recall_at_10"], report["hit_at_5"], report["mrr"]) == (0.25, 0.25, 0.25)
    assert report["mrr_error"] == pytest.approx(0.5 / 2)
    assert differences([found, missed], [found, missed])["mrr_error"] == 0


@given(SCORES, SCORES)
def test_the_area_is_the_chance_of_the_right_order(positive: list[float], negative: list[float]) -> None:
    pairs = [(one > other) + (one == other) / 2 for one in positive for other in negative]
    assert area_under_roc(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_a_fit_finds_the_feature_that_predicts_evidence() -> None:
    random = np.random.default_rng(3)
    model = fit([example(random, telling="coverage") for _ in range(60)], ridge=1.0).questions
    assert max(model.weights, key=lambda name: abs(model.weights[name])) == "coverage"
    assert model.weights["coverage"] > 0
    assert model.slope > 0


def test_an_ablation_finds_the_feature_that_predicts_evidence() -> None:
    random = np.random.default_rng(3)
    examples = []
    for number in range(40):
        made = example(random, telling="coverage")
        candidates = [ScoredMemory(memory(f"{each}", message_ids=[f"m{each}"]), 0.5, {}) for each in range(len(made.is_evidence))]
        evidence = (f"m{int(np.argmax(made.is_evidence))}",)
        examples.append(replace(made, conversation=number % 2, candidates=candidates, evidence=evidence))
    figures: Any = ablation(examples, ridge=1.0)
    assert set(figures) == set(FEATURES)
    assert min(figures, key=lambda name: figures[name]["hit_at_5"]) == "coverage"
    assert "coverage" not in fit(examples, ridge=1.0, but="coverage").questions.weights
