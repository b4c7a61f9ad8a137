"""How likely it is that the candidates of a query answer it at all: a calibrated score, so that "nothing relevant" is an answer.

MemX (3.6) rejects where no word matches and the best cosine is low. Words match nearly always in a user's own memories: what tells more
is whether the words of the query were said by, or of, whom the query names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from retrieval.feature_vector import FeatureVector
from retrieval.first_person import asked_texts
from retrieval.ranking_model import LEARNED, linear_scores
from stores.port import ScoredMemory

SIGNALS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "best": "the ranking model's weighted sum of the best candidate",
        "lead": "how far it is above the second",
        "late": "the best late interaction, by the query's words",
        "dense": "the best cosine",
        "coverage": "the best share of the query's rare terms in one candidate",
        "session_coverage": "the same of the best candidate's session",
        "other_coverage": "by how much more another person's candidates cover than those of whom the query names",
        "other_best": "the same of the ranking model's weighted sum, whose name is left out of it",
        "other_dense": "the same of the cosine",
        "question": "1 if the best candidate is a question",
    }
)
"""What each signal is. Those of another person are 0 where the query names nobody whom a candidate is about, or everybody."""

_WORDS_BESIDE: Final = 3
"""Tokens of a query beside its words, about: late interaction is a sum over tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceModel:
    """``confidence = sigmoid(sum(weight * signal) + intercept)``."""

    weights: Mapping[str, float]
    """By signal: see :data:`SIGNALS`."""
    intercept: float

    def confidence(self, signals: Mapping[str, float]) -> float:
        """The sigmoid of the weighted sum, in [0, 1]."""
        linear = sum(weight * signals[name] for name, weight in self.weights.items()) + self.intercept
        return float(1 / (1 + np.exp(-np.clip(linear, -60, 60))))


def signals_of(query: str, candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector]) -> dict[str, float]:
    """The signals of a query's candidates, by the names in :data:`SIGNALS`.

    Args:
        query: The query's text.
        candidates: With the parts of their scores; at least one.
        features: The candidates', as :func:`retrieval.features.features_of` gives them.
    """
    linear = linear_scores(LEARNED.weights, features)
    late, dense = (np.array([each.parts.get(name, 0.0) for each in candidates]) for name in ("late", "dense"))
    best = int(np.argmax(linear))
    second = float(np.partition(linear, -2)[-2]) if len(linear) > 1 else float(linear[best])
    nameless = linear - LEARNED.weights["named"] * features["named"]
    return {
        "best": float(linear[best]),
        "lead": float(linear[best]) - second,
        "late": float(late.max()) / sum(len(text.split()) + _WORDS_BESIDE for text in asked_texts(query)),
        "dense": float(dense.max()),
        "coverage": float(features["coverage"].max()),
        "session_coverage": float(features["session_coverage"][best]),
        "other_coverage": _of_others(features["coverage"], features["named"]),
        "other_best": _of_others(nameless, features["named"]),
        "other_dense": _of_others(dense, features["named"]),
        "question": float(features["question"][best]),
    }


def confidence_of(query: str, candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector]) -> float:
    """How likely it is that the candidates answer the query, in [0, 1]; 0 where there are none.

    Args:
        query: The query's text.
        candidates: With the parts of their scores.
        features: The candidates', as :func:`retrieval.features.features_of` gives them.
    """
    return CONFIDENCE.confidence(signals_of(query, candidates, features)) if candidates else 0.0


def _of_others(scores: FeatureVector, named: FeatureVector) -> float:
    is_named, is_another = named > 0, named < 0
    if not is_named.any() or not is_another.any():
        return 0.0
    return float(scores[is_another].max() - scores[is_named].max())


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A confidence to reject below, and what it was measured to do on conversations that the model was not fitted to."""

    confidence: float
    false_rejections: float
    """Share of the answerable questions that it rejects."""
    false_answers: float
    """Share of the questions that it answers although the user's memories do not (LoCoMo's category 5)."""
    false_answers_of_strangers: float
    """Share of the questions about another user's conversation that it answers."""


CONFIDENCE: Final = ConfidenceModel(
    weights=MappingProxyType(
        {
            "best": 0.03,
            "lead": -0.0827,
            "late": -4.8015,
            "dense": 15.7019,
            "coverage": 2.5191,
            "session_coverage": -0.627,
            "other_coverage": -2.3775,
            "other_best": -0.6298,
            "other_dense": 6.154,
            "question": -1.0095,
        }
    ),
    intercept=-8.2263,
)
"""Fitted by ``python -m evaluation fit-confidence`` to five LoCoMo conversations (events of the offline extractor, all-MiniLM-L6-v2, 64
candidates, ridge 3). With each conversation left out in turn it tells that one's answered questions from those of category 5 with an area
under the curve of 0.889, and from other users' questions with 0.994."""

THRESHOLDS: Final = (
    Threshold(
        confidence=0.2393,
        false_rejections=0.02,
        false_answers=0.5443,
        false_answers_of_strangers=0.0605,
    ),
    Threshold(
        confidence=0.4391,
        false_rejections=0.05,
        false_answers=0.3924,
        false_answers_of_strangers=0.0039,
    ),
    Threshold(
        confidence=0.599,
        false_rejections=0.1,
        false_answers=0.3038,
        false_answers_of_strangers=0.0013,
    ),
    Threshold(
        confidence=0.7478,
        false_rejections=0.2,
        false_answers=0.211,
        false_answers_of_strangers=0.0,
    ),
)
"""With each conversation left out in turn, as :data:`CONFIDENCE` says."""
