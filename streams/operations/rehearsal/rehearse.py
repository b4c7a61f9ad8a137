"""Runs a rehearsal: both generations answer each query through the recall pipeline, without a model."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from control import Draft, read_control
from control.documents import Tenant
from control.errors import ChangeRefusedError
from control.generations.reading import generation_name
from control.schemas import read_schema
from memory.schema import MemorySchema
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.settings import Settings
from stores.port import MemoryFilter, TenantScope
from streams.operations.rehearsal.comparison import RecallComparison, Rehearsal, Results
from streams.operations.rehearsal.questions import Question

_NOTICE_EVERY: Final = 100


async def rehearse(
    settings: Settings,
    tenant_id: str,
    candidate: str,
    questions: Sequence[Question],
    *,
    recall: RecallPipeline,
    limit: int | None = None,
    notice: Callable[[str], None] = lambda line: None,
) -> Rehearsal:
    """Compares the live generation of a tenant with another one.

    Args:
        settings: The settings.
        tenant_id: The tenant.
        candidate: The other generation; empty: the first.
        questions: The queries.
        recall: The pipeline. Without counts of earlier recalls: the other generation has none.
        limit: Most results of a query. Default: the setting.
        notice: Called with lines of progress.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ChangeRefusedError: If the tenant does not have the generation, or it is live.
        SchemaError: If a schema cannot be read.
        StoreUnavailableError: If the store does not respond.
        ModelError: If a query cannot be embedded.
    """
    known = Draft(await read_control(settings))
    tenant = known.tenant(tenant_id)
    if not tenant.has_generation(candidate):
        raise ChangeRefusedError(
            f"tenant {tenant_id!r} has no generation {generation_name(candidate)!r}; `varve generations list` shows them"
        )
    if tenant.generation == candidate:
        raise ChangeRefusedError(f"generation {generation_name(candidate)} is live on tenant {tenant_id!r}: name the other one")
    schemas = {each: read_schema(known, tenant.schema_of(each)) for each in (tenant.generation, candidate)}
    compared: list[RecallComparison] = []
    for number, question in enumerate(questions):
        if number % _NOTICE_EVERY == 0:
            notice(f"{number} of {len(questions)} recalls replayed")
        # In turn: the second one finds the query's vector in a cache.
        order = (tenant.generation, candidate) if number % 2 == 0 else (candidate, tenant.generation)
        if not compared:
            await _answer(recall, tenant, order[0], schemas[order[0]], question, limit)  # loads the model
        found = {each: await _answer(recall, tenant, each, schemas[each], question, limit) for each in order}
        (served, served_ms), (other, candidate_ms) = found[tenant.generation], found[candidate]
        compared.append(RecallComparison(question=question, served=served, candidate=other, served_ms=served_ms, candidate_ms=candidate_ms))
    return Rehearsal(tenant_id, tenant.generation, candidate, tuple(compared))


async def _answer(
    recall: RecallPipeline, tenant: Tenant, generation: str, schema: MemorySchema, question: Question, limit: int | None
) -> tuple[Results, float]:
    """The evidence of the results, as ``/v1/recall`` would return them, and the time in milliseconds."""
    request = RecallRequest(
        filter=MemoryFilter(scope=TenantScope(tenant.id, question.user), generation=generation),
        query=question.query,
        entity_types=() if question.user is None else tuple(each.name for each in schema.entity_types),
        time_zone=tenant.messages.time_zone,
        limit=limit,
        method=schema.method,
        type_weights={each.name: each.weight for each in schema.event_types},
    )
    began = time.perf_counter()
    response = await recall.recall(request)
    return [frozenset(hit.evidence) for hit in response.hits], (time.perf_counter() - began) * 1000
