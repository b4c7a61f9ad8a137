"""Confidence: the calibrated probability that the candidates of a query answer it, so that a recall can report that nothing is relevant.

MemX (3.6) rejects if no word matches and the best cosine is low. In a user's own memories, words nearly always match. More informative is
whether the person that the query names said the words, or is their subject. The model was fitted to vectors of the embedded model: other
embedding models have no confidence.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from models.embedding.weights import MODEL_NAME
from retrieval.query.asked_kind import lacks_asked_kind
from retrieval.query.first_person import asked_texts, names_in
from retrieval.query.question import is_foreign_question, terms_in
from retrieval.rankers.fitted_models import RankingModel
from retrieval.rankers.learned import linear_scores
from retrieval.redundancy.current_state import is_hearsay, state_order
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.traits import subject_terms_of, traits_of
from stores.port import ScoredMemory

ACROSS_LANGUAGES: Final = 0.2
"""Most confidence of a query in another language than the best candidate."""
OF_HEARSAY: Final = 0.2
"""Most confidence if the best candidate answers only in a quotation of somebody for whom the query does not ask."""

SIGNALS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "best": "the strength of the best candidate: a weighted sum of features, see STRENGTH",
        "late": "the best candidate's late interaction, by the query's words",
        "dense": "the best candidate's cosine",
        "coverage": "the best share of the query's rare terms in one candidate",
        "missing": "how many of the query's terms the best candidate lacks, names of persons left out",
        "no_terms": "1 if the query has no terms but names of persons",
        "lacks_kind": "1 if the query asks for a time, a number or a name, and the best candidate has none",
        "question": "1 if the best candidate is a question",
        "named": "the ranking model's feature of the best candidate",
        "names_nobody": "1 if the query names nobody",
        "unknown_name": "1 if the query names somebody whom no candidate names",
        "unnamed": "1 if the query names somebody whom the best candidate does not name",
        "about_another": "1 if the best candidate begins with a name that is not in the query, and the query names somebody",
        "by_another": "1 if, besides, it names nobody whom the query names",
        "other_coverage": "by how much more another person's candidates cover than those of whom the query names",
        "other_best": "the same of the strength, without the part of the name",
        "other_dense": "the same of the cosine",
    }
)
"""The signals. The last three are 0 unless the query names the persons of some, but not all, candidates."""

STRENGTH: Final[Mapping[str, float]] = MappingProxyType(
    {
        "late": 1.077,
        "dense": 0.3114,
        "neighbours_late": 0.113,
        "neighbours_bm25": 0.3682,
        "session_late": 0.1211,
        "session_coverage": 0.8639,
        "named": 0.6882,
        "month": 1.5979,
        "time": 1.5605,
        "importance": 2.6558,
        "question": -0.4798,
        "length": -0.5502,
    }
)
"""Weights of the sum of features that shows how strongly a candidate answers. Fitted by ``fit-ranking`` to the questions of five LoCoMo
conversations alone; the confidence is fitted to signals with these weights, so a new fit of the ranking leaves the confidence as it is."""

_WORDS_BESIDE: Final = 3
"""Approximate number of tokens of a query in addition to its words: late interaction is a sum over tokens."""
_FULL: Final = 64
"""Candidates of a large memory: the default of ``VARVE_RECALL__PREFETCH``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceModel:
    """``confidence = sigmoid(sum((weight + size * by_size) * signal) + intercept + size * size_weight)``.

    ``size`` is 0 for one candidate and 1 for 64, on a logarithmic scale. Among few candidates, ranks and rare terms say little, and the
    similarity of the best one says more.
    """

    weights: Mapping[str, float]
    """By signal of :data:`SIGNALS`."""
    by_size: Mapping[str, float]
    """The effect of the size on each weight."""
    intercept: float
    size_weight: float

    def confidence(self, signals: Mapping[str, float], candidates: int) -> float:
        """The sigmoid of the weighted sum, in [0, 1].

        Args:
            signals: From :func:`signals_of`.
            candidates: Number of candidates, at least one.
        """
        size = size_of(candidates)
        linear = sum((weight + size * self.by_size[name]) * signals[name] for name, weight in self.weights.items())
        shifted = linear + self.intercept + size * self.size_weight
        # ``np.clip`` of a single number takes as long as all the rest.
        return float(1 / (1 + np.exp(-min(60.0, max(-60.0, shifted)))))


def size_of(candidates: int) -> float:
    """Size of a memory, estimated from the number of a query's candidates: from 0 for one to 1 for 64.

    Args:
        candidates: At least one. More than 64 count as 64, which the model was fitted to.
    """
    return math.log(min(candidates, _FULL)) / math.log(_FULL)


def is_calibrated(embedder: str) -> bool:
    """Whether the confidence was fitted to the vectors of an embedding model; only to those of the embedded one.

    Args:
        embedder: The model's name.
    """
    return embedder == MODEL_NAME


def signals_of(query: str, candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector], *, best: int) -> dict[str, float]:
    """The signals of a query's candidates, by the names in :data:`SIGNALS`.

    Args:
        query: The query's text.
        candidates: With the parts of their scores; at least one.
        features: Their features, from :func:`retrieval.relevance.features.features_of`.
        best: The place of the candidate that ranks first, from :func:`first_of`.
    """
    strength = linear_scores(STRENGTH, features)
    found = candidates[best]
    dense = np.array([each.parts.get("dense", 0.0) for each in candidates])
    nameless = strength - STRENGTH["named"] * features["named"]
    return {
        "best": float(strength[best]),
        "late": found.parts.get("late", 0.0) / sum(len(text.split()) + _WORDS_BESIDE for text in asked_texts(query)),
        "dense": float(dense[best]),
        "coverage": float(features["coverage"].max()),
        **_term_signals(query, found, candidates),
        "lacks_kind": float(lacks_asked_kind(query, traits_of(found.memory).text)),
        "question": float(features["question"][best]),
        "named": float(features["named"][best]),
        **_name_signals(query, found, candidates),
        "other_coverage": _of_others(features["coverage"], features["named"]),
        "other_best": _of_others(nameless, features["named"]),
        "other_dense": _of_others(dense, features["named"]),
    }


