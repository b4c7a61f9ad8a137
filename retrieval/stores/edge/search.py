"""How a shard answers a recall: each stage searches candidates, then all stages score them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Final, NamedTuple
from uuid import UUID

import qdrant_edge as edge

from retrieval.stores.edge.records import KeptRecords, id_of
from retrieval.stores.edge.requests import RECORD_ONLY, count_request, dense_request, passing_request, score_requests, term_requests
from retrieval.stores.query_plan import QueryPlan, fused, origin_score

CANDIDATES_IN_CALL: Final = 64
"""About so many candidates does one engine call score, in two milliseconds. A recall of 1,000 results would take thirty in one call."""

MANY: Final = 4000
"""To hold a second condition against so many points takes the engine longer than to look afterwards at those that it found."""
MARGIN: Final = 32
"""Candidates beyond those that are wanted, where some are of other kinds: a point in fifty is an entity, about."""

FEW: Final = 128
"""Where fewer points than these pass the filter, nothing comes in between: all of it takes the engine about a millisecond."""


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
        An empty piece after each call of the engine but the last, unless the points are few; then all matches, in no order: :func:`best`
        puts them in one.
    """
    if (shard := engine()) is None:
        return
    # Candidates are searched without what nearly all pass, and scored with it. Only where one does not pass, the search misses another; of
    # other kinds there are some nearly always, and so many more are searched that enough are left without them.
    rough = plan.filter.without_upkeep
    if rough.of_other_kinds_too != rough and shard.count(count_request(plan.filter.owners)) > MANY:
        rough = rough.of_other_kinds_too
    for searched in dict.fromkeys((rough, plan.filter)):
        if (shard := engine()) is None:
            return
        has_other_kinds = searched.kinds != plan.filter.kinds
        most = max(plan.prefetch + (MARGIN if has_other_kinds else 0), FEW)
        nearest = {each.int: each for each in map(id_of, shard.query(dense_request(plan, searched, most)))}
        # Every point has a dense vector. Where these are all, the best by terms are all that have one, and none is left to score.
        are_few = len(nearest) < FEW
        most_by_terms = most if are_few or has_other_kinds else plan.prefetch
        by_terms: dict[int, float] = {}
        rankings = [nearest, {}]
        if plan.terms.indices and nearest:
            if not are_few:
                yield []
            if (shard := engine()) is None:
                return
            others = () if are_few else [*nearest.values()][:most_by_terms]
            requests = term_requests(plan, searched, most_by_terms, others=others, is_alone=tenants <= {plan.filter.scope.tenant})
            rankings[1] = _found_by_terms(shard, requests, by_terms)
        if has_other_kinds:
            if (shard := engine()) is None:
                return
            found, passing = rankings, _passing(shard, plan, rankings[0] | rankings[1])
            rankings = [{number: each for number, each in ranking.items() if number in passing} for ranking in found]
            if any(len(every) == most and len(left) < plan.prefetch for every, left in zip(found, rankings, strict=True)):
                continue
        ids = rankings[0] | rankings[1]
        candidates = [ids[each] for each in fused([[*ranking][: plan.prefetch] for ranking in rankings], plan.prefetch)]
        scored: list[ScoredRecord] = []
        for start, end in pairwise(_cuts(len(candidates))):
            if start or not are_few:
                yield []
            if (shard := engine()) is None:
                return
            scored += _scored(shard, plan, candidates[start:end], by_terms, records, explain)
        if len(scored) == len(candidates):
            break
    yield scored


def _passing(shard: edge.EdgeShard, plan: QueryPlan, ids: Mapping[int, UUID]) -> Set[int]:
    """Which of some points pass the whole filter, by the numbers of their ids."""
    found, _ = shard.scroll(passing_request(plan.filter, [*ids.values()]))
    return {id_of(each).int for each in found}


def _found_by_terms(shard: edge.EdgeShard, requests: list[edge.QueryRequest], scores: dict[int, float]) -> dict[int, UUID]:
    """The points that are best by terms, in that order. Puts their scores into ``scores``, and those of the others."""
    best_points, *others = shard.query_batch(edge.QueryBatchRequest(requests))
    found: dict[int, UUID] = {}
    for point in best_points:
        point_id = id_of(point)
        found[point_id.int] = point_id
        scores[point_id.int] = point.score
    for point in chain.from_iterable(others):
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
