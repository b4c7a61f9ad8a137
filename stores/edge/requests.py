"""Translates a query plan and a tenant filter into requests to Qdrant Edge."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple
from uuid import UUID

import qdrant_edge as edge

from stores.collection import (
    BM25,
    DELETED_AT,
    DENSE,
    EVENT_TIME,
    LATE,
    POSITION_FIELDS,
    RECORD,
    AnyOf,
    AtOrBelow,
    Condition,
    DatetimeRange,
    Equals,
    HasId,
    MatchAny,
    NoneOf,
)
from stores.filters import MemoryFilter, TombstoneFilter
from stores.lexical_analysis import Terms
from stores.query_plan import QueryPlan, Stage
from stores.time_order import TimeOrder

RECORD_ONLY: Final = edge.PayloadSelector.Include([RECORD])
POSITION_ONLY: Final = edge.PayloadSelector.Include([*POSITION_FIELDS, DELETED_AT])

OVERSAMPLING: Final = 4.0
"""A search for candidates takes so many times as many points from the coarse copy of the dense vectors, and ranks them by the exact scores.
Of 100,000 random vectors, which are the hardest case, it found the same 96 best as a search of the exact vectors."""
_COARSE: Final = edge.SearchParams(quantization=edge.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING))
_EXACT: Final = edge.SearchParams(quantization=edge.QuantizationSearchParams(ignore=True))


class WeightedTerms(NamedTuple):
    """The terms of a search, and the search parameters with their inverse document frequencies."""

    terms: Terms
    params: edge.SearchParams | None
    are_counted: bool
    """Whether the engine counts the points of each term: half of its work, once per call. Otherwise two calls are faster than one."""


def filter_of(memory_filter: MemoryFilter | TombstoneFilter, *, ids: Collection[UUID] | None = None) -> edge.Filter:
    """The engine's filter.

    Args:
        memory_filter: The conditions.
        ids: Only these points. A UUID object is faster for the engine than a text. None: any.
    """
    conditions = [_condition(each) for each in memory_filter.conditions()]
    return edge.Filter(must=conditions if ids is None else [*conditions, edge.HasIdCondition({*ids})])


def candidates_request(plan: QueryPlan, points_filter: edge.Filter, limit: int, *, is_coarse: bool) -> edge.QueryRequest:
    """A request for the ids and exact scores of the best points by the dense vectors.

    Args:
        plan: The query.
        points_filter: Only points that pass it.
        limit: Most points.
        is_coarse: Whether to compare coarse vectors first. This is faster for thousands of points.
    """
    return _vector_request(plan, "dense", points_filter, limit, _COARSE if is_coarse else _EXACT)


def vector_request(plan: QueryPlan, stage: Stage, points_filter: edge.Filter, limit: int) -> edge.QueryRequest:
    """A request for the exact scores of points by a vector stage."""
    return _vector_request(plan, stage, points_filter, limit, _EXACT)


def _vector_request(plan: QueryPlan, stage: Stage, points_filter: edge.Filter, limit: int, params: edge.SearchParams) -> edge.QueryRequest:
    # The engine accepts any sequence of floats, although its stubs say list.
    vector: Any = plan.late if stage == "late" else plan.dense
    query = edge.Query.Nearest(vector, using=LATE if stage == "late" else DENSE)
    return edge.QueryRequest(limit=limit, query=query, filter=points_filter, params=params, with_payload=False)


def term_request(weighted: WeightedTerms, points_filter: edge.Filter, limit: int) -> edge.QueryRequest:
    """A request for the ids and scores of the best points by terms."""
    vector = edge.SparseVector(weighted.terms.indices, weighted.terms.values)
    query = edge.Query.Nearest(vector, using=BM25)
    return edge.QueryRequest(limit=limit, query=query, filter=points_filter, params=weighted.params, with_payload=False)


def scroll_request(memory_filter: MemoryFilter, *, start: str | None, limit: int) -> edge.ScrollRequest:
    """A request for records, ordered by id. See :meth:`stores.edge.shard.Shard.scroll`."""
    return edge.ScrollRequest(offset=start, limit=limit, filter=filter_of(memory_filter), with_payload=RECORD_ONLY, with_vector=False)


def time_request(memory_filter: MemoryFilter, order: TimeOrder, *, start: str | None, limit: int) -> edge.ScrollRequest:
    """A request for records, ordered by event time. See :meth:`stores.edge.shard.Shard.by_time`."""
    by_time = edge.OrderBy(EVENT_TIME, edge.Direction.Desc if order == "newest" else edge.Direction.Asc, start)
    return edge.ScrollRequest(limit=limit, filter=filter_of(memory_filter), with_payload=RECORD_ONLY, with_vector=False, order_by=by_time)


def ids_request(memory_filter: MemoryFilter, *, limit: int) -> edge.ScrollRequest:
    """A request for ids only."""
    return edge.ScrollRequest(limit=limit, filter=filter_of(memory_filter), with_payload=False, with_vector=False)


def count_request(memory_filter: MemoryFilter) -> edge.CountRequest:
    """A request for the approximate number of points that pass the filter. It is exact for a single condition."""
    return edge.CountRequest(exact=False, filter=filter_of(memory_filter))


def passing_request(memory_filter: MemoryFilter, ids: Collection[UUID]) -> edge.ScrollRequest:
    """A request for the given points that pass the filter, unordered."""
    return edge.ScrollRequest(limit=len(ids), filter=filter_of(memory_filter, ids=ids), with_payload=False, with_vector=False)


def _condition(condition: Condition) -> Any:
    if isinstance(condition, MatchAny):
        match = edge.MatchValue(condition.values[0]) if len(condition.values) == 1 else edge.MatchAny(list(condition.values))
        return edge.FieldCondition(condition.field, match=match)
    if isinstance(condition, NoneOf):
        return edge.Filter(must_not=[edge.FieldCondition(condition.field, match=edge.MatchAny(list(condition.values)))])
    if isinstance(condition, DatetimeRange):
        return edge.FieldCondition(condition.field, range=edge.RangeDateTime(gte=condition.since, lt=condition.until))
    if isinstance(condition, HasId):
        return edge.HasIdCondition(set(condition.ids))
    if isinstance(condition, Equals):
        return edge.FieldCondition(condition.field, match=edge.MatchValue(condition.number))
    if isinstance(condition, AtOrBelow):
        return edge.FieldCondition(condition.field, range=edge.RangeFloat(lte=condition.number))
    if isinstance(condition, AnyOf):
        return edge.Filter(should=[edge.Filter(must=[_condition(each) for each in group]) for group in condition.groups])
    return edge.Filter(must_not=[edge.FieldCondition(condition.field, range=edge.RangeDateTime(lte=condition.moment))])
