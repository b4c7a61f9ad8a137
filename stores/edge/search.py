"""Executes a recall on a shard: each stage searches candidates, then all stages score them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Final, NamedTuple
from uuid import UUID

import qdrant_edge as edge

from stores.edge.records import RecordCache, id_of
from stores.edge.requests import (
    RECORD_ONLY,
    WeightedTerms,
    candidates_request,
    count_request,
    filter_of,
    passing_request,
    term_request,
    vector_request,
)
from stores.edge.term_statistics import TermWeights
from stores.query_plan import QueryPlan, Stage, fused, origin_score

CANDIDATES_IN_CALL: Final = 64
"""Approximate number of candidates that one engine call scores, in two milliseconds. 1,000 in one call would take thirty."""

MANY: Final = 4000
"""For more points than this, comparing coarse vectors first takes less time, and so does checking a second condition only on the found
points, afterwards."""
MARGIN: Final = 32
"""Additional candidates of a search that ignores the kinds: about one point in fifty is an entity."""

FEW: Final = 128
"""If fewer points than this pass the filter, the recall is not interrupted: it takes the engine about a millisecond."""


class ScoredRecord(NamedTuple):
    """One result of a query."""

    record: str
    score: float
    parts: dict[str, float]


def best(pieces: Iterable[Sequence[ScoredRecord]], limit: int) -> list[ScoredRecord]:
    """The best matches of all pieces that :func:`search` yields, best first."""
    return sorted(chain.from_iterable(pieces), key=lambda each: -each.score)[:limit]


def search(
    plan: QueryPlan,
    *,
    engine: Callable[[], edge.EdgeShard | None],
    records: RecordCache,
    weights: TermWeights,
    explain: bool,
) -> Iterator[list[ScoredRecord]]:
    """Searches candidates and scores them. It yields between two engine calls, so that calls of other recalls can run.

    A candidate's score does not depend on the other candidates. A point that is written or deleted meanwhile is returned in its state at
    scoring; only its score by terms, which comes from the search, may be that of its old state.

    Args:
        plan: The query.
        engine: Returns the current engine, or None once the shard is dropped: then nothing is found.
        records: The shard's cached records.
        weights: The weights of the shard's terms.
        explain: Whether to return the parts of the scores.

    Yields:
        An empty piece after each engine call except the last, unless the points are few. Then all matches, unordered: see :func:`best`.
    """
    if (shard := engine()) is None:
        return
    # The search omits the conditions that nearly all points pass; the scoring checks them. If a candidate then fails, the search may have
    # missed another one, and is repeated with all conditions. Points of other kinds are common, so the search asks for more candidates.
    rough = plan.filter.without_liveness
    are_many = shard.count(count_request(rough)) > MANY
    if are_many:
        rough = rough.of_other_kinds_too
    for searched in dict.fromkeys((rough, plan.filter)):
        if (shard := engine()) is None:
            return
        has_other_kinds = searched.kinds != plan.filter.kinds
        most = max(plan.prefetch + (MARGIN if has_other_kinds else 0), FEW)
        parts: dict[int, dict[str, float]] = defaultdict(dict)
        points_filter = filter_of(searched)
        points = shard.query(candidates_request(plan, points_filter, most, is_coarse=are_many))
        # Every point has a dense vector. If these are all points, the search by terms scores all of them that have a term of the query.
        are_few = len(points) < FEW
        most_by_terms = most if are_few or has_other_kinds else plan.prefetch
        nearest = _found(points[:most_by_terms], "dense", parts)
        rankings = [nearest, {}]
        weighted: WeightedTerms | None = None
        if plan.terms.indices and nearest:
            if not are_few:
                yield []
            if (shard := engine()) is None:
                return
            weighted = weights.of(plan)
            best_request = term_request(weighted, points_filter, most_by_terms)
            if weighted.are_counted and not are_few:
                of_nearest = term_request(weighted, filter_of(searched, ids=[*nearest.values()]), len(nearest))
                best_by_terms, others = shard.query_batch(edge.QueryBatchRequest([best_request, of_nearest]))
                _found(others, "bm25", parts)
            else:
                best_by_terms = shard.query(best_request)
            rankings[1] = _found(best_by_terms, "bm25", parts)
        if has_other_kinds:
            if (shard := engine()) is None:
                return
            found, passing = rankings, _passing(shard, plan, rankings[0] | rankings[1])
            rankings = [{number: each for number, each in ranking.items() if number in passing} for ranking in found]
            if any(len(every) == most and len(left) < plan.prefetch for every, left in zip(found, rankings, strict=True)):
                continue
        ids = rankings[0] | rankings[1]
        candidates = [ids[each] for each in fused([[*ranking][: plan.prefetch] for ranking in rankings], plan.prefetch)]
        if weighted is not None and not (weighted.are_counted or are_few):
            unscored = [each for each in candidates if "bm25" not in parts[each.int]]
            if unscored:
                _found(shard.query(term_request(weighted, filter_of(searched, ids=unscored), len(unscored))), "bm25", parts)
        scored: list[ScoredRecord] = []
        for start, end in pairwise(_cuts(len(candidates))):
            if start or not are_few:
                yield []
            if (shard := engine()) is None:
                return
            scored += _scored(shard, plan, candidates[start:end], parts, records, explain=explain)
        if len(scored) == len(candidates):
            break
    yield scored


def _passing(shard: edge.EdgeShard, plan: QueryPlan, ids: Mapping[int, UUID]) -> Set[int]:
    """The points that pass the whole filter, as the numbers of their ids."""
    found, _ = shard.scroll(passing_request(plan.filter, [*ids.values()]))
    return {id_of(each).int for each in found}


def _found(points: Iterable[edge.ScoredPoint], stage: Stage, parts: Mapping[int, dict[str, float]]) -> dict[int, UUID]:
    """The points' ids by number, in order. Adds the scores to ``parts``."""
    found: dict[int, UUID] = {}
    for point in points:
        point_id = id_of(point)
        found[point_id.int] = point_id
        parts[point_id.int][stage] = point.score
    return found


