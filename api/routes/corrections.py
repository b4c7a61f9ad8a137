"""``PATCH`` and ``DELETE /v1/memories/{id}``, ``POST .../invalidate`` and ``.../revert``: corrections of wrong memories."""

import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import ConfigDict
from starlette.responses import Response

from api.auth.authentication import CorrectCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies, Dependencies, RequestTrace
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import body_schema, json_body
from api.response_models.messages import CORRECTED, DELETED, INVALIDATED, REPLACED
from api.routes.memories import MemoryId, seen_memory
from api.writes.correction_effects import CorrectionEffects
from api.writes.correction_records import CorrectionRequest
from api.writes.corrections import MemoryCorrections, replaces_statement
from api.writes.erasures import require_no_erasure
from api.writes.idempotency import CorrectIdempotency, DeletionAnswers, Idempotency
from memory.ids import correction_id
from memory.keys import encode_key, partition_of
from memory.positions import LogPosition
from memory.records import EventFields, Memory
from memory.records.correction import Reason
from runtime.errors import RedisUnavailableError
from runtime.redis.recent_patches import RecentPatchStore, WindowPlace
from runtime.redis.sent_corrections import SentCorrections
from runtime.redis.session_history import SessionHistory
from runtime.tracing import Headers, SpanContext, record_headers
from stores.errors import StoreUnavailableError

router = APIRouter(tags=["corrections"])

_PATH: Final = "/v1/memories/{memory_id}"


