"""How a shard answers a recall: each stage searches candidates, then all stages score them."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain, pairwise
from typing import Final, NamedTuple
from uuid import UUID

import qdrant_edge as edge

from retrieval.stores.edge.records import KeptRecords, id_of
from retrieval.stores.edge.requests import RECORD_ONLY, dense_request, score_requests, term_requests
from retrieval.stores.query_plan import QueryPlan, fused, origin_score

CANDIDATES_IN_CALL: Final = 64
"""About so many candidates does one engine call score, in two milliseconds. A recall of 1,000 results would take thirty in one call."""


class ScoredRecord(NamedTuple):
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


def search(
    plan: QueryPlan,
    *,
    engine: Callable[[], edge.EdgeShard | None],
    records: KeptRecords,
    tenants: Set[str],
    explain: bool,
) -> Iterator[list[ScoredRecord]]:
    """Searches candidates and scores them. Between two calls of the engine it yields, so that calls for others can come in between.

    A candidate's score does not depend on the other candidates. A point that is written or deleted meanwhile is found as it is when
    its vectors are scored; its score by terms may be that of what it was.

    Args:
        plan: The query.
        engine: Gives the engine of this moment; None once the shard is dropped: there is nothing to find any more.
        records: Those of the shard.
        tenants: Those that have points in the shard, by this moment; of several two are enough.
        explain: Asks for the parts of the scores.

    Yields:
        An empty piece after each call of the engine but the last; then all matches, in no order: :func:`best` puts them in one.
    """
    # Candidates are searched without what nearly all pass, and scored with it. Only where one does not pass, the search misses another.
    for searched in dict.fromkeys((plan.filter.without_upkeep, plan.filter)):
        if (shard := engine()) is None:
            return
        ids = {each.int: each for each in map(id_of, shard.query(dense_request(plan, searched)))}
        rankings = [[*ids]]
        by_terms: dict[int, float] = {}
        if plan.terms.indices and ids:  # every point has a dense vector: where none is found, no other is
            yield []
            if (shard := engine()) is None:
                return
            requests = term_requests(plan, searched, ids.values(), is_alone=tenants <= {plan.filter.scope.tenant})
            found = _found_by_terms(shard, requests, by_terms)
            ids |= found
            rankings.append([*found])
        candidates = [ids[each] for each in fused(rankings, plan.prefetch)]
        scored: list[ScoredRecord] = []
        for start, end in pairwise(_cuts(len(candidates))):
            yield []
            if (shard := engine()) is None:
                return
            scored += _scored(shard, plan, candidates[start:end], by_terms, records, explain)
        if len(scored) == len(candidates):
            break
    yield scored


def _found_by_terms(shard: edge.EdgeShard, requests: list[edge.QueryRequest], scores: dict[int, float]) -> dict[int, UUID]:
    """The points that are best by terms, in that order. Puts their scores into ``scores``, and those of the others."""
    best_points, other_points = shard.query_batch(edge.QueryBatchRequest(requests))
    found: dict[int, UUID] = {}
    for point in best_points:
        point_id = id_of(point)
        found[point_id.int] = point_id
        scores[point_id.int] = point.score
    for point in other_points:
        scores[id_of(point).int] = point.score
    return found


def _scored(
    shard: edge.EdgeShard, plan: QueryPlan, ids: list[UUID], by_terms: dict[int, float], records: KeptRecords, explain: bool
) -> list[ScoredRecord]:
    # Requests of one filter in one call: the engine looks up once which points pass it. Two filters, each for the points that its
    # stage has not scored in the search, took longer.
    requests, formula = score_requests(plan, ids), plan.formula()
    scores: dict[int, dict[str, float]] = {each.int: {} for each in ids}
    passing: list[UUID] = []
    for stage, points in zip(requests, shard.query_batch(edge.QueryBatchRequest([*requests.values()])), strict=True):
        for point in points:
            point_id = id_of(point)
            scores[point_id.int][stage] = point.score
            if stage == "dense":  # every point has that vector
                passing.append(point_id)
    for each in passing:
        if (score := by_terms.get(each.int)) is not None:
            scores[each.int]["bm25"] = score
    texts = records.of(passing, lambda missing: shard.retrieve([*missing], RECORD_ONLY, False))
    return [ScoredRecord(texts[each.int], origin_score(formula, parts := scores[each.int]), parts if explain else {}) for each in passing]


def _cuts(candidates: int) -> list[int]:
    """Where candidates are cut into calls of nearly one size: a call for the last few would cost nearly as much as one for all."""
    calls = max(1, round(candidates / CANDIDATES_IN_CALL))
    return [candidates * each // calls for each in range(calls + 1)] if candidates else []
