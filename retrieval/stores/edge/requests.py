"""Translates a query plan and a tenant filter into requests to Qdrant Edge."""

from typing import Any, Final

import qdrant_edge as edge

from retrieval.stores.collection import BM25, DELETED_AT, DENSE, LATE, POSITION_FIELDS, RECORD
from retrieval.stores.filters import Condition, DatetimeRange, HasId, MatchAny, TenantFilter, TombstoneFilter
from retrieval.stores.query_plan import RRF_K, QueryPlan, Stage, Summand

_RECORD_ONLY: Final = edge.PayloadSelector.Include([RECORD])
POSITION_ONLY: Final = edge.PayloadSelector.Include([*POSITION_FIELDS, DELETED_AT])


def filter_of(tenant_filter: TenantFilter | TombstoneFilter) -> edge.Filter:
    """The engine's filter."""
    return edge.Filter(must=[_condition(each) for each in tenant_filter.conditions()])


def candidates_request(plan: QueryPlan) -> edge.QueryRequest:
    """The ids of the fused candidates, best first. Every stage bears the tenant filter."""
    tenant_filter = filter_of(plan.filter)
    queries = _queries(plan)
    rrf: Any = edge.Fusion.Rrf(k=RRF_K)
    return edge.QueryRequest(
        limit=plan.prefetch,
        query=rrf,
        prefetches=[_prefetch(queries[name], tenant_filter, plan.prefetch) for name in plan.candidate_stages],
        filter=tenant_filter,
        with_payload=False,
    )


def score_request(plan: QueryPlan, ids: list[str]) -> edge.QueryRequest:
    """Some candidates with their records and scores: a formula over what each stage scores them."""
    points_filter = filter_of(plan.filter.within(ids))
    queries = _queries(plan)
    return edge.QueryRequest(
        limit=len(ids),
        query=_formula(plan),
        prefetches=[_prefetch(queries[name], points_filter, len(ids)) for name in plan.stages],
        filter=points_filter,
        with_payload=_RECORD_ONLY,
    )


def score_part_requests(plan: QueryPlan, ids: list[str]) -> dict[str, edge.QueryRequest]:
    """A request per stage, for the score that the stage alone gives these points."""
    points_filter = filter_of(plan.filter.within(ids))
    return {
        name: edge.QueryRequest(limit=len(ids), query=query, filter=points_filter, params=params, with_payload=False)
        for name, (query, params) in _queries(plan).items()
    }


def scroll_request(tenant_filter: TenantFilter, *, start: str | None, limit: int) -> edge.ScrollRequest:
    """A request for records in the order of their ids. See :meth:`retrieval.stores.edge.shard.Shard.scroll`."""
    return edge.ScrollRequest(offset=start, limit=limit, filter=filter_of(tenant_filter), with_payload=_RECORD_ONLY, with_vector=False)


def ids_request(tenant_filter: TenantFilter, *, limit: int) -> edge.ScrollRequest:
    """A request for the ids alone."""
    return edge.ScrollRequest(limit=limit, filter=filter_of(tenant_filter), with_payload=False, with_vector=False)


def _prefetch(query: tuple[edge.Query, edge.SearchParams | None], points_filter: edge.Filter, limit: int) -> edge.Prefetch:
    return edge.Prefetch(limit=limit, query=query[0], params=query[1], filter=points_filter)


def _queries(plan: QueryPlan) -> dict[Stage, tuple[edge.Query, edge.SearchParams | None]]:
    # The engine takes any sequence of floats, though its stubs say list.
    late: Any = plan.late
    dense: Any = plan.dense
    by_stage: dict[Stage, tuple[edge.Query, edge.SearchParams | None]] = {
        "late": (edge.Query.Nearest(late, using=LATE), None),
        "dense": (edge.Query.Nearest(dense, using=DENSE), None),
        "bm25": (
            edge.Query.Nearest(edge.SparseVector(plan.terms.indices, plan.terms.values), using=BM25),
            edge.SearchParams(idf=edge.IdfParams(corpus=filter_of(plan.filter.whole_tenant))),
        ),
    }
    return {name: by_stage[name] for name in plan.stages}


def _formula(plan: QueryPlan) -> edge.Formula:
    variables = plan.score_variables
    summands = [_product(each, edge.Expression.Variable(variables[each.stage])) for each in plan.formula()]
    return edge.Formula(edge.Expression.Sum(summands), dict.fromkeys(variables.values(), 0.0))


def _product(summand: Summand, score: edge.Expression) -> edge.Expression:
    if summand.half_saturation is not None:
        score = edge.Expression.Div(score, edge.Expression.Sum([score, edge.Expression.Constant(summand.half_saturation)]), 0.0)
    factors = [edge.Expression.Constant(summand.weight), score]
    if summand.only_without_late:
        factors.append(edge.Expression.Condition(edge.Filter(must_not=[edge.HasVectorCondition(LATE)])))
    return edge.Expression.Mult(factors)


def _condition(condition: Condition) -> Any:
    if isinstance(condition, MatchAny):
        match = edge.MatchValue(condition.values[0]) if len(condition.values) == 1 else edge.MatchAny(list(condition.values))
        return edge.FieldCondition(condition.field, match=match)
    if isinstance(condition, DatetimeRange):
        return edge.FieldCondition(condition.field, range=edge.RangeDateTime(gte=condition.since, lt=condition.until))
    if isinstance(condition, HasId):
        return edge.HasIdCondition(set(condition.ids))
    return edge.Filter(must_not=[edge.FieldCondition(condition.field, range=edge.RangeDateTime(lte=condition.moment))])