class CorrectionBody(EventFields):
    """The new values. Fields that are not named stay as they are."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    reason: Reason = ""


class ReasonBody(RequestModel):
    """The reason."""

    reason: Reason = ""


_Why = Annotated[ReasonBody, Depends(json_body(ReasonBody, default=ReasonBody()))]

Send = Callable[[MemoryCorrections, CorrectionRequest, Headers], Awaitable[LogPosition | None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Exchange:
    """A request for a correction, with its dependencies."""

    memory_id: str
    request: Request
    caller: Caller
    dependencies: Dependencies
    trace: SpanContext
    idempotency: Idempotency

    async def carry_out(
        self, send: Send, *, reason: str, lists_remaining: Callable[[Memory], bool] = lambda _: False, once_per_version: bool = False
    ) -> Response:
        """Sends a correction once.

        Args:
            send: The method that sends it.
            reason: The caller's reason.
            lists_remaining: Whether the response lists where the content of a memory remains.
            once_per_version: Whether all such requests for one version of the memory are one correction.
        """
        size, now, name = len(await self.request.body()), self.dependencies.clock.now(), self.idempotency.request_name

        async def act() -> Response:
            quota = await self.dependencies.quotas.admit_messages(self.caller.tenant, count=1, size=size, adds_memories=False)
            async with self.dependencies.admission.turn(self.request, self.caller.tenant):
                memory = await seen_memory(self.dependencies, self.caller, self.memory_id, f"there is no memory {self.memory_id}")
            require_no_erasure(self.dependencies.tenants, memory.tenant, memory.user, f"memory {memory.id}")
            named = f"{self.request.method} {memory.version}" if once_per_version else name
            new_id = str(uuid.uuid4()) if named is None else correction_id(self.caller.tenant.id, memory.id, named)
            corrections = self._corrections()
            correction = CorrectionRequest(id=new_id, caller=self.caller, memory=memory, reason=reason, time=now)
            position = await send(corrections, correction, record_headers(self.trace, now))
            if position is None:
                return JsonResponse({"memory_id": memory.id, "outcome": "unchanged"}, headers=quota)
            with suppress(RedisUnavailableError):
                await self._forget_notes(memory)
            fields: dict[str, Any] = {"id": new_id, "memory_id": memory.id, "outcome": "accepted", "position": position}
            if lists_remaining(memory):
                with suppress(StoreUnavailableError):
                    fields["remaining"] = await corrections.remaining(memory, self.dependencies.store)
            return JsonResponse(fields, headers=quota)

        return await self.idempotency.once(act)

    def _corrections(self) -> MemoryCorrections:
        dependencies = self.dependencies
        sent = SentCorrections(redis=dependencies.redis)
        effects = CorrectionEffects(sent=sent, store=dependencies.store, tenants=dependencies.tenants, clock=dependencies.clock)
        return MemoryCorrections(producer=dependencies.producer, settings=dependencies.settings, sent=sent, effects=effects)

    async def _forget_notes(self, memory: Memory) -> None:
        """Removes a wrong event from the notes for later prompts, which would keep it until they expire."""
        if memory.kind != "event" or memory.user is None:
            return
        settings, redis = self.dependencies.settings, self.dependencies.redis
        generations = ["", *(each.name for each in self.caller.tenant.generations)]
        await SessionHistory(redis=redis, ttl_s=settings.extraction.context_ttl_s).forget_event(memory, generations)
        home = partition_of(encode_key(memory.tenant, memory.user), settings.kafka.partitions)
        for generation in generations:
            place = WindowPlace(memory.tenant, memory.user, generation, home, 0)
            await RecentPatchStore(redis=redis).forget_messages(place, memory.message_ids)


async def _exchange(
    memory_id: MemoryId,
    request: Request,
    caller: CorrectCaller,
    dependencies: AppDependencies,
    trace: RequestTrace,
    idempotency: CorrectIdempotency,
) -> _Exchange:
    return _Exchange(memory_id=memory_id, request=request, caller=caller, dependencies=dependencies, trace=trace, idempotency=idempotency)


_Asked = Annotated[_Exchange, Depends(_exchange)]


@router.patch(_PATH, openapi_extra=body_schema(CorrectionBody), responses=REPLACED | refusals(404, 409))
async def correct_memory(asked: _Asked, body: Annotated[CorrectionBody, Depends(json_body(CorrectionBody))]) -> Response:
    """Sets fields of an event, or properties of an entity that patches or LATEST make: ``{id, memory_id, outcome, position, remaining?}``.

    A property that is null is removed. Entities that use the event are updated. An invalidated event becomes valid again. If content or a
    value of an event is replaced, texts lose the lines that are based on its messages, the session's newest messages no longer show these,
    and ``remaining`` lists what still has the old content. If the memory has these values already, the response is
    ``{memory_id, outcome: unchanged}``, and nothing is recorded.
    """
    fields = EventFields.model_construct(**{name: getattr(body, name) for name in EventFields.model_fields})
    correct = partial(MemoryCorrections.correct, fields=fields, tenants=asked.dependencies.tenants)
    return await asked.carry_out(correct, reason=body.reason, lists_remaining=lambda memory: replaces_statement(memory, fields))


@router.post(f"{_PATH}/invalidate", openapi_extra=body_schema(ReasonBody, required=False), responses=INVALIDATED | refusals(404, 409))
async def invalidate_memory(asked: _Asked, body: _Why) -> Response:
    """Marks an event as false: ``{id, memory_id, outcome, position, remaining}``. If it is marked already: ``outcome: unchanged``.

    Recalls no longer return it. Entities lose its contributions, and the lines of texts that are based on its messages. The session's
    newest messages no longer include its messages. ``remaining`` lists what still has its content; it is missing if the store is
    unavailable.
    """
    return await asked.carry_out(MemoryCorrections.invalidate, reason=body.reason, lists_remaining=lambda _: True)


@router.delete(_PATH, responses=DELETED | refusals(404, 409))
async def delete_memory(
    asked: _Asked,
    reason: Annotated[Reason, Query(description="The reason, for the log.")] = "",
) -> Response:
    """Deletes an event permanently: ``{id, memory_id, outcome, position, remaining}``.

    Like an invalidation, but the memory itself is removed from the store too, and a revert does not restore it. No later extraction of
    the same messages restores it. ``remaining`` lists what still has its content; it is missing if the store could not be asked. A
    repetition has no further effect: for a day it gets the first response without ``remaining``, then 404.
    """
    send = partial(asked.carry_out, MemoryCorrections.delete, reason=reason, lists_remaining=lambda _: True, once_per_version=True)
    return await DeletionAnswers(asked.dependencies, asked.caller, asked.memory_id).once(send)


@router.post(f"{_PATH}/revert", openapi_extra=body_schema(ReasonBody, required=False), responses=CORRECTED | refusals(404, 409))
async def revert_memory(asked: _Asked, body: _Why) -> Response:
    """Undoes the newest correction in force of a memory: ``{id, memory_id, outcome, position}``. 409 if no correction is in force.

    A revert that follows another correction within moments may be accepted before the store shows that one. It then undoes what is in
    force when it arrives, if anything.
    """
    return await asked.carry_out(partial(MemoryCorrections.revert, tenants=asked.dependencies.tenants), reason=body.reason)
