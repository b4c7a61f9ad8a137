"""``GET /v1/memories/{id}`` and ``GET /v1/entities/{type}/{key}``: one memory by its id or its key."""

import asyncio
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from memory.errors import KeyFormatError
from memory.ids import entity_id
from memory.keys import entity_key as join_key
from memory.records import Memory
from retrieval.errors import StoreUnavailableError
from retrieval.service.answers import ENTITY, MEMORY
from retrieval.service.authentication import Caller, RecallCaller
from retrieval.service.dependencies import AppDependencies, Dependencies
from retrieval.service.json_http import JsonResponse
from retrieval.service.openapi import refusals
from retrieval.service.paths import REST
from retrieval.service.problems import ProblemError
from retrieval.stores.port import TenantScope
from runtime.entity_view import EntityAsOf
from runtime.errors import RedisUnavailableError

router = APIRouter(tags=["read"])

_ENTITIES_PATH = "/v1/entities/"

MemoryId = Annotated[str, Path(max_length=256)]
_EntityType = Annotated[str, Path(min_length=1, max_length=256)]
_EntityKey = Annotated[str, Path(min_length=1, max_length=4096)]


@router.get("/v1/memories/{memory_id}", responses=MEMORY | refusals(404))
async def get_memory(memory_id: MemoryId, request: Request, caller: RecallCaller, dependencies: AppDependencies) -> Response:
    """One memory by its id; 404 for one that is unknown, another tenant's, or another user's than the key's."""
    async with dependencies.admission.turn(request, caller.tenant):
        return JsonResponse(memory_fields(await seen_memory(dependencies, caller, memory_id, f"there is no memory {memory_id}")))


@router.get(f"/v1/entities/{{entity_type}}/{{entity_key:{REST}}}", responses=ENTITY | refusals(404))
async def get_entity(
    entity_type: _EntityType, entity_key: _EntityKey, request: Request, caller: RecallCaller, dependencies: AppDependencies
) -> Response:
    """One entity by its type and the parts of its key, each percent-encoded, joined by ``/`` in the order of the schema's ``Keys``.

    It is as the entities stage has it, also before the index does. ``degraded`` names what could not be asked: ``entity_view`` while Redis
    is away, then the entity is as the index has it; ``memories`` while the store is, if there is a view to answer with.
    """
    type_name, *key_parts = _raw_segments(request)
    try:
        key = join_key(*key_parts)
    except KeyFormatError as error:
        raise ProblemError(404, "not-found", f"no entity has such a key: {error}") from error
    tenant = caller.tenant
    memory_id = entity_id(tenant.id, type_name, key, tenant.generation)
    async with dependencies.admission.turn(request, tenant):
        entity, degraded = await _newest(dependencies, caller, memory_id)
    if entity is None or not caller.may_see(entity):
        raise ProblemError(404, "not-found", f"there is no entity {key} of type {type_name}")
    return JsonResponse({**memory_fields(entity), "degraded": degraded})


def memory_fields(memory: Memory) -> dict[str, Any]:
    """A memory as plain values. Its message ids are its ``evidence``, as in a recall."""
    fields = memory.model_dump(mode="json", exclude_none=True, exclude={"schema_version", "tenant", "message_ids"})
    return {**fields, "evidence": memory.message_ids}


async def seen_memory(dependencies: Dependencies, caller: Caller, memory_id: str, not_found: str) -> Memory:
    """A memory that the caller may see.

    Args:
        dependencies: The store among them.
        caller: Who asks.
        memory_id: Its id.
        not_found: What to say where there is none.

    Raises:
        ProblemError: 404.
    """
    found = await dependencies.store.get(TenantScope(caller.tenant.id), [memory_id])
    if not found or not caller.may_see(found[0]):
        raise ProblemError(404, "not-found", not_found)
    return found[0]


async def _newest(dependencies: Dependencies, caller: Caller, memory_id: str) -> tuple[Memory | None, list[str]]:
    """An entity, newer of what the stage's view and the index have, and what could not be asked."""
    view, indexed = await asyncio.gather(_in_view(dependencies, caller, memory_id), _in_index(dependencies, caller, memory_id))
    if isinstance(indexed, StoreUnavailableError):
        if not isinstance(view, EntityAsOf):
            raise indexed
        return view.memory, ["memories"]
    if isinstance(view, RedisUnavailableError):
        return indexed, ["entity_view"]
    if view is None or (indexed is not None and indexed.version >= view.version):
        return indexed, []
    return view.memory, []


async def _in_view(dependencies: Dependencies, caller: Caller, memory_id: str) -> EntityAsOf | RedisUnavailableError | None:
    try:
        return await dependencies.entity_view.read(caller.tenant.id, memory_id)
    except RedisUnavailableError as error:
        return error


async def _in_index(dependencies: Dependencies, caller: Caller, memory_id: str) -> Memory | StoreUnavailableError | None:
    try:
        found = await dependencies.store.get(TenantScope(caller.tenant.id), [memory_id])
    except StoreUnavailableError as error:
        return error
    return found[0] if found else None


def _raw_segments(request: Request) -> list[str]:
    """The path's segments after the route's prefix, decoded one by one: in a decoded path, ``%2F`` would be a ``/`` like any other."""
    raw = request.scope.get("raw_path") or request.scope["path"].encode("utf-8")
    segments = raw.split(b"?", 1)[0].decode("ascii", "replace").split(_ENTITIES_PATH, 1)[1]
    return [unquote(segment) for segment in segments.split("/")]
