"""``POST /v1/recall``: a query to the memory."""

import asyncio
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import Response

from memory.errors import VarveError
from memory.records import Memory, RecallRecord
from memory.records.limits import Time
from memory.records.message import Name
from memory.schema.model import MemorySchema
from memory.text import content_hash
from models.errors import TransientModelError
from retrieval.errors import StoreUnavailableError
from retrieval.recall import RecallHit, RecallRequest
from retrieval.service.answers import RECALLED
from retrieval.service.authentication import Caller, RecallCaller
from retrieval.service.dependencies import AppDependencies, Dependencies, RequestTrace
from retrieval.service.json_http import JsonResponse
from retrieval.service.quota_dependency import RecallQuota
from retrieval.service.request_body import body_schema, json_body
from retrieval.service.routes.memories import memory_fields
from retrieval.service.routes.sessions import session_fields
from retrieval.stores.port import TenantScope
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.pieces import map_in_pieces
from runtime.session_tail import SessionView
from runtime.settings import RankingProfile
from runtime.tracing import Trace, record_headers

router = APIRouter(tags=["read"])

_log = logger(__name__)

_EMPTY_TAIL: Final = SessionView()
_MAX_NAMES: Final = 64
"""Most kinds or types of one request. Each is a condition that the store compares every candidate with."""


def _not_blank(query: str) -> str:
    if not query.strip():
        raise ValueError("a query has to be more than white space")
    return query


class RecallBody(BaseModel):
    """A query to the memory."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S"), AfterValidator(_not_blank)]
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
    request: Request,
    caller: RecallCaller,
    quota: RecallQuota,
    body: Annotated[RecallBody, Depends(json_body(RecallBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
) -> Response:
    """Finds the tenant's memories that match a query, best first, each with its evidence: the ids of the messages it comes from.

    200 with ``{recall_id, results: [{memory's fields, score, evidence, parts?}], entities, session, degraded, ms}``. ``entities`` are
    the nearest of the body's user, ``session`` the newest messages of the body's session. ``degraded`` names what is missing:
    ``session_tail`` while Redis is unavailable; ``memories`` while the store or the embedding model is, if there is the session's tail to
    answer with.
    """
    results = body.limit or dependencies.settings.recall.limit
    async with dependencies.admission.turn(request, caller.tenant, results=results):
        answer = await _recall(body, caller, dependencies, trace)
    answer.headers.update(quota)
    return answer


async def _recall(body: RecallBody, caller: Caller, dependencies: Dependencies, trace: Trace) -> Response:
    started = time.perf_counter()
    tenant, user = caller.tenant, caller.user_of(body.user)
    scope = TenantScope(tenant.id, user)
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
    found, tail = await asyncio.gather(
        _memories(dependencies, request, schema), _tail(dependencies, tenant.id, body.session, caller.key.user)
    )
    if isinstance(found, VarveError):
        if body.session is None or tail is None:
            raise found
        _log.warning("recall_without_memories", error=str(found))
        found = _Memories()
    record = _record(found, tenant.id, user, dependencies)
    dependencies.recall_log.append(record, record_headers(trace, record.time))
    return JsonResponse(
        {
            "recall_id": record.id,
            "results": await map_in_pieces(lambda hit: _hit_fields(hit, explain=body.explain), found.hits),
            "entities": [memory_fields(entity) for entity in found.entities],
            "session": None if body.session is None else {"session": body.session, **session_fields(tail or _EMPTY_TAIL)},
            "degraded": [name for name, is_missing in (("session_tail", tail is None), ("memories", not found.are_known)) if is_missing],
            "ms": round((time.perf_counter() - started) * 1000, 2),
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Memories:
    """What the store knows; by default, that it cannot be asked."""

    hits: Sequence[RecallHit] = ()
    entities: Sequence[Memory] = ()
    are_known: bool = False


async def _memories(dependencies: Dependencies, request: RecallRequest, schema: MemorySchema) -> _Memories | VarveError:
    """The memories; the error, if the store or the embedding model is away: the session's tail may be had all the same."""
    try:
        response, entities = await asyncio.gather(dependencies.recall.recall(request), _entities(dependencies, request, schema))
    except (StoreUnavailableError, TransientModelError) as error:
        return error
    return _Memories(hits=response.hits, entities=entities, are_known=True)


async def _entities(dependencies: Dependencies, request: RecallRequest, schema: MemorySchema) -> list[Memory]:
    if request.scope.user is None:
        return []
    types = [entity_type.name for entity_type in schema.entity_types]
    return await dependencies.recall.nearest_entities(request.scope, [request.query], types, generation=request.generation)


async def _tail(dependencies: Dependencies, tenant: str, session: str | None, user: str | None) -> SessionView | None:
    """The session's tail, of one user where one is given; empty if no session is given, None while Redis is unavailable."""
    if session is None:
        return _EMPTY_TAIL
    try:
        return (await dependencies.tail.read(tenant, session)).of(user)
    except RedisUnavailableError:
        return None


def _record(found: _Memories, tenant: str, user: str | None, dependencies: Dependencies) -> RecallRecord:
    returned = [*(hit.memory for hit in found.hits), *found.entities]
    return RecallRecord(
        id=str(uuid.uuid4()),
        tenant=tenant,
        user=user,
        memory_ids=[hit.memory.id for hit in found.hits],
        content_hashes=list(dict.fromkeys(content_hash(each.content) for each in returned)),
        time=dependencies.clock.now(),
    )


def _hit_fields(hit: RecallHit, *, explain: bool) -> dict[str, Any]:
    fields = {**memory_fields(hit.memory), "score": hit.score, "evidence": hit.evidence}
    return {**fields, "parts": hit.parts} if explain else fields
