"""The ranker `learned`: a linear model over features of the candidates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from memory.records import Memory
from retrieval.rankers.base import MAX_RERANKED, Scored
from retrieval.rankers.fitted_models import RankingModel
from retrieval.relevance.feature_vector import FeatureVector
from stores.port import ScoredMemory

SAME_SESSION: Final = "same_session"
"""Name of the part of a score that :attr:`RankingModel.same_session` adds."""


def linear_scores(weights: Mapping[str, float], features: Mapping[str, FeatureVector]) -> FeatureVector:
    """The weighted sum of features. Those without a weight are not computed.

    Args:
        weights: By feature.
        features: At least these.
    """
    if not any(weights.values()):
        return np.zeros(len(features[next(iter(features))]))
    return np.asarray(sum(weight * features[name] for name, weight in weights.items() if weight), dtype=np.float64)


def session_penalties(memories: Sequence[Memory], linear: FeatureVector) -> FeatureVector:
    """For each memory, how many memories of its session have a higher weighted sum; 0 without a session."""
    higher = np.zeros(len(memories))
    of_session: Counter[tuple[str | None, str]] = Counter()
    for index in np.argsort(-linear, kind="stable").tolist():
        memory = memories[index]
        if memory.session is not None:
            higher[index] = of_session[memory.user, memory.session]
            of_session[memory.user, memory.session] += 1
    return higher


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
    linear = linear_scores(model.weights, features)
    penalties = np.zeros(len(ranked))
    if model.same_session:
        penalties = -model.same_session * session_penalties([each.memory for each in ranked], linear)
    scores = model.probabilities(linear + penalties).tolist()
    least = min(scores)
    if explain:
        columns = {f"ranking_{name}": [model.slope * weight * x for x in features[name].tolist()] for name, weight in model.weights.items()}
        if model.same_session:
            columns[f"ranking_{SAME_SESSION}"] = (model.slope * penalties).tolist()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        found = [ScoredMemory(each.memory, score, each.parts | row) for each, score, row in zip(ranked, scores, rows, strict=True)]
    else:
        found = [ScoredMemory(each.memory, score, {}) for each, score in zip(ranked, scores, strict=True)]
    return found + [ScoredMemory(each.memory, least * each.score, each.parts if explain else {}) for each in rest]


@dataclass(frozen=True, slots=True)
class LearnedRanker:
    """See :class:`retrieval.rankers.base.Ranker`.

    Args:
        model: The model for all queries. None: the shipped model for each query.
    """

    model: RankingModel | None = None

    evidence_decay: ClassVar[float] = 0.8
    uses_parts: ClassVar[bool] = True
    uses_features: ClassVar[bool] = True
    uses_retrievals: ClassVar[bool] = False
    gives_confidence: ClassVar[bool] = True

    def rank(self, scored: Scored, *, explain: bool) -> list[ScoredMemory]:
        """The model's probabilities."""
        return reranked(scored.accepted, scored.features, self.model or scored.model, explain=explain)