def first_of(query: str, candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector], model: RankingModel) -> int:
    """The place of the candidate that ranks first: the confidence is that of the first result.

    Args:
        query: The query's text.
        candidates: With the parts of their scores; at least one.
        features: Their features, from :func:`retrieval.relevance.features.features_of`.
        model: The shipped ranking model for the query.
    """
    linear = linear_scores(model.weights, features)
    places = np.argsort(-linear, kind="stable").tolist()
    scores = model.probabilities(linear)[places].tolist()
    order = state_order(query, [candidates[place].memory for place in places], scores)
    return int(places[0] if order is None else places[order[0]])


def _term_signals(query: str, best: ScoredMemory, candidates: Sequence[ScoredMemory]) -> dict[str, float]:
    names = subject_terms_of(traits_of(each.memory) for each in candidates)
    topical = frozenset(terms_in(query)) - names
    return {"missing": float(len(topical - traits_of(best.memory).terms.keys())), "no_terms": float(not topical)}


def _name_signals(query: str, best: ScoredMemory, candidates: Sequence[ScoredMemory]) -> dict[str, float]:
    names = names_in(query)
    if not names:
        return {"names_nobody": 1.0, "unknown_name": 0.0, "unnamed": 0.0, "about_another": 0.0, "by_another": 0.0}
    subject, named = traits_of(best.memory).subject, names & traits_of(best.memory).words
    unknown = {*names}
    for each in candidates:
        unknown -= traits_of(each.memory).words
        if not unknown:
            break
    return {
        "names_nobody": 0.0,
        "unknown_name": float(bool(unknown)),
        "unnamed": float(named != names),
        "about_another": float(bool(subject) and subject not in names),
        "by_another": float(bool(subject) and not named),
    }


def confidence_of(
    query: str, candidates: Sequence[ScoredMemory], features: Mapping[str, FeatureVector], model: RankingModel
) -> float | None:
    """The probability that the candidates answer the query, in [0, 1]. 0 if there are none.

    At most :data:`OF_HEARSAY` if the best candidate quotes another person. At most :data:`ACROSS_LANGUAGES` if either the query or the best
    candidate is in English: they can share names and numbers only, since the embedded model compares texts in English. None: it is not
    calibrated, because neither is in English.

    Args:
        query: The query's text.
        candidates: With the parts of their scores.
        features: Their features, from :func:`retrieval.relevance.features.features_of`.
        model: The shipped ranking model for the query, whatever ranker the recall has.
    """
    if not candidates:
        return 0.0
    best = first_of(query, candidates, features, model)
    foreign = is_foreign_question(query) + traits_of(candidates[best].memory).is_foreign
    if foreign > 1:
        return None
    confidence = CONFIDENCE.confidence(signals_of(query, candidates, features, best=best), len(candidates))
    if is_hearsay(query, candidates[best].memory):
        confidence = min(confidence, OF_HEARSAY)
    return min(confidence, ACROSS_LANGUAGES) if foreign else confidence


def _of_others(scores: FeatureVector, named: FeatureVector) -> float:
    is_named, is_another = named > 0, named < 0
    if not is_named.any() or not is_another.any():
        return 0.0
    return float(scores[is_another].max() - scores[is_named].max())


CONFIDENCE: Final = ConfidenceModel(
    weights=MappingProxyType(
        {
            "best": -0.1293,
            "late": 3.2801,
            "dense": 11.7413,
            "coverage": 3.8084,
            "missing": -0.2976,
            "no_terms": 3.2902,
            "lacks_kind": -1.3307,
            "question": -1.9458,
            "named": -0.5785,
            "names_nobody": 1.5191,
            "unknown_name": -1.0193,
            "unnamed": 1.9233,
            "about_another": -0.9288,
            "by_another": -0.5887,
            "other_coverage": -2.6599,
            "other_best": 0.0093,
            "other_dense": -1.2733,
        }
    ),
    by_size=MappingProxyType(
        {
            "best": 0.048,
            "late": -4.1475,
            "dense": -3.0675,
            "coverage": -2.4655,
            "missing": -0.0239,
            "no_terms": 7.8163,
            "lacks_kind": 0.9792,
            "question": 0.7866,
            "named": 1.8203,
            "names_nobody": 3.3668,
            "unknown_name": -1.21,
            "unnamed": -0.5008,
            "about_another": 2.6527,
            "by_another": -1.6144,
            "other_coverage": 1.3334,
            "other_best": -0.6036,
            "other_dense": 8.9491,
        }
    ),
    intercept=-8.0947,
    size_weight=3.0583,
)
"""Fitted by ``python -m evaluation fit-confidence`` to five LoCoMo conversations, pieces of them, and invented small memories (events of
the offline extractor, all-MiniLM-L6-v2, at most 64 candidates, ridge 3). The intercept is 0.0656 below the fitted one, so that the same
least confidence rejects 5 in 100 correct first results. With each conversation left out in turn, the area under the ROC curve is 0.886 for
its answered questions against those of category 5, and 0.994 against other users' questions."""
