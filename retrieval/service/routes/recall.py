"""``POST /v1/recall``: a query to the memory."""

import asyncio
import time
import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from memory.records import Memory, RecallRecord
from memory.records.limits import Time
from memory.records.message import Name
from memory.schema.model import MemorySchema
from memory.text import content_hash
from retrieval.recall import RecallHit, RecallRequest
from retrieval.service.answers import RECALLED
from retrieval.service.authentication import AuthenticatedTenant
from retrieval.service.dependencies import AppDependencies, Dependencies, RequestTrace
from retrieval.service.json_http import JsonResponse
from retrieval.service.quota_dependency import RecallQuota
from retrieval.service.request_body import body_schema, json_body
from retrieval.service.routes.memories import memory_fields
from retrieval.service.routes.sessions import session_fields
from retrieval.stores.port import TenantScope
from runtime.errors import RedisUnavailableError
from runtime.session_tail import SessionView
from runtime.settings import RankingProfile
from runtime.tracing import record_headers

router = APIRouter(tags=["read"])


_EMPTY_TAIL: Final = SessionView()
_MAX_NAMES: Final = 64
"""Most kinds or types of one request. Each is a condition that the store compares every candidate with."""


class RecallBody(BaseModel):
    """A query to the memory."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=10_000, pattern=r"\S")
    user: Name | None = None
    """Only this user's memories, and with them this user's nearest entities; None: the whole tenant's memories."""
    session: Name | None = None
    """The session whose newest messages to return with the results."""
    limit: int | None = Field(default=None, ge=1, le=1000)
    """Most results; None: the setting."""
    kinds: tuple[Literal["event", "entity", "summary", "segment"], ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories of these kinds; empty: any."""
    types: tuple[Name, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Only memories of these event or entity types; empty: any."""
    since: Time | None = None
    """Only memories whose event time is not before this one."""
    until: Time | None = None
    """Only memories whose event time is before this one."""
    profile: RankingProfile | None = None
    """How results are ranked; None: the setting."""
    explain: bool = False
    """Adds the parts of each score."""


@router.post("/v1/recall", openapi_extra=body_schema(RecallBody), responses=RECALLED)
async def post_recall(
    tenant: AuthenticatedTenant,
    quota: RecallQuota,
    body: Annotated[RecallBody, Depends(json_body(RecallBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Finds the tenant's memories that match a query, best first, each with its evidence: the ids of the messages it comes from.

    200 with ``{recall_id, results: [{memory's fields, score, evidence, parts?}], entities, session, degraded, ms}``. ``entities`` are
    the nearest of the body's user, ``session`` the newest messages of the body's session. ``degraded`` names what is missing:
    ``session_tail`` while Redis is unavailable.
    """
    started = time.perf_counter()
    scope = TenantScope(tenant.id, body.user)
    schema = dependencies.tenants.schema_of(tenant.id)
    request = RecallRequest(
        scope=scope,
        query=body.query,
        limit=body.limit,
        kinds=body.kinds,
        types=body.types,
        since=body.since,
        until=body.until,
        type_weights={event_type.name: event_type.weight for event_type in schema.event_types},
        generation=tenant.generation,
        profile=body.profile,
        explain=body.explain,
    )
    response, entities, tail = await asyncio.gather(
        dependencies.recall.recall(request),
        _entities(dependencies, scope, body.query, schema, tenant.generation),
        _tail(dependencies, tenant.id, body.session),
    )
    record = _record(response.hits, entities, tenant.id, body.user, dependencies)
    dependencies.recall_log.append(record, record_headers(trace, record.time))
    return JsonResponse(
        {
            "recall_id": record.id,
            "results": [_hit_fields(hit, explain=body.explain) for hit in response.hits],
            "entities": [memory_fields(entity) for entity in entities],
            "session": None if body.session is None else {"session": body.session, **session_fields(tail or _EMPTY_TAIL)},
            "degraded": ["session_tail"] if tail is None else [],
            "ms": round((time.perf_counter() - started) * 1000, 2),
        },
        headers=quota,
    )


async def _entities(dependencies: Dependencies, scope: TenantScope, query: str, schema: MemorySchema, generation: str) -> list[Memory]:
    if scope.user is None:
        return []
    types = [entity_type.name for entity_type in schema.entity_types]
    return await dependencies.recall.nearest_entities(scope, [query], types, generation=generation)


async def _tail(dependencies: Dependencies, tenant: str, session: str | None) -> SessionView | None:
    """The session's tail; empty if no session is given, None while Redis is unavailable."""
    if session is None:
        return _EMPTY_TAIL
    try:
        return await dependencies.tail.read(tenant, session)
    except RedisUnavailableError:
        return None


def _record(
    hits: Sequence[RecallHit], entities: Sequence[Memory], tenant: str, user: str | None, dependencies: Dependencies
) -> RecallRecord:
    returned = [*(hit.memory for hit in hits), *entities]
    return RecallRecord(
        id=str(uuid.uuid4()),
        tenant=tenant,
        user=user,
        memory_ids=[hit.memory.id for hit in hits],
        content_hashes=list(dict.fromkeys(content_hash(each.content) for each in returned)),
        time=dependencies.clock.now(),
    )


def _hit_fields(hit: RecallHit, *, explain: bool) -> dict[str, Any]:
    fields = {**memory_fields(hit.memory), "score": hit.score, "evidence": hit.evidence}
    return {**fields, "parts": hit.parts} if explain else fields
