"""The plan of a recall and the tenant filter, in the words of Qdrant Edge."""

from typing import Any, Final

import qdrant_edge as edge

from retrieval.stores.fusion import RRF_K, HybridPlan, Stage, Summand
from retrieval.stores.layout import BM25, DENSE, LATE, RECORD
from retrieval.stores.scope import Between, Condition, IdIn, OneOf, TenantFilter

_RECORD_ONLY: Final = edge.PayloadSelector.Include([RECORD])


def filter_of(tenant_filter: TenantFilter) -> edge.Filter:
    """The filter of a request."""
    return edge.Filter(must=[_condition(each) for each in tenant_filter.conditions()])


def recall_request(plan: HybridPlan) -> edge.QueryRequest:
    """The one nested request: a formula over the scores of the fused candidates, the tenant filter at every stage."""
    whole = filter_of(plan.filter)
    queries = _queries(plan)

    def stage(name: Stage, prefetches: list[edge.Prefetch] | None = None) -> edge.Prefetch:
        query, params = queries[name]
        return edge.Prefetch(limit=plan.prefetch, query=query, params=params, filter=whole, prefetches=prefetches)

    ranks: Any = edge.Fusion.Rrf(k=RRF_K)
    candidates = [stage(name) for name in plan.stages if name != "late"]
    fused = edge.Prefetch(limit=plan.prefetch, query=ranks, prefetches=candidates, filter=whole)
    return edge.QueryRequest(
        limit=plan.limit,
        query=_formula(plan),
        prefetches=[stage(name, [fused]) for name in plan.stages],
        filter=whole,
        with_payload=_RECORD_ONLY,
    )


def part_requests(plan: HybridPlan, ids: list[str]) -> dict[str, edge.QueryRequest]:
    """What each stage alone says of these points, by the stage's name."""
    narrowed = filter_of(plan.filter.within(ids))
    return {
        name: edge.QueryRequest(limit=len(ids), query=query, filter=narrowed, params=params, with_payload=False)
        for name, (query, params) in _queries(plan).items()
    }


def scroll_request(tenant_filter: TenantFilter, *, start: str | None, limit: int) -> edge.ScrollRequest:
    """Records in the order of their ids, from ``start`` on."""
    return edge.ScrollRequest(offset=start, limit=limit, filter=filter_of(tenant_filter), with_payload=_RECORD_ONLY, with_vector=False)


def _queries(plan: HybridPlan) -> dict[Stage, tuple[edge.Query, edge.SearchParams | None]]:
    # The engine takes any sequence of floats, though its stubs say list.
    late: Any = plan.late
    dense: Any = plan.dense
    every: dict[Stage, tuple[edge.Query, edge.SearchParams | None]] = {
        "late": (edge.Query.Nearest(late, using=LATE), None),
        "dense": (edge.Query.Nearest(dense, using=DENSE), None),
        "bm25": (
            edge.Query.Nearest(edge.SparseVector(plan.terms.indices, plan.terms.values), using=BM25),
            edge.SearchParams(idf=edge.IdfParams(corpus=filter_of(plan.filter.whole_tenant))),
        ),
    }
    return {name: every[name] for name in plan.stages}


def _formula(plan: HybridPlan) -> edge.Formula:
    variables = {name: f"$score[{place}]" for place, name in enumerate(plan.stages)}
    summands = [_product(each, edge.Expression.Variable(variables[each.stage])) for each in plan.formula()]
    return edge.Formula(edge.Expression.Sum(summands), dict.fromkeys(variables.values(), 0.0))


def _product(summand: Summand, score: edge.Expression) -> edge.Expression:
    if summand.half is not None:
        score = edge.Expression.Div(score, edge.Expression.Sum([score, edge.Expression.Constant(summand.half)]), 0.0)
    factors = [edge.Expression.Constant(summand.weight), score]
    if summand.without_late_only:
        factors.append(edge.Expression.Condition(edge.Filter(must_not=[edge.HasVectorCondition(LATE)])))
    return edge.Expression.Mult(factors)


def _condition(condition: Condition) -> Any:
    if isinstance(condition, OneOf):
        match = edge.MatchValue(condition.values[0]) if len(condition.values) == 1 else edge.MatchAny(list(condition.values))
        return edge.FieldCondition(condition.field, match=match)
    if isinstance(condition, Between):
        return edge.FieldCondition(condition.field, range=edge.RangeDateTime(gte=condition.since, lt=condition.until))
    if isinstance(condition, IdIn):
        return edge.HasIdCondition(set(condition.ids))
    return edge.Filter(must_not=[edge.FieldCondition(condition.field, range=edge.RangeDateTime(lte=condition.moment))])
