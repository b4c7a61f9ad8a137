"""``PATCH /v1/memories/{id}``, ``POST .../invalidate`` and ``.../revert``: what a person or an application says of a wrong memory."""

import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from memory.ids import correction_id
from memory.positions import LogPosition
from memory.records import EventFields
from memory.records.correction import Reason
from retrieval.service.answers import CORRECTED
from retrieval.service.authentication import Caller, CorrectCaller
from retrieval.service.corrections import CorrectionRequest, MemoryCorrections
from retrieval.service.dependencies import AppDependencies, Dependencies, RequestTrace
from retrieval.service.idempotency import CorrectIdempotency, Idempotency
from retrieval.service.json_http import JsonResponse
from retrieval.service.openapi import refusals
from retrieval.service.request_body import body_schema, json_body
from retrieval.service.routes.memories import MemoryId, seen_memory
from runtime.tracing import Headers, SpanContext, record_headers

router = APIRouter(tags=["corrections"])

_PATH: Final = "/v1/memories/{memory_id}"


class CorrectionBody(EventFields):
    """What holds instead. What is not named stays as it is."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason = ""


class ReasonBody(BaseModel):
    """Why."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason = ""


_Why = Annotated[ReasonBody, Depends(json_body(ReasonBody, default=ReasonBody()))]

Send = Callable[[MemoryCorrections, CorrectionRequest, Headers], Awaitable[LogPosition]]


@router.patch(_PATH, openapi_extra=body_schema(CorrectionBody), responses=CORRECTED | refusals(404, 409))
async def patch_memory(
    memory_id: MemoryId,
    request: Request,
    caller: CorrectCaller,
    body: Annotated[CorrectionBody, Depends(json_body(CorrectionBody))],
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: CorrectIdempotency,
) -> Response:
    """Sets fields of an event, or properties of an entity that patches or LATEST make: ``{id, memory_id, position}``.

    A property that is null is removed. The entities that the event has grown follow. What was invalidated holds again.
    """
    fields = EventFields.model_construct(**{name: getattr(body, name) for name in EventFields.model_fields})
    correct = partial(MemoryCorrections.correct, fields=fields, tenants=dependencies.tenants)
    return await _carry_out(memory_id, body.reason, correct, request, caller, dependencies, trace, idempotency)


@router.post(f"{_PATH}/invalidate", openapi_extra=body_schema(ReasonBody, required=False), responses=CORRECTED | refusals(404, 409))
async def invalidate_memory(
    memory_id: MemoryId,
    request: Request,
    caller: CorrectCaller,
    body: _Why,
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: CorrectIdempotency,
) -> Response:
    """Says of an event that it was never so: ``{id, memory_id, position}``. Entities lose what it gave them; no recall finds it."""
    return await _carry_out(memory_id, body.reason, MemoryCorrections.invalidate, request, caller, dependencies, trace, idempotency)


@router.post(f"{_PATH}/revert", openapi_extra=body_schema(ReasonBody, required=False), responses=CORRECTED | refusals(404, 409))
async def revert_memory(
    memory_id: MemoryId,
    request: Request,
    caller: CorrectCaller,
    body: _Why,
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: CorrectIdempotency,
) -> Response:
    """Takes back the newest correction of a memory that stands, if one does: ``{id, memory_id, position}``."""
    return await _carry_out(memory_id, body.reason, MemoryCorrections.revert, request, caller, dependencies, trace, idempotency)


async def _carry_out(
    memory_id: str,
    reason: str,
    send: Send,
    request: Request,
    caller: Caller,
    dependencies: Dependencies,
    trace: SpanContext,
    idempotency: Idempotency,
) -> Response:
    size, now, name = len(await request.body()), dependencies.clock.now(), idempotency.request_name
    new_id = str(uuid.uuid4()) if name is None else correction_id(caller.tenant.id, memory_id, f"{request.scope['path']} {name}")

    async def act() -> Response:
        quota = await dependencies.quotas.admit_messages(caller.tenant, count=1, size=size, adds_memories=False)
        async with dependencies.admission.turn(request, caller.tenant):
            memory = await seen_memory(dependencies, caller, memory_id, f"there is no memory {memory_id}")
        corrections = MemoryCorrections(producer=dependencies.producer, settings=dependencies.settings)
        correction = CorrectionRequest(id=new_id, caller=caller, memory=memory, reason=reason, time=now)
        position = await send(corrections, correction, record_headers(trace, now))
        response = JsonResponse({"id": new_id, "memory_id": memory.id, "position": position})
        response.headers.update(quota)
        return response

    return await idempotency.once(act)
