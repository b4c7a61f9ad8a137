"""The plan of a recall and the tenant filter, in the words of a Qdrant server."""

from typing import Any

from qdrant_client import models

from retrieval.stores.fusion import RRF_K, HybridPlan, Stage, Summand
from retrieval.stores.layout import LATE, RECORD
from retrieval.stores.scope import Between, Condition, IdIn, OneOf, TenantFilter


def filter_of(tenant_filter: TenantFilter) -> models.Filter:
    """The filter of a request."""
    return models.Filter(must=[_condition(each) for each in tenant_filter.conditions()])


def recall_arguments(plan: HybridPlan) -> dict[str, Any]:
    """The one nested request: a formula over the scores of the fused candidates, the tenant filter at every stage."""
    whole = filter_of(plan.filter)
    queries = _queries(plan)

    def stage(name: Stage, prefetch: list[models.Prefetch] | None = None) -> models.Prefetch:
        query, params = queries[name]
        return models.Prefetch(query=query, using=name, params=params, limit=plan.prefetch, filter=whole, prefetch=prefetch)

    candidates = [stage(name) for name in plan.stages if name != "late"]
    fused = models.Prefetch(query=models.RrfQuery(rrf=models.Rrf(k=RRF_K)), prefetch=candidates, limit=plan.prefetch, filter=whole)
    return {
        "query": _formula(plan),
        "prefetch": [stage(name, [fused]) for name in plan.stages],
        "query_filter": whole,
        "limit": plan.limit,
        "with_payload": [RECORD],
    }


def part_requests(plan: HybridPlan, ids: list[str]) -> dict[str, models.QueryRequest]:
    """What each stage alone says of these points, by the stage's name."""
    narrowed = filter_of(plan.filter.within(ids))
    return {
        name: models.QueryRequest(query=query, using=name, params=params, filter=narrowed, limit=len(ids), with_payload=False)
        for name, (query, params) in _queries(plan).items()
    }


def _queries(plan: HybridPlan) -> dict[Stage, tuple[Any, models.SearchParams | None]]:
    every: dict[Stage, tuple[Any, models.SearchParams | None]] = {
        "late": ([list(row) for row in plan.late], None),
        "dense": (list(plan.dense), None),
        "bm25": (
            models.SparseVector(indices=plan.terms.indices, values=plan.terms.values),
            models.SearchParams(idf=models.IdfCorpusParams(corpus=filter_of(plan.filter.whole_tenant))),
        ),
    }
    return {name: every[name] for name in plan.stages}


def _formula(plan: HybridPlan) -> models.FormulaQuery:
    variables = {name: f"$score[{place}]" for place, name in enumerate(plan.stages)}
    summands = [_product(each, variables[each.stage]) for each in plan.formula()]
    return models.FormulaQuery(formula=models.SumExpression(sum=summands), defaults=dict.fromkeys(variables.values(), 0.0))


def _product(summand: Summand, variable: str) -> models.MultExpression:
    score: models.Expression = variable
    if summand.half is not None:
        denominator = models.SumExpression(sum=[variable, summand.half])
        score = models.DivExpression(div=models.DivParams(left=variable, right=denominator, by_zero_default=0.0))
    factors: list[models.Expression] = [summand.weight, score]
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
