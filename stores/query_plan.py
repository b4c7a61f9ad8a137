"""The hybrid query of a recall, independent of the engine: candidates, stages, and the scoring formula.

Reciprocal rank fusion (RRF, Cormack et al. 2009) merges the dense and the BM25 candidates. Late interaction (VikingMem 3.3, multi-vector
rerank; the MaxSim of ColBERT, Khattab and Zaharia 2020, section 3.3), dense cosine and BM25 score the merged candidates, and the formula
combines these three scores into S_origin. The fused ranks only select the candidates and do not enter the score: a rank holds less
information than its score. On LoCoMo's questions, the three scores found more of the evidence than any combination with ranks.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import numpy as np

from models.embedding.port import Vector
from stores.errors import StoreRejectedError
from stores.filters import MemoryFilter
from stores.lexical_analysis import Terms, query_terms
from stores.points import embedding_problem
from stores.port import RecallQuery

Id = TypeVar("Id", bound=Hashable)

MAX_CANDIDATES: Final = 10_000
"""Most candidates and results of one recall."""

RRF_K: Final = 60
"""The constant k of the RRF paper: a candidate at rank r (from 1) of a list gets 1 / (k + r)."""

LATE_WEIGHT: Final = 0.5
DENSE_WEIGHT: Final = 0.25
BM25_WEIGHT: Final = 0.25
BM25_HALF_SATURATION: Final = 10.0
"""The BM25 score that maps to 0.5: ``x / (x + 10)`` is in [0, 1) and does not need the query's best score."""

Stage = Literal["late", "dense", "bm25"]
"""A query that scores the merged candidates. The parts of a score have the same names."""


@dataclass(frozen=True, slots=True)
class Summand:
    """One summand of the formula: ``weight * x``, or ``weight * x / (x + half_saturation)``, where x is a stage's score.

    x is 0 for a memory that the stage did not score: it lacks the vector, or shares no term with the query.
    """

    weight: float
    stage: Stage
    half_saturation: float | None = None
    only_without_late: bool = False
    """The summand applies only to memories without late vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """One recall, for an engine's adapter."""

    filter: MemoryFilter
    dense: Sequence[float]
    terms: Terms
    """Empty if the query has no words. Then BM25 is omitted."""
    late: Sequence[Sequence[float]]
    """Empty if the model has no late vectors. Then late interaction is omitted."""
    limit: int
    prefetch: int

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that this query can use, in the order of :attr:`score_variables`."""
        usable: dict[Stage, bool] = {"late": bool(self.late), "dense": True, "bm25": bool(self.terms.indices)}
        return tuple(stage for stage, is_usable in usable.items() if is_usable)

    @property
    def candidate_stages(self) -> tuple[Stage, ...]:
        """The stages whose best points are the candidates. Late interaction is too slow for a search; it only re-scores."""
        return tuple(stage for stage in self.stages if stage != "late")

    @property
    def score_variables(self) -> dict[Stage, str]:
        """The variable of each stage's score in the formula."""
        return {stage: f"$score[{index}]" for index, stage in enumerate(self.stages)}

    def formula(self) -> tuple[Summand, ...]:
        """S_origin in [0, 1]: a sum whose weights add up to 1.

        MaxSim is a mean over the query's tokens. Dense cosine replaces late interaction if the memory or the query has no late vectors,
        and BM25 if the query has no terms.
        """
        dense = DENSE_WEIGHT + (0 if self.late else LATE_WEIGHT) + (0 if self.terms.indices else BM25_WEIGHT)
        summands = [Summand(dense, "dense")]
        if self.terms.indices:
            summands.append(Summand(BM25_WEIGHT, "bm25", half_saturation=BM25_HALF_SATURATION))
        if self.late:
            summands.append(Summand(LATE_WEIGHT / len(self.late), "late"))
            summands.append(Summand(LATE_WEIGHT, "dense", only_without_late=True))
        return tuple(summands)


def origin_score(formula: Iterable[Summand], parts: Mapping[str, float]) -> float:
    """S_origin of one memory."""
    score = 0.0
    for term in formula:
        part = parts.get(term.stage, 0.0)
        if term.only_without_late and "late" in parts:
            continue
        score += term.weight * (part if term.half_saturation is None else part / (part + term.half_saturation))
    return score


def fused(rankings: Iterable[Sequence[Id]], limit: int) -> list[Id]:
    """The best ids by reciprocal rank fusion. Of equal ones, an earlier ranking comes first."""
    scores: dict[Id, float] = {}
    for ranking in rankings:
        for rank, each in enumerate(ranking, 1):
            scores[each] = scores.get(each, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)[:limit]


def check_query(query: RecallQuery) -> None:
    """Checks a query.

    Raises:
        StoreRejectedError: If an engine would refuse the query. The message names the problem.
    """
    if not isinstance(query.filter, MemoryFilter):
        raise TypeError(f"a recall needs a MemoryFilter as its filter, got {query.filter!r}")
    for name, value in (("limit", query.limit), ("prefetch", query.prefetch)):
        if not 1 <= value <= MAX_CANDIDATES:
            raise StoreRejectedError(f"a recall's {name} must be in 1..{MAX_CANDIDATES}, got {value}")
    late = query.embedding.late
    if problem := embedding_problem(query.embedding, query.embedding.dense.size, None if late is None else late.shape[-1]):
        raise StoreRejectedError(f"a recall cannot be run: {problem}")


def plan_query(query: RecallQuery) -> QueryPlan:
    """Checks a query and plans it.

    Raises:
        StoreRejectedError: See :func:`check_query`.
    """
    check_query(query)
    late = query.embedding.late
    return QueryPlan(
        filter=query.filter,
        dense=float32_view(query.embedding.dense),
        terms=query_terms(query.text),
        late=[] if late is None else [float32_view(row) for row in late],
        limit=query.limit,
        prefetch=max(query.prefetch, query.limit),
    )


def float32_view(vector: Vector) -> memoryview:
    """The numbers of a vector, 32 bits each, contiguous in memory."""
    return np.ascontiguousarray(vector, dtype=np.float32).data


def clamp_score(score: float) -> float:
    """The score, clamped to [0, 1]: a cosine may be negative, and rounding may exceed 1."""
    return min(1.0, max(0.0, score))