def _scored(
    shard: edge.EdgeShard,
    plan: QueryPlan,
    ids: list[UUID],
    parts: Mapping[int, dict[str, float]],
    records: RecordCache,
    *,
    explain: bool,
) -> list[ScoredRecord]:
    """The points that pass the whole filter, scored. Adds the missing scores to ``parts``."""
    stages: tuple[Stage, ...] = ("dense", "late") if plan.late else ("dense",)
    passing: dict[int, UUID] = {}
    if plan.late and all("dense" in parts[each.int] for each in ids):
        # Only late interaction is missing. Some points may have no late vectors.
        points_filter = filter_of(plan.filter, ids=ids)
        passing = _found(shard.query(vector_request(plan, "late", points_filter, len(ids))), "late", parts)
        ids, stages = [each for each in ids if each.int not in passing], ("dense",)
    if ids:
        # Requests with one filter in one call: the engine evaluates the filter once. Two filters, each for the points that its stage has
        # not scored in the search, were slower.
        points_filter = filter_of(plan.filter, ids=ids)
        requests = [vector_request(plan, each, points_filter, len(ids)) for each in stages]
        found = [
            _found(points, stage, parts) for stage, points in zip(stages, shard.query_batch(edge.QueryBatchRequest(requests)), strict=True)
        ]
        passing |= found[0]  # every point has a dense vector
    texts = records.of([*passing.values()], lambda missing: shard.retrieve([*missing], RECORD_ONLY, False))
    formula = plan.formula()
    return [ScoredRecord(texts[each], origin_score(formula, parts[each]), parts[each] if explain else {}) for each in passing]


def _cuts(candidates: int) -> list[int]:
    """The boundaries of calls of nearly equal size: a call for the last few candidates would cost almost as much as one for all."""
    calls = max(1, round(candidates / CANDIDATES_IN_CALL))
    return [candidates * each // calls for each in range(calls + 1)] if candidates else []
