"""Executes a recall on a shard: each stage searches candidates, then all stages score them."""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
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
from stores.errors import StoreError
from stores.filters import MemoryFilter
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


class _ShardDroppedError(StoreError):
    """The shard was dropped during the search."""


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

    def shard() -> edge.EdgeShard:
        current = engine()
        if current is None:
            raise _ShardDroppedError
        return current

    with suppress(_ShardDroppedError):
        # The search omits the conditions that nearly all points pass; the scoring checks them. If a candidate then fails, the search may
        # have missed another one, and is repeated with all conditions. Points of other kinds are common, so the search asks for more
        # candidates.
        rough = plan.filter.without_liveness
        are_many = shard().count(count_request(rough)) > MANY
        if are_many:
            rough = rough.of_other_kinds_too
        scored: list[ScoredRecord] = []
        for searched in dict.fromkeys((rough, plan.filter)):
            attempt = _Search(plan, searched, shard=shard, records=records, weights=weights, is_coarse=are_many)
            candidates = yield from attempt.candidates()
            if candidates is None:
                continue
            scored = yield from attempt.scored(candidates, explain=explain)
            if len(scored) == len(candidates):
                break
        yield scored


class _Search:
    """A search for candidates among the points that pass one filter, and their scores. Its generators yield between two engine calls.

    Args:
        plan: The query.
        searched: The filter of the search. It may pass more points than the filter of the query.
        shard: Returns the current engine, or raises :class:`_ShardDroppedError`.
        records: The shard's cached records.
        weights: The weights of the shard's terms.
        is_coarse: Whether to compare coarse vectors first.
    """

    def __init__(
        self,
        plan: QueryPlan,
        searched: MemoryFilter,
        *,
        shard: Callable[[], edge.EdgeShard],
        records: RecordCache,
        weights: TermWeights,
        is_coarse: bool,
    ) -> None:
        self._plan = plan
        self._searched = searched
        self._shard = shard
        self._records = records
        self._weights = weights
        self._is_coarse = is_coarse
        self._has_other_kinds = searched.kinds != plan.filter.kinds
        self._most = max(plan.prefetch + (MARGIN if self._has_other_kinds else 0), FEW)
        self._parts: dict[int, dict[str, float]] = defaultdict(dict)
        """The scores that are known so far, by the numbers of the points' ids."""
        self._are_few = False
        """Whether the search has found all points. A search by terms then scores all of them that have a term of the query."""

    def candidates(self) -> Generator[list[ScoredRecord], None, list[UUID] | None]:
        """The candidates, with their scores by terms; None if points of other kinds took the places of some of them."""
        plan = self._plan
        points = self._shard().query(candidates_request(plan, filter_of(self._searched), self._most, is_coarse=self._is_coarse))
        # Every point has a dense vector.
        self._are_few = len(points) < FEW
        most_by_terms = self._most if self._are_few or self._has_other_kinds else plan.prefetch
        nearest = _found(points[:most_by_terms], "dense", self._parts)
        rankings = [nearest, {}]
        weighted: WeightedTerms | None = None
        if plan.terms.indices and nearest:
            if not self._are_few:
                yield []
            weighted = self._weights.of(plan)
            rankings[1] = self._by_terms(weighted, nearest, most_by_terms)
        if self._has_other_kinds:
            found, passing = rankings, _passing(self._shard(), plan, rankings[0] | rankings[1])
            rankings = [{number: each for number, each in ranking.items() if number in passing} for ranking in found]
            if any(len(every) == self._most and len(left) < plan.prefetch for every, left in zip(found, rankings, strict=True)):
                return None
        ids = rankings[0] | rankings[1]
        candidates = [ids[each] for each in fused([[*ranking][: plan.prefetch] for ranking in rankings], plan.prefetch)]
        if weighted is not None and not (weighted.are_counted or self._are_few):
            self._score_by_terms(weighted, [each for each in candidates if "bm25" not in self._parts[each.int]])
        return candidates

    def _by_terms(self, weighted: WeightedTerms, nearest: Mapping[int, UUID], most: int) -> dict[int, UUID]:
        """The best points by terms. Adds their scores, and those of the nearest points if that costs no further call."""
        shard, best_request = self._shard(), term_request(weighted, filter_of(self._searched), most)
        if not weighted.are_counted or self._are_few:
            return _found(shard.query(best_request), "bm25", self._parts)
        of_nearest = term_request(weighted, filter_of(self._searched, ids=[*nearest.values()]), len(nearest))
        best_by_terms, others = shard.query_batch(edge.QueryBatchRequest([best_request, of_nearest]))
        _found(others, "bm25", self._parts)
        return _found(best_by_terms, "bm25", self._parts)

    def _score_by_terms(self, weighted: WeightedTerms, ids: list[UUID]) -> None:
        if ids:
            request = term_request(weighted, filter_of(self._searched, ids=ids), len(ids))
            _found(self._shard().query(request), "bm25", self._parts)

    def scored(self, candidates: list[UUID], *, explain: bool) -> Generator[list[ScoredRecord], None, list[ScoredRecord]]:
        """The candidates that pass the filter of the query, scored."""
        scored: list[ScoredRecord] = []
        for start, end in pairwise(_cuts(len(candidates))):
            if start or not self._are_few:
                yield []
            scored += _scored(self._shard(), self._plan, candidates[start:end], self._parts, self._records, explain=explain)
        return scored


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
