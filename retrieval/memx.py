"""MemX's ranking and its rejection (MemX 3.4, 3.6): four weighted factors, a sigmoid of their standard score, and an honest nothing.

What differs from the paper: the RRF score is divided by the best that there can be, since at its own size (at most .033) the weight of
meaning would count for nothing beside recency; a memory's own time stands for ``created_at``; and only one result a tag signature (3.5) is
not kept to, since it would hide updates.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from memory.records import Memory
from retrieval.candidate_outcome import ranks_of
from retrieval.feature_vector import FeatureVector
from runtime.retrieval_counts import Retrievals
from stores.port import ScoredMemory
from stores.query_plan import RRF_K

_DAY_S: Final = 86400
_LOG_CAP: Final = 10
_LEAST_SPREAD: Final = 1e-6
"""Of the composite scores; below, they are left as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemXProfile:
    """``score = a_s * semantic + a_r * recency + a_f * frequency + a_i * importance`` (equation 1), and when to return nothing."""

    semantic: float = 0.45
    recency: float = 0.25
    frequency: float = 0.05
    importance: float = 0.10
    half_life_days: float = 30.0
    """In which the recency halves."""
    least_similarity: float = 0.5
    """Where no word of the query is in any candidate, and the best cosine is lower, nothing is returned."""


MEMX: Final = MemXProfile()
"""With the paper's values (table 1, 3.4, 3.6)."""


def is_answered(candidates: Sequence[ScoredMemory], profile: MemXProfile) -> bool:
    """Whether any candidate shares a word with the query, or is near enough to it (3.6).

    Args:
        candidates: With the parts of their scores.
        profile: The threshold.
    """
    if any(each.parts.get("bm25", 0.0) > 0 for each in candidates):
        return True
    return max((each.parts.get("dense", 0.0) for each in candidates), default=0.0) >= profile.least_similarity


def ranked(
    candidates: Sequence[ScoredMemory], profile: MemXProfile, *, retrievals: Mapping[str, Retrievals], now: datetime, explain: bool
) -> list[ScoredMemory]:
    """The candidates with the sigmoid of their standard score as S_origin (equations 1 to 4).

    Args:
        candidates: With the parts of their scores.
        profile: The weights.
        retrievals: How often, and when last, a memory was returned by such a recall, by id; what was never returned is missing.
        now: The time.
        explain: Whether they keep the parts of their scores, and get what each factor adds.
    """
    if not candidates:
        return []
    semantic = _reciprocal_ranks(candidates)
    added = [
        {
            "memx_semantic": profile.semantic * semantic[each.memory.id],
            "memx_recency": profile.recency * recency(each.memory, retrievals.get(each.memory.id), now=now, profile=profile),
            "memx_frequency": profile.frequency * frequency(retrievals.get(each.memory.id)),
            "memx_importance": profile.importance * each.memory.importance,
        }
        for each in candidates
    ]
    scores = normalised(np.array([sum(each.values()) for each in added])).tolist()
    return [
        ScoredMemory(each.memory, score, each.parts | factors if explain else {})
        for each, score, factors in zip(candidates, scores, added, strict=True)
    ]


def recency(memory: Memory, known: Retrievals | None, *, now: datetime, profile: MemXProfile) -> float:
    """Equation 2: halves in each half-life since the memory was last returned, or else since its own time; 1 for times ahead.

    Args:
        memory: The memory.
        known: How often, and when last, it was returned; None: never.
        now: The time.
        profile: The half-life.
    """
    since = memory.event_time if known is None else known.last
    days = max(0.0, (now - since).total_seconds() / _DAY_S)
    return float(2.0 ** (-days / profile.half_life_days))


def frequency(known: Retrievals | None) -> float:
    """Equation 3: the logarithm of how often the memory was returned, a tenth of it, at most 1."""
    return 0.0 if known is None else min(1.0, math.log(known.number + 1) / _LOG_CAP)


def normalised(scores: FeatureVector) -> FeatureVector:
    """Equation 4: the sigmoid of the standard score; the scores themselves where they hardly differ."""
    spread = scores.std()
    return scores if spread < _LEAST_SPREAD else np.asarray(1 / (1 + np.exp(-(scores - scores.mean()) / spread)))


def _reciprocal_ranks(candidates: Sequence[ScoredMemory]) -> dict[str, float]:
    """By the candidates' ids, RRF of their places by cosine and by BM25, of the best that there can be."""
    places = ranks_of([ScoredMemory(each.memory, each.score, _lists(each)) for each in candidates])
    best = 2 / (RRF_K + 1)
    return {
        memory_id: sum(1 / (RRF_K + of_memory[name]) for name in ("dense", "bm25") if name in of_memory) / best
        for memory_id, of_memory in places.items()
    }


def _lists(candidate: ScoredMemory) -> dict[str, float]:
    """The scores by which it is in a list: by cosine always, by BM25 where it shares a term."""
    return {name: score for name, score in candidate.parts.items() if name == "dense" or (name == "bm25" and score > 0)}
