"""How a shard answers a recall: each stage searches candidates, then all stages score them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Final, NamedTuple
from uuid import UUID

import qdrant_edge as edge

from stores.edge.records import KeptRecords, id_of
from stores.edge.requests import RECORD_ONLY, count_request, dense_request, passing_request, term_requests, vector_request
from stores.edge.term_weights import TermWeights
from stores.query_plan import QueryPlan, Stage, fused, origin_score

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
    weights: TermWeights,
    explain: bool,
) -> Iterator[list[ScoredRecord]]:
    """Searches candidates and scores them. Between two calls of the engine it yields, so that calls for others can come in between.

    A candidate's score does not depend on the other candidates. A point that is written or deleted meanwhile is found as it is when
    it is scored; a score that came with the search, that by terms, may be that of what it was.

    Args:
        plan: The query.
        engine: Gives the engine of this moment; None once the shard is dropped: there is nothing to find any more.
        records: Those of the shard.
        weights: Those of the shard's terms.
        explain: Asks for the parts of the scores.

    Yields:
        An empty piece after each call of the engine but the last, unless the points are few; then all matches, in no order: :func:`best`
        puts them in one.
    """
    if (shard := engine()) is None:
        return
    # Candidates are searched without what nearly all pass, and scored with it. Only where one does not pass, the search misses another; of
    # other kinds there are some nearly always, and so many more are searched that enough are left without them.
    rough = plan.filter.without_liveness
    if rough.of_other_kinds_too != rough and shard.count(count_request(plan.filter.owners)) > MANY:
        rough = rough.of_other_kinds_too
    for searched in dict.fromkeys((rough, plan.filter)):
        if (shard := engine()) is None:
            return
        has_other_kinds = searched.kinds != plan.filter.kinds
        most = max(plan.prefetch + (MARGIN if has_other_kinds else 0), FEW)
        parts: dict[int, dict[str, float]] = defaultdict(dict)
        points = shard.query(dense_request(plan, searched, most))
        # Every point has a dense vector. Where these are all, the best by terms are all that have one, and none is left to score.
        are_few = len(points) < FEW
        most_by_terms = most if are_few or has_other_kinds else plan.prefetch
        nearest = _found(points[:most_by_terms], "dense", parts)
        rankings = [nearest, {}]
        if plan.terms.indices and nearest:
            if not are_few:
                yield []
            if (shard := engine()) is None:
                return
            others = () if are_few else [*nearest.values()]
            weighted = weights.of(shard, plan)
            requests = term_requests(weighted, searched, most_by_terms, others=others)
            best_by_terms, *rest = (
                shard.query_batch(edge.QueryBatchRequest(requests)) if weighted.are_counted else map(shard.query, requests)
            )
            rankings[1] = _found(best_by_terms, "bm25", parts)
            _found(chain.from_iterable(rest), "bm25", parts)
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
            scored += _scored(shard, plan, candidates[start:end], parts, records, explain)
        if len(scored) == len(candidates):
            break
    yield scored


def _passing(shard: edge.EdgeShard, plan: QueryPlan, ids: Mapping[int, UUID]) -> Set[int]:
    """Which of some points pass the whole filter, by the numbers of their ids."""
    found, _ = shard.scroll(passing_request(plan.filter, [*ids.values()]))
    return {id_of(each).int for each in found}


def _found(points: Iterable[edge.ScoredPoint], stage: Stage, parts: Mapping[int, dict[str, float]]) -> dict[int, UUID]:
    """The ids of points in their order, by their numbers. Puts their scores into ``parts``."""
    found: dict[int, UUID] = {}
    for point in points:
        point_id = id_of(point)
        found[point_id.int] = point_id
        parts[point_id.int][stage] = point.score
    return found


def _scored(
    shard: edge.EdgeShard, plan: QueryPlan, ids: list[UUID], parts: Mapping[int, dict[str, float]], records: KeptRecords, explain: bool
) -> list[ScoredRecord]:
    """Those of some points that pass the whole filter, with all their scores. Puts those into ``parts`` that are missing."""
    stages: tuple[Stage, ...] = ("dense", "late") if plan.late else ("dense",)
    passing: dict[int, UUID] = {}
    if plan.late and all("dense" in parts[each.int] for each in ids):
        # Late interaction alone is left. Some points may lack it.
        passing = _found(shard.query(vector_request(plan, "late", ids)), "late", parts)
        ids, stages = [each for each in ids if each.int not in passing], ("dense",)
    if ids:
        # Requests of one filter in one call: the engine looks up once which points pass it. Two filters, each for the points that its
        # stage has not scored in the search, took longer.
        requests = [vector_request(plan, each, ids) for each in stages]
        found = [
            _found(points, stage, parts) for stage, points in zip(stages, shard.query_batch(edge.QueryBatchRequest(requests)), strict=True)
        ]
        passing |= found[0]  # every point has a dense vector
    texts = records.of([*passing.values()], lambda missing: shard.retrieve([*missing], RECORD_ONLY, False))
    formula = plan.formula()
    return [ScoredRecord(texts[each], origin_score(formula, parts[each]), parts[each] if explain else {}) for each in passing]


def _cuts(candidates: int) -> list[int]:
    """Where candidates are cut into calls of nearly one size: a call for the last few would cost nearly as much as one for all."""
    calls = max(1, round(candidates / CANDIDATES_IN_CALL))
    return [candidates * each // calls for each in range(calls + 1)] if candidates else []
