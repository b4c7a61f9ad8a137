"""The plan of a recall and the tenant filter, in the words of a Qdrant server."""

from typing import Any

from qdrant_client import models

from retrieval.stores.fusion import RRF_K, HybridPlan, Summand
from retrieval.stores.layout import BM25, DENSE, LATE, RECORD
from retrieval.stores.scope import Between, Condition, IdIn, OneOf, TenantFilter


def filter_of(tenant_filter: TenantFilter) -> models.Filter:
    """The filter of a request."""
    return models.Filter(must=[_condition(each) for each in tenant_filter.conditions()])


def recall_arguments(plan: HybridPlan) -> dict[str, Any]:
    """The one nested request: a formula over MaxSim, dense cosine and fused ranks, the tenant filter at every stage."""
    whole = filter_of(plan.filter)
    candidates = [models.Prefetch(query=plan.dense, using=DENSE, limit=plan.prefetch, filter=whole)]
    if plan.terms.indices:
        candidates.append(
            models.Prefetch(query=_sparse(plan), using=BM25, limit=plan.prefetch, filter=whole, params=_tenant_idf(plan)),
        )
    fused = models.Prefetch(query=models.RrfQuery(rrf=models.Rrf(k=RRF_K)), prefetch=candidates, limit=plan.prefetch, filter=whole)
    stages = {
        "fused": fused,
        "dense": models.Prefetch(query=plan.dense, using=DENSE, prefetch=[fused], limit=plan.prefetch, filter=whole),
        "late": models.Prefetch(query=plan.late, using=LATE, prefetch=[fused], limit=plan.prefetch, filter=whole),
    }
    return {
        "query": _formula(plan),
        "prefetch": [stages[each] for each in plan.stages],
        "query_filter": whole,
        "limit": plan.limit,
        "with_payload": [RECORD],
    }


def part_requests(plan: HybridPlan, ids: list[str]) -> dict[str, models.QueryRequest]:
    """What each stage alone says of these points, by the name of the part."""
    narrowed = filter_of(plan.filter.within(ids))

    def one(query: Any, using: str, params: models.SearchParams | None = None) -> models.QueryRequest:
        return models.QueryRequest(query=query, using=using, filter=narrowed, limit=len(ids), params=params, with_payload=False)

    requests = {"dense": one(plan.dense, DENSE)}
    if plan.terms.indices:
        requests["bm25"] = one(_sparse(plan), BM25, _tenant_idf(plan))
    if plan.late:
        requests["late"] = one(plan.late, LATE)
    return requests


def _sparse(plan: HybridPlan) -> models.SparseVector:
    return models.SparseVector(indices=plan.terms.indices, values=plan.terms.values)


def _tenant_idf(plan: HybridPlan) -> models.SearchParams:
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=filter_of(plan.filter.whole_tenant)))


def _formula(plan: HybridPlan) -> models.FormulaQuery:
    variables = {name: f"$score[{place}]" for place, name in enumerate(plan.stages)}
    summands = [_product(each, variables[each.variable]) for each in plan.formula()]
    return models.FormulaQuery(formula=models.SumExpression(sum=summands), defaults=dict.fromkeys(variables.values(), 0.0))


def _product(summand: Summand, variable: str) -> models.MultExpression:
    factors: list[models.Expression] = [summand.factor, variable]
    if summand.without_late_only:
        factors.append(models.Filter(must_not=[models.HasVectorCondition(has_vector=LATE)]))
    return models.MultExpression(mult=factors)


def _condition(condition: Condition) -> models.Condition:
    if isinstance(condition, OneOf):
        match = models.MatchValue(value=condition.values[0]) if len(condition.values) == 1 else models.MatchAny(any=list(condition.values))
        return models.FieldCondition(key=condition.field, match=match)
    if isinstance(condition, Between):
        return models.FieldCondition(
            key=condition.field, range=models.DatetimeRange.model_validate({"gte": condition.since, "lt": condition.until})
        )
    if isinstance(condition, IdIn):
        return models.HasIdCondition(has_id=list(condition.ids))
    expired = models.DatetimeRange.model_validate({"lte": condition.moment})
    return models.Filter(must_not=[models.FieldCondition(key=condition.field, range=expired)])
