"""What one recall asks of an engine, in no engine's own words: candidates, stages, and the formula at the root.

Dense and BM25 candidates are fused by reciprocal ranks (RRF, Cormack et al. 2009). The fused ones are scored by late interaction
(VikingMem 3.3, multi-vector rerank; the MaxSim of ColBERT, Khattab and Zaharia 2020, section 3.3), by dense cosine and by BM25, and
the formula at the root mixes these three into S_origin. The fused ranks themselves only choose the candidates: what is left of a score
in a rank is less than the score (on LoCoMo's questions, the three scores found more of the evidence than any mix with the ranks).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from retrieval.stores.lexical import Terms
from retrieval.stores.scope import TenantFilter

RRF_K: Final = 60
"""The constant of RRF, as its paper has it: a candidate at rank r (from 1) of a list gets 1 / (k + r)."""

LATE_WEIGHT: Final = 0.5
DENSE_WEIGHT: Final = 0.25
BM25_WEIGHT: Final = 0.25
BM25_HALF: Final = 10.0
"""The BM25 score that counts half: ``x / (x + BM25_HALF)`` brings it into [0, 1) without knowing the best score of the query."""

Stage = Literal["late", "dense", "bm25"]
"""What scores the fused candidates; also the names of a score's parts."""


@dataclass(frozen=True, slots=True)
class Summand:
    """One part of the formula: ``weight * x``, or ``weight * x / (x + half)``, of a stage's score x.

    A memory that the stage did not score (it lacks the vector, or shares no term) has x = 0.
    """

    weight: float
    stage: Stage
    half: float | None = None
    without_late_only: bool = False
    """It counts only for memories that have no late vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridPlan:
    """One recall, ready for an engine."""

    filter: TenantFilter
    dense: Sequence[float]
    terms: Terms
    """Empty where the query has no words: then BM25 is left out."""
    late: Sequence[Sequence[float]]
    """Empty where the model gives no late vectors: then late interaction is left out."""
    limit: int
    prefetch: int

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that this query can use, in the order that the formula counts them by."""
        used: dict[Stage, bool] = {"late": bool(self.late), "dense": True, "bm25": bool(self.terms.indices)}
        return tuple(stage for stage, usable in used.items() if usable)

    def formula(self) -> tuple[Summand, ...]:
        """S_origin in [0, 1]: a sum of parts whose weights add up to 1.

        MaxSim is a mean over the query's tokens. Dense cosine stands in for late interaction where the memory or the query has no late
        vectors, and for BM25 where the query has no terms.
        """
        dense = DENSE_WEIGHT + (0 if self.late else LATE_WEIGHT) + (0 if self.terms.indices else BM25_WEIGHT)
        summands = [Summand(dense, "dense")]
        if self.terms.indices:
            summands.append(Summand(BM25_WEIGHT, "bm25", half=BM25_HALF))
        if self.late:
            summands.append(Summand(LATE_WEIGHT / len(self.late), "late"))
            summands.append(Summand(LATE_WEIGHT, "dense", without_late_only=True))
        return tuple(summands)


def clamped(score: float) -> float:
    """A score held in [0, 1]: cosines may be negative, and rounding may exceed 1."""
    return min(1.0, max(0.0, score))
