"""Translates a query plan and a tenant filter into requests to a Qdrant server."""

from collections.abc import Mapping
from typing import Any

from qdrant_client import models

from stores.collection import (
    DELETED_AT,
    FEED_MS,
    FEED_OFFSET,
    FEED_PARTITION,
    LATE,
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
from stores.filters import AllOfTenantFilter, MemoryFilter, TombstoneFilter
from stores.position import NEW_TOPIC_MS, FeedPosition
from stores.query_plan import RRF_K, QueryPlan, Stage, Summand


def filter_of(memory_filter: MemoryFilter | TombstoneFilter | AllOfTenantFilter) -> models.Filter:
    """The engine's filter."""
    return models.Filter(must=[_condition(each) for each in memory_filter.conditions()])


def replaceable(positions: Mapping[str, FeedPosition], *, within: MemoryFilter | None = None) -> models.Filter:
    """A filter for the stored points that writes of these positions may replace. See :meth:`FeedPosition.is_older_than`.

    Args:
        positions: The positions, by the ids of the written points.
        within: Only tombstones, and memories that pass this filter. None: any.
    """
    must_not: list[models.Condition] = [_newer(point_id, position) for point_id, position in positions.items()]
    if within is None:
        return models.Filter(must_not=must_not)
    is_tombstone = models.Filter(must_not=[models.IsEmptyCondition(is_empty=models.PayloadField(key=DELETED_AT))])
    return models.Filter(should=[filter_of(within), is_tombstone], must_not=must_not)


def _newer(point_id: str, position: FeedPosition) -> models.Filter:
    must: list[models.Condition] = [
        models.HasIdCondition(has_id=[point_id]),
        models.FieldCondition(key=FEED_PARTITION, match=models.MatchValue(value=position.partition)),
        models.FieldCondition(key=FEED_OFFSET, range=models.Range(gt=position.offset)),
    ]
    if position.produced_ms is None:
        return models.Filter(must=must)
    of_former_topic = models.FieldCondition(key=FEED_MS, range=models.Range(lt=position.produced_ms - NEW_TOPIC_MS))
    return models.Filter(must=must, must_not=[of_former_topic])


def query_arguments(plan: QueryPlan) -> dict[str, Any]:
    """One nested request: a formula over the scores of the fused candidates. Every stage has the tenant filter."""
    memory_filter = filter_of(plan.filter)
    queries = _queries(plan)

    def stage(name: Stage, prefetch: list[models.Prefetch] | None = None) -> models.Prefetch:
        query, params = queries[name]
        return models.Prefetch(query=query, using=name, params=params, limit=plan.prefetch, filter=memory_filter, prefetch=prefetch)

    candidates = [stage(name) for name in plan.candidate_stages]
    fused = models.Prefetch(query=models.RrfQuery(rrf=models.Rrf(k=RRF_K)), prefetch=candidates, limit=plan.prefetch, filter=memory_filter)
    return {
        "query": _formula(plan),
        "prefetch": [stage(name, [fused]) for name in plan.stages],
        "query_filter": memory_filter,
        "limit": plan.limit,
        "with_payload": [RECORD],
    }


def score_part_requests(plan: QueryPlan, ids: list[str], shard_key: models.ShardKeySelector | None) -> dict[str, models.QueryRequest]:
    """One request per stage, for the stage's scores of the given points."""
    points_filter = filter_of(plan.filter.within(ids))
    return {
        name: models.QueryRequest(
            query=query, using=name, params=params, filter=points_filter, limit=len(ids), with_payload=False, shard_key=shard_key
        )
        for name, (query, params) in _queries(plan).items()
    }


def _queries(plan: QueryPlan) -> dict[Stage, tuple[Any, models.SearchParams | None]]:
    by_stage: dict[Stage, tuple[Any, models.SearchParams | None]] = {
        "late": ([list(row) for row in plan.late], None),
        "dense": (list(plan.dense), None),
        "bm25": (
            models.SparseVector(indices=plan.terms.indices, values=plan.terms.values),
            models.SearchParams(idf=models.IdfCorpusParams(corpus=filter_of(plan.filter.whole_tenant))),
        ),
    }
    return {name: by_stage[name] for name in plan.stages}


def _formula(plan: QueryPlan) -> models.FormulaQuery:
    variables = plan.score_variables
    summands = [_product(each, variables[each.stage]) for each in plan.formula()]
    return models.FormulaQuery(formula=models.SumExpression(sum=summands), defaults=dict.fromkeys(variables.values(), 0.0))


def _product(summand: Summand, variable: str) -> models.MultExpression:
    score: models.Expression = variable
    if summand.half_saturation is not None:
        denominator = models.SumExpression(sum=[variable, summand.half_saturation])
        score = models.DivExpression(div=models.DivParams(left=variable, right=denominator, by_zero_default=0.0))
    factors: list[models.Expression] = [summand.weight, score]
    if summand.only_without_late:
        factors.append(models.Filter(must_not=[models.HasVectorCondition(has_vector=LATE)]))
    return models.MultExpression(mult=factors)


def _condition(condition: Condition) -> models.Condition:
    if isinstance(condition, MatchAny):
        match = models.MatchValue(value=condition.values[0]) if len(condition.values) == 1 else models.MatchAny(any=list(condition.values))
        return models.FieldCondition(key=condition.field, match=match)
    if isinstance(condition, NoneOf):
        named = models.FieldCondition(key=condition.field, match=models.MatchAny(any=list(condition.values)))
        return models.Filter(must_not=[named])
    if isinstance(condition, DatetimeRange):
        return models.FieldCondition(
            key=condition.field, range=models.DatetimeRange.model_validate({"gte": condition.since, "lt": condition.until})
        )
    if isinstance(condition, HasId):
        return models.HasIdCondition(has_id=list(condition.ids))
    if isinstance(condition, Equals):
        return models.FieldCondition(key=condition.field, match=models.MatchValue(value=condition.number))
    if isinstance(condition, AtOrBelow):
        return models.FieldCondition(key=condition.field, range=models.Range(lte=condition.number))
    if isinstance(condition, AnyOf):
        return models.Filter(should=[models.Filter(must=[_condition(each) for each in group]) for group in condition.groups])
    expired = models.DatetimeRange.model_validate({"lte": condition.moment})
    return models.Filter(must_not=[models.FieldCondition(key=condition.field, range=expired)])
