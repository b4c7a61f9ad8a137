"""Traits of memories live as long as the memories, and features are computed only if a ranking uses them."""

import gc
from dataclasses import replace

import numpy as np
import pytest

from retrieval.rankers.fitted_models import LEARNED
from retrieval.rankers.learned import linear_scores
from retrieval.relevance import features, traits
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.features import FEATURES, features_of
from retrieval.relevance.traits import traits_of
from stores.port import ScoredMemory
from tests.stores.factories import NOON, memory

TEXTS = ("Ann moved to Bergen.", "Actually, Bob lives in Oslo.", "Where is Carla?")
CANDIDATES = [ScoredMemory(memory(text), 0.5, {"dense": 0.1 * number}) for number, text in enumerate(TEXTS)]


def test_traits_end_with_their_memory() -> None:
    kept = memory("Ann moved to Bergen.")
    before = len(traits._TRAITS)
    found = traits_of(kept)
    assert traits_of(kept) is found
    assert len(traits._TRAITS) == before + 1
    del kept
    gc.collect()
    assert len(traits._TRAITS) == before


def test_a_changed_copy_has_its_own_traits() -> None:
    first = memory("Ann moved to Bergen.")
    assert traits_of(first).subject == "ann"
    changed = first.model_copy(update={"content": "Bob moved to Oslo."})
    assert (traits_of(changed).subject, traits_of(changed).text) == ("bob", "Bob moved to Oslo.")


def test_features_without_weight_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = list[str]()

    def counted(name: str) -> features.Feature:
        original = FEATURES[name]

        def compute(found: features.CandidateSet) -> FeatureVector:
            computed.append(name)
            return original.compute(found)

        return replace(original, compute=compute)

    monkeypatch.setattr(features, "FEATURES", {name: counted(name) for name in FEATURES})
    found = features_of("Where does Ann live?", CANDIDATES, NOON)
    scores = linear_scores(LEARNED.weights, found)
    assert set(computed) == {name for name, weight in LEARNED.weights.items() if weight}
    assert len(computed) == len(set(computed))
    every = np.sum([weight * found[name] for name, weight in LEARNED.weights.items()], axis=0)
    assert scores == pytest.approx(every)


def test_no_weights_score_every_candidate_zero() -> None:
    found = features_of("Where does Ann live?", CANDIDATES, NOON)
    assert linear_scores(dict.fromkeys(FEATURES, 0.0), found).tolist() == [0.0] * len(CANDIDATES)
