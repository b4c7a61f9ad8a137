"""How a shard answers a recall: each stage searches candidates, then all stages score them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

import qdrant_edge as edge

from retrieval.errors import StoreUnavailableError
from retrieval.stores.collection import RECORD
from retrieval.stores.edge.requests import candidate_requests, score_requests
from retrieval.stores.query_plan import QueryPlan, Stage, fused, origin_score

CANDIDATES_IN_CALL: Final = 64
"""About so many candidates does one engine call score, in two milliseconds. A recall of 1,000 results would take thirty in one call."""


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """One result of a query."""

    record: str
    score: float
    parts: dict[str, float]


def best(pieces: Iterable[Sequence[ScoredRecord]], limit: int) -> list[ScoredRecord]:
    """The best matches of all pieces of a recall, best first.

    Args:
        pieces: What :func:`search` yields.
        limit: Most matches.
    """
    return sorted(chain.from_iterable(pieces), key=lambda each: -each.score)[:limit]


def record_of(point: edge.ScoredPoint | edge.Record) -> str:
    """The memory's record, as a point's payload holds it.

    Raises:
        StoreUnavailableError: If the engine left it out.
    """
    payload = point.payload
    if payload is None:
        raise StoreUnavailableError(f"the engine gave point {point.id} without its record")
    return str(payload[RECORD])


def search(plan: QueryPlan, *, engine: Callable[[], edge.EdgeShard | None], explain: bool) -> Iterator[list[ScoredRecord]]:
    """Searches candidates and scores them. Between two calls of the engine it yields, so that calls for others can come in between.

    A candidate's score does not depend on the other candidates. A point that is written or deleted meanwhile is found as it is when
    it is scored.

    Args:
        plan: The query.
        engine: Gives the engine of this moment; None once the shard is dropped: there is nothing to find any more.
        explain: Asks for the parts of the scores.

    Yields:
        An empty piece after each call of the engine but the last; then all matches, in no order: :func:`best` puts them in one.
    """
    # Candidates are searched without what nearly all pass, and scored with it. Only where one does not pass, the search misses another.
    for searched in dict.fromkeys((plan.filter.without_upkeep, plan.filter)):
        rankings: list[list[str]] = []
        for request in candidate_requests(plan, searched):
            if (shard := engine()) is None:
                return
            rankings.append([str(point.id) for point in shard.query(request)])
            yield []
        candidates = fused(rankings, plan.prefetch)
        scored: list[ScoredRecord] = []
        for start, end in pairwise(_cuts(len(candidates))):
            if start:
                yield []
            if (shard := engine()) is None:
                return
            scored += _scored(shard, plan, candidates[start:end], explain)
        if len(scored) == len(candidates):
            break
    yield scored


def _scored(shard: edge.EdgeShard, plan: QueryPlan, ids: list[str], explain: bool) -> list[ScoredRecord]:
    # Requests of one filter in one call: the engine looks up once which points pass it. Three filters, each for the points that its
    # stage has not scored in the search, took longer.
    requests, formula = score_requests(plan, ids), plan.formula()
    records: dict[str, str] = {}
    parts: dict[str, dict[Stage, float]] = {each: {} for each in ids}
    for stage, points in zip(requests, shard.query_batch(edge.QueryBatchRequest([*requests.values()])), strict=True):
        for point in points:
            point_id = str(point.id)
            parts[point_id][stage] = point.score
            if stage == "dense":
                records[point_id] = record_of(point)
    return [
        ScoredRecord(
            record, origin_score(formula, parts[each]), {str(stage): score for stage, score in parts[each].items()} if explain else {}
        )
        for each, record in records.items()
    ]


def _cuts(candidates: int) -> list[int]:
    """Where candidates are cut into calls of nearly one size: a call for the last few would cost nearly as much as one for all."""
    calls = max(1, round(candidates / CANDIDATES_IN_CALL))
    return [candidates * each // calls for each in range(calls + 1)] if candidates else []
