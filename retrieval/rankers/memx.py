"""The ranker `memx`: four weighted factors, a sigmoid of their standard score, and a rule that rejects all candidates (MemX 3.4, 3.6).

Weights of the learned ranker cannot express MemX, so it is a separate ranker: its sigmoid is centred and scaled by the mean and the spread
of each query's scores (equation 4), its frequency comes from the counts of earlier recalls, and its rejection is a rule, not a score.

Differences to the paper: the RRF score is divided by its maximum, because its own range (at most 0.033) would make the weight of meaning
negligible compared with recency; a memory's event time replaces ``created_at``; no ``access_count`` replaces the number of returns of what
was never returned, so its frequency is 0; several results with one tag signature (3.5) are kept, because dropping them would hide updates;
and a prior raises the scores of a query that asks for a time (:mod:`retrieval.relevance.time_prior`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

import numpy as np

from memory.records import Memory
from retrieval.rankers.base import Scored
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.final_score import ranks_of
from retrieval.relevance.time_prior import with_time_prior
from runtime.redis.retrieval_counts import Retrievals
from stores.port import ScoredMemory
from stores.query_plan import RRF_K

_DAY_S: Final = 86400
_LOG_CAP: Final = 10
_LEAST_SPREAD: Final = 1e-6
"""Composite scores with a smaller standard deviation are not normalised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemXParameters:
    """``score = a_s * semantic + a_r * recency + a_f * frequency + a_i * importance`` (equation 1), and the threshold of the rejection."""

    semantic: float = 0.45
    recency: float = 0.25
    frequency: float = 0.05
    importance: float = 0.10
    half_life_days: float = 30.0
    """Time in which the recency halves."""
    least_similarity: float = 0.5
    """If no candidate shares a word with the query and the best cosine is lower, all are rejected."""


MEMX: Final = MemXParameters()
"""The paper's values (table 1, 3.4, 3.6)."""


class MemXRanker:
    """See :class:`retrieval.rankers.base.Ranker`."""

    evidence_decay: ClassVar[float] = 0.95
    uses_parts: ClassVar[bool] = True
    uses_features: ClassVar[bool] = False
    uses_retrievals: ClassVar[bool] = True
    gives_confidence: ClassVar[bool] = False

    def rank(self, scored: Scored, *, explain: bool) -> list[ScoredMemory] | None:
        """MemX's score, with the prior of :mod:`retrieval.relevance.time_prior`; None if MemX rejects all candidates."""
        if not is_answered(scored.accepted, MEMX):
            return None
        found = ranked(scored.accepted, MEMX, retrievals=scored.retrievals, now=scored.now, explain=explain)
        return with_time_prior(scored.text, found, scored.now, explain=explain)


def is_answered(candidates: Sequence[ScoredMemory], parameters: MemXParameters) -> bool:
    """Whether any candidate shares a word with the query, or is similar enough to it (3.6).

    Args:
        candidates: With the parts of their scores.
        parameters: The threshold.
    """
    if any(each.parts.get("bm25", 0.0) > 0 for each in candidates):
        return True
    return max((each.parts.get("dense", 0.0) for each in candidates), default=0.0) >= parameters.least_similarity


def ranked(
    candidates: Sequence[ScoredMemory], parameters: MemXParameters, *, retrievals: Mapping[str, Retrievals], now: datetime, explain: bool
) -> list[ScoredMemory]:
    """The candidates with the sigmoid of their standard score as S_origin (equations 1 to 4).

    Args:
        candidates: With the parts of their scores.
        parameters: The weights.
        retrievals: By memory id, how often and when last a recall returned the memory; without memories that were never returned.
        now: The moment of the recall.
        explain: Whether to keep the parts of the scores and add the contribution of each factor.
    """
    if not candidates:
        return []
    semantic = _reciprocal_ranks(candidates)
    added = [
        {
            "memx_semantic": parameters.semantic * semantic[candidate.memory.id],
            "memx_recency": parameters.recency
            * recency(candidate.memory, retrievals.get(candidate.memory.id), now=now, parameters=parameters),
            "memx_frequency": parameters.frequency * frequency(retrievals.get(candidate.memory.id)),
            "memx_importance": parameters.importance * candidate.memory.importance,
        }
        for candidate in candidates
    ]
    scores = normalised(np.array([sum(each.values()) for each in added])).tolist()
    return [
        ScoredMemory(each.memory, score, each.parts | factors if explain else {})
        for each, score, factors in zip(candidates, scores, added, strict=True)
    ]


def recency(memory: Memory, known: Retrievals | None, *, now: datetime, parameters: MemXParameters) -> float:
    """Equation 2: halves with each half-life since the memory was last returned, or else since its event time; 1 for future times.

    Args:
        memory: The memory.
        known: How often and when last it was returned. None: never.
        now: The moment of the recall.
        parameters: The half-life.
    """
    since = memory.event_time if known is None else known.last
    days = max(0.0, (now - since).total_seconds() / _DAY_S)
    return float(2.0 ** (-days / parameters.half_life_days))


def frequency(known: Retrievals | None) -> float:
    """Equation 3: a tenth of the logarithm of the number of returns, at most 1."""
    return 0.0 if known is None else min(1.0, math.log(known.number + 1) / _LOG_CAP)


def normalised(scores: FeatureVector) -> FeatureVector:
    """Equation 4: the sigmoid of the standard score; the unchanged scores if they are almost equal."""
    spread = scores.std()
    return scores if spread < _LEAST_SPREAD else np.asarray(1 / (1 + np.exp(-(scores - scores.mean()) / spread)))


def _reciprocal_ranks(candidates: Sequence[ScoredMemory]) -> dict[str, float]:
    """By memory id, the RRF of the ranks by cosine and by BM25, divided by its maximum."""
    ranks = ranks_of([ScoredMemory(each.memory, each.score, _lists(each)) for each in candidates])
    best = 2 / (RRF_K + 1)
    return {
        memory_id: sum(1 / (RRF_K + of_memory[name]) for name in ("dense", "bm25") if name in of_memory) / best
        for memory_id, of_memory in ranks.items()
    }


def _lists(candidate: ScoredMemory) -> dict[str, float]:
    """The scores of the lists that contain it: always the cosine, and BM25 if it shares a term."""
    return {name: score for name, score in candidate.parts.items() if name == "dense" or (name == "bm25" and score > 0)}
