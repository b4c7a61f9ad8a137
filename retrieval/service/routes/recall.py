"""``POST /v1/recall``: a question to the memory."""

import asyncio
import time
import uuid
from collections.abc import Sequence
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.responses import Response

from memory.hashing import content_hash
from memory.records import Memory, RecallRecord
from memory.records.message import Name
from memory.schema.model import MemorySchema
from retrieval.recall import RecallHit, RecallRequest
from retrieval.service.answers import JsonAnswer
from retrieval.service.parts import Parts, PartsOfApp, TraceOfRequest
from retrieval.service.routes.memories import shown_memory
from retrieval.service.routes.sessions import shown_session
from retrieval.service.tenancy import Caller
from retrieval.stores.port import TenantScope
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.session_tail import SessionView
from runtime.tracing import record_headers

router = APIRouter(tags=["read"])

_log = logger(__name__)

_EMPTY_TAIL: Final = SessionView()


class RecallBody(BaseModel):
    """A question to the memory."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=10_000, pattern=r"\S")
    user: Name | None = None
    """Only this user's memories, and beside them this user's nearest entities; None: the whole tenant's."""
    session: Name | None = None
    """The session whose tail to show beside."""
    limit: int | None = Field(default=None, ge=1, le=1000)
    """Most results; None: as the settings say."""
    kinds: tuple[Literal["event", "entity", "summary", "segment"], ...] = ()
    """Only memories of these kinds; empty: of all."""
    types: tuple[Name, ...] = ()
    """Only memories of these event or entity types; empty: of all."""
    since: AwareDatetime | None = None
    """Only memories whose event time is not before this one."""
    until: AwareDatetime | None = None
    """Only memories whose event time is before this one."""
    explain: bool = False
    """Say what each score is made of."""


@router.post("/v1/recall")
async def post_recall(body: RecallBody, tenant: Caller, parts: PartsOfApp, trace: TraceOfRequest) -> Response:
    """Answers a question from the tenant's memories, best first, each with its evidence: the ids of the messages it rests on.

    200 with ``{recall_id, results: [{memory's fields, score, evidence, parts?}], entities, session, degraded, ms}``. ``entities`` are the
    user's nearest, ``session`` the tail and open window of the session, each where the body names one. ``degraded`` names what had to be
    left out: ``session_tail`` while Redis is away.
    """
    started = time.perf_counter()
    scope = TenantScope(tenant.id, body.user)
    schema = parts.tenants.schema_of(tenant.id)
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
        explain=body.explain,
    )
    response, entities, tail = await asyncio.gather(
        parts.recall.recall(request), _entities(parts, scope, body.query, schema, tenant.generation), _tail(parts, tenant.id, body.session)
    )
    record = _record(response.hits, entities, tenant.id, body.user, parts)
    parts.recall_log.note(record, record_headers(trace, record.time))
    return JsonAnswer(
        {
            "recall_id": record.id,
            "results": [_shown(result, explain=body.explain) for result in response.hits],
            "entities": [shown_memory(entity) for entity in entities],
            "session": None if body.session is None else {"session": body.session, **shown_session(tail or _EMPTY_TAIL)},
            "degraded": ["session_tail"] if tail is None else [],
            "ms": round((time.perf_counter() - started) * 1000, 2),
        }
    )


async def _entities(parts: Parts, scope: TenantScope, query: str, schema: MemorySchema, generation: str) -> list[Memory]:
    if scope.user is None:
        return []
    types = [entity_type.name for entity_type in schema.entity_types]
    return await parts.recall.nearest_entities(scope, [query], types, generation=generation)


async def _tail(parts: Parts, tenant: str, session: str | None) -> SessionView | None:
    """The session's tail; empty where none is asked for, None while Redis is away."""
    if session is None:
        return _EMPTY_TAIL
    try:
        return await parts.tail.read(tenant, session)
    except RedisUnavailableError as error:
        _log.warning("recall without session tail", problem=str(error))
        return None


def _record(results: Sequence[RecallHit], entities: Sequence[Memory], tenant: str, user: str | None, parts: Parts) -> RecallRecord:
    shown = [*(result.memory for result in results), *entities]
    return RecallRecord(
        id=str(uuid.uuid4()),
        tenant=tenant,
        user=user,
        memory_ids=[result.memory.id for result in results],
        content_hashes=list(dict.fromkeys(content_hash(each.content) for each in shown)),
        time=parts.clock.now(),
    )


def _shown(result: RecallHit, *, explain: bool) -> dict[str, Any]:
    shown = {**shown_memory(result.memory), "score": result.score, "evidence": result.evidence}
    return {**shown, "parts": result.parts} if explain else shown
