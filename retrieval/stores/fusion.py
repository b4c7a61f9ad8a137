"""What one recall asks of an engine, in no engine's own words: candidates, stages, and the formula at the root.

Dense and BM25 candidates are fused by reciprocal ranks (RRF, Cormack et al. 2009); the fused ones are rescored by late interaction
(VikingMem 3.3, multi-vector rerank; the MaxSim of ColBERT, Khattab and Zaharia 2020, section 3.3) and by dense cosine; a formula at
the root mixes the three into S_origin.
"""

from dataclasses import dataclass
from typing import Final, Literal

from retrieval.stores.lexical import Terms
from retrieval.stores.scope import TenantFilter

RRF_K: Final = 60
"""The constant of RRF, as its paper has it: a candidate at rank r (from 1) of a list gets 1 / (k + r)."""

LATE_WEIGHT: Final = 0.5
DENSE_WEIGHT: Final = 0.2
FUSED_WEIGHT: Final = 0.3

Variable = Literal["late", "dense", "fused"]

STAGES: Final[tuple[Variable, ...]] = ("late", "dense", "fused")
"""The prefetches below the root, in the order that the formula counts them by."""


@dataclass(frozen=True, slots=True)
class Summand:
    """One part of the formula: a factor times a stage's score, which is 0 for a memory that the stage did not score."""

    factor: float
    variable: Variable
    without_late_only: bool = False
    """It counts only for memories that have no late vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridPlan:
    """One recall, ready for an engine."""

    filter: TenantFilter
    dense: list[float]
    terms: Terms
    """Empty where the query has no words: then no BM25 candidates are asked for."""
    late: list[list[float]]
    """Empty where the model gives no late vectors: then nothing is rescored by them."""
    limit: int
    prefetch: int

    @property
    def stages(self) -> tuple[Variable, ...]:
        """The stages that this query can use."""
        return tuple(each for each in STAGES if each != "late" or self.late)

    def formula(self) -> tuple[Summand, ...]:
        """S_origin, a sum of parts that each lie in [0, 1] before their weights, which add up to 1.

        MaxSim is a mean over the query's tokens, the fused rank is divided by the best that it can be, and where a memory or the
        query has no late vectors the dense cosine stands in for MaxSim.
        """
        best_fused = (2 if self.terms.indices else 1) / (RRF_K + 1)
        fused = Summand(FUSED_WEIGHT / best_fused, "fused")
        if not self.late:
            return (Summand(LATE_WEIGHT + DENSE_WEIGHT, "dense"), fused)
        return (
            Summand(LATE_WEIGHT / len(self.late), "late"),
            Summand(LATE_WEIGHT, "dense", without_late_only=True),
            Summand(DENSE_WEIGHT, "dense"),
            fused,
        )


def clamped(score: float) -> float:
    """A score held in [0, 1]: cosines may be slightly negative, rounding may exceed 1."""
    return min(1.0, max(0.0, score))
