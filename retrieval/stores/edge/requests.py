"""Translates a query plan and a tenant filter into requests to Qdrant Edge."""

from collections.abc import Collection
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge

from retrieval.stores.collection import BM25, DELETED_AT, DENSE, LATE, POSITION_FIELDS, RECORD
from retrieval.stores.filters import AnyOf, AtOrBelow, Condition, DatetimeRange, Equals, HasId, MatchAny, TenantFilter, TombstoneFilter
from retrieval.stores.query_plan import QueryPlan, Stage

RECORD_ONLY: Final = edge.PayloadSelector.Include([RECORD])
POSITION_ONLY: Final = edge.PayloadSelector.Include([*POSITION_FIELDS, DELETED_AT])


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
    return _stage_request(plan, "dense", filter_of(tenant_filter), limit)


def term_requests(
    plan: QueryPlan, tenant_filter: TenantFilter, limit: int, *, others: Collection[UUID], is_alone: bool
) -> list[edge.QueryRequest]:
    """Requests by terms, for one call: the engine takes the tenant's term statistics, which are half of its work, once in a call.

    Args:
        plan: The query, which has terms.
        tenant_filter: Which points they may be.
        limit: Most points.
        others: Candidates that another stage has found.
        is_alone: The tenant has all of the shard's points: its term statistics are those of the whole, which the engine keeps. At earlier
            positions they are not.

    Returns:
        A request for the best points, and where there are others one for their scores.
    """
    params = None if is_alone and not plan.filter.at else edge.SearchParams(idf=edge.IdfParams(corpus=filter_of(plan.filter.whole_tenant)))
    best = _stage_request(plan, "bm25", filter_of(tenant_filter), limit, params)
    return [best, _stage_request(plan, "bm25", filter_of(tenant_filter, ids=others), len(others), params)] if others else [best]


def score_requests(plan: QueryPlan, ids: list[UUID]) -> dict[Stage, edge.QueryRequest]:
    """A request per stage of vectors, for the scores that it gives these points. Their scores by terms come with the search."""
    points_filter = filter_of(plan.filter, ids=ids)
    return {name: _stage_request(plan, name, points_filter, len(ids)) for name in plan.stages if name != "bm25"}


def scroll_request(tenant_filter: TenantFilter, *, start: str | None, limit: int) -> edge.ScrollRequest:
    """A request for records in the order of their ids. See :meth:`retrieval.stores.edge.shard.Shard.scroll`."""
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


def _stage_request(
    plan: QueryPlan, stage: Stage, points_filter: edge.Filter, limit: int, params: edge.SearchParams | None = None
) -> edge.QueryRequest:
    return edge.QueryRequest(limit=limit, query=_query(plan, stage), filter=points_filter, params=params, with_payload=False)


def _query(plan: QueryPlan, stage: Stage) -> edge.Query:
    # The engine takes any sequence of floats, though its stubs say list.
    late: Any = plan.late
    dense: Any = plan.dense
    match stage:
        case "late":
            return edge.Query.Nearest(late, using=LATE)
        case "dense":
            return edge.Query.Nearest(dense, using=DENSE)
        case "bm25":
            return edge.Query.Nearest(edge.SparseVector(plan.terms.indices, plan.terms.values), using=BM25)


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
