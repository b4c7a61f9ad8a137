"""Translates a query plan and a tenant filter into requests to Qdrant Edge."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple
from uuid import UUID

import qdrant_edge as edge

from stores.collection import BM25, DELETED_AT, DENSE, LATE, POSITION_FIELDS, RECORD
from stores.conditions import AnyOf, AtOrBelow, Condition, DatetimeRange, Equals, HasId, MatchAny
from stores.filters import TenantFilter, TombstoneFilter
from stores.lexical_analysis import Terms
from stores.query_plan import QueryPlan, Stage

RECORD_ONLY: Final = edge.PayloadSelector.Include([RECORD])
POSITION_ONLY: Final = edge.PayloadSelector.Include([*POSITION_FIELDS, DELETED_AT])


class WeightedTerms(NamedTuple):
    """The terms of a search, and what the engine is to multiply their weights by."""

    terms: Terms
    params: edge.SearchParams | None
    are_counted: bool
    """Whether the engine counts for it how many points have each: half of its work, done once in a call. Else two calls are faster."""


def filter_of(tenant_filter: TenantFilter | TombstoneFilter, *, ids: Collection[UUID] | None = None) -> edge.Filter:
    """The engine's filter.

    Args:
        tenant_filter: What points have to pass.
        ids: Narrows it to these points: the engine takes an id as it has given it sooner than one to read from a text. None: to none.
    """
    conditions = [_condition(each) for each in tenant_filter.conditions()]
    return edge.Filter(must=conditions if ids is None else [*conditions, edge.HasIdCondition({*ids})])


def dense_request(plan: QueryPlan, tenant_filter: TenantFilter, limit: int) -> edge.QueryRequest:
    """A request for the ids of the points that are best by the dense vector.

    Args:
        plan: The query.
        tenant_filter: Which points they may be.
        limit: Most points.
    """
    return _vector_request(plan, "dense", filter_of(tenant_filter), limit)


def term_requests(weighted: WeightedTerms, tenant_filter: TenantFilter, limit: int, *, others: Collection[UUID]) -> list[edge.QueryRequest]:
    """Requests by terms.

    Args:
        weighted: The query's terms.
        tenant_filter: Which points they may be.
        limit: Most points.
        others: Candidates that another stage has found.

    Returns:
        A request for the best points, and where there are others one for their scores.
    """
    best = _term_request(weighted, filter_of(tenant_filter), limit)
    return [best, _term_request(weighted, filter_of(tenant_filter, ids=others), len(others))] if others else [best]


def vector_request(plan: QueryPlan, stage: Stage, ids: Collection[UUID]) -> edge.QueryRequest:
    """A request for the scores that a stage of vectors gives those of some points that pass the whole filter.

    Args:
        plan: The query.
        stage: The stage.
        ids: The points'.
    """
    return _vector_request(plan, stage, filter_of(plan.filter, ids=ids), len(ids))


def scroll_request(tenant_filter: TenantFilter, *, start: str | None, limit: int) -> edge.ScrollRequest:
    """A request for records in the order of their ids. See :meth:`stores.edge.shard.Shard.scroll`."""
    return edge.ScrollRequest(offset=start, limit=limit, filter=filter_of(tenant_filter), with_payload=RECORD_ONLY, with_vector=False)


def ids_request(tenant_filter: TenantFilter, *, limit: int) -> edge.ScrollRequest:
    """A request for the ids alone."""
    return edge.ScrollRequest(limit=limit, filter=filter_of(tenant_filter), with_payload=False, with_vector=False)


def count_request(tenant_filter: TenantFilter) -> edge.CountRequest:
    """A request for about how many points pass the filter; of a single condition it is their number."""
    return edge.CountRequest(exact=False, filter=filter_of(tenant_filter))


def passing_request(tenant_filter: TenantFilter, ids: Collection[UUID]) -> edge.ScrollRequest:
    """A request for those of some points that pass the filter, in no order."""
    return edge.ScrollRequest(limit=len(ids), filter=filter_of(tenant_filter, ids=ids), with_payload=False, with_vector=False)


def _vector_request(plan: QueryPlan, stage: Stage, points_filter: edge.Filter, limit: int) -> edge.QueryRequest:
    # The engine takes any sequence of floats, though its stubs say list.
    vector: Any = plan.late if stage == "late" else plan.dense
    query = edge.Query.Nearest(vector, using=LATE if stage == "late" else DENSE)
    return edge.QueryRequest(limit=limit, query=query, filter=points_filter, with_payload=False)


def _term_request(weighted: WeightedTerms, points_filter: edge.Filter, limit: int) -> edge.QueryRequest:
    vector = edge.SparseVector(weighted.terms.indices, weighted.terms.values)
    query = edge.Query.Nearest(vector, using=BM25)
    return edge.QueryRequest(limit=limit, query=query, filter=points_filter, params=weighted.params, with_payload=False)


def _condition(condition: Condition) -> Any:
    if isinstance(condition, MatchAny):
        match = edge.MatchValue(condition.values[0]) if len(condition.values) == 1 else edge.MatchAny(list(condition.values))
        return edge.FieldCondition(condition.field, match=match)
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
