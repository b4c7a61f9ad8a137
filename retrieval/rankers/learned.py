"""The ranker `learned`: a linear model over features of the candidates, and the fitted models that ship."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final

import numpy as np

from memory.scripts import is_latin
from models.embedding.weights import MODEL_NAME
from retrieval.feature_vector import FeatureVector
from retrieval.rankers.base import MAX_RERANKED, Scored
from stores.port import ScoredMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingModel:
    """``S_origin = sigmoid(slope * sum(weight * feature) + intercept)``: the probability that a memory answers the query."""

    weights: Mapping[str, float]
    """By feature of :data:`retrieval.features.FEATURES`."""
    slope: float
    intercept: float

    def probabilities(self, linear: FeatureVector) -> FeatureVector:
        """The sigmoid of weighted sums."""
        return np.asarray(1 / (1 + np.exp(-np.clip(self.slope * linear + self.intercept, -60, 60))))


def linear_scores(weights: Mapping[str, float], features: Mapping[str, FeatureVector]) -> FeatureVector:
    """The weighted sum of features."""
    return np.asarray(sum(weight * features[name] for name, weight in weights.items()), dtype=np.float64)


def reranked(
    candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector], model: RankingModel, *, explain: bool
) -> list[ScoredMemory]:
    """The candidates with the model's S_origin.

    Args:
        candidates: With the parts of their scores, best first by the store's score. Those beyond :data:`MAX_RERANKED` stay last.
        features: Features of the first :data:`MAX_RERANKED` candidates.
        model: The model.
        explain: Whether to keep the parts of the scores and add the contribution of each feature.
    """
    if not candidates:
        return []
    ranked, rest = candidates[:MAX_RERANKED], candidates[MAX_RERANKED:]
    scores = model.probabilities(linear_scores(model.weights, features)).tolist()
    least = min(scores)
    found = []
    for index, (each, score) in enumerate(zip(ranked, scores, strict=True)):
        parts: dict[str, float] = {}
        if explain:
            added = {f"ranking_{name}": model.slope * weight * float(features[name][index]) for name, weight in model.weights.items()}
            parts = each.parts | added
        found.append(ScoredMemory(each.memory, score, parts))
    return found + [ScoredMemory(each.memory, least * each.score, each.parts if explain else {}) for each in rest]


LEARNED: Final = RankingModel(
    weights=MappingProxyType(
        {
            "late": 1.077,
            "dense": 0.3114,
            "neighbours_late": 0.113,
            "neighbours_bm25": 0.3682,
            "session_late": 0.1211,
            "coverage": 0.0,
            "session_coverage": 0.8639,
            "named": 0.6882,
            "month": 1.5979,
            "time": 1.5605,
            "importance": 2.6558,
            "question": -0.4798,
            "length": -0.5502,
        }
    ),
    slope=0.8427,
    intercept=-5.0707,
)
"""Fitted by ``python -m evaluation fit-ranking`` to the questions of five LoCoMo conversations (categories 1 to 4; events of the offline
extractor, all-MiniLM-L6-v2, 64 candidates, ridge 10). With each conversation left out in turn: recall@10 0.855,
hit@5 0.876, MRR 0.742."""

_HALVED: Final = ("late", "dense", "neighbours_late", "session_late")
BY_WORDS: Final = RankingModel(
    weights=MappingProxyType(
        {name: weight / 2 if name in _HALVED else weight for name, weight in LEARNED.weights.items()} | {"neighbours_bm25": 1.0}
    ),
    slope=LEARNED.slope,
    intercept=LEARNED.intercept,
)
"""For questions in a script that the embedded model was not trained on: vectors count less, shared words count more."""


def model_for(question: str, model: RankingModel, *, embedder: str) -> RankingModel:
    """The model for a question: :data:`BY_WORDS` instead of :data:`LEARNED` if the embedded model was not trained on its script.

    Args:
        question: A query's text.
        model: The ranker's.
        embedder: The name of the embedding model.
    """
    return BY_WORDS if model is LEARNED and embedder == MODEL_NAME and not is_latin(question) else model


@dataclass(frozen=True, slots=True)
class LearnedRanker:
    """See :class:`retrieval.rankers.base.Ranker`.

    Args:
        model: The fitted model.
    """

    model: RankingModel = LEARNED

    evidence_decay: ClassVar[float] = 0.8
    uses_parts: ClassVar[bool] = True
    uses_features: ClassVar[bool] = True
    uses_retrievals: ClassVar[bool] = False
    gives_confidence: ClassVar[bool] = True

    def rank(self, scored: Scored, *, explain: bool) -> list[ScoredMemory]:
        """The model's probabilities."""
        model = model_for(scored.text, self.model, embedder=scored.embedder)
        return reranked(scored.accepted, scored.features, model, explain=explain)
