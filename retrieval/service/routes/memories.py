"""``GET /v1/memories/{id}`` and ``GET /v1/entities/{type}/{key}``: one memory by what names it."""

from typing import Any
from urllib.parse import unquote

from fastapi import APIRouter, Request
from starlette.responses import Response

from memory.errors import KeyFormatError
from memory.ids import entity_id
from memory.keys import entity_key as join_key
from memory.records import Memory
from retrieval.service.answers import JsonAnswer
from retrieval.service.parts import Parts, PartsOfApp
from retrieval.service.problems import Problem
from retrieval.service.tenancy import Caller
from retrieval.stores.port import TenantScope

router = APIRouter(tags=["read"])

_ENTITIES = "/v1/entities/"


@router.get("/v1/memories/{memory_id}")
async def get_memory(memory_id: str, tenant: Caller, parts: PartsOfApp) -> Response:
    """One memory of the caller's by its id; 404 for one that is unknown or another tenant's."""
    return JsonAnswer(shown_memory(await _only(parts, tenant.id, memory_id, f"there is no memory {memory_id}")))


@router.get("/v1/entities/{entity_type}/{entity_key:path}")
async def get_entity(entity_type: str, entity_key: str, request: Request, tenant: Caller, parts: PartsOfApp) -> Response:
    """One entity by its type and the parts of its key, each percent-encoded, joined by ``/`` in the order of the schema's ``Keys``."""
    type_name, *key_parts = _raw_segments(request)
    try:
        key = join_key(*key_parts)
    except KeyFormatError as error:
        raise Problem(404, "not-found", f"no entity has such a key: {error}") from error
    found = await _only(
        parts, tenant.id, entity_id(tenant.id, type_name, key, tenant.generation), f"there is no entity {key} of type {type_name}"
    )
    return JsonAnswer(shown_memory(found))


def shown_memory(memory: Memory) -> dict[str, Any]:
    """A memory as plain values, its evidence under the name that recalls give it."""
    shown = memory.model_dump(mode="json", exclude_none=True, exclude={"schema_version", "tenant", "message_ids"})
    return {**shown, "evidence": memory.message_ids}


async def _only(parts: Parts, tenant: str, memory_id: str, missing: str) -> Memory:
    found = await parts.store.get(TenantScope(tenant), [memory_id])
    if not found:
        raise Problem(404, "not-found", missing)
    return found[0]


def _raw_segments(request: Request) -> list[str]:
    """The path's segments behind the route's beginning, decoded one by one: decoded whole, ``%2F`` could not be told from ``/``."""
    raw = request.scope.get("raw_path") or request.scope["path"].encode("utf-8")
    behind = raw.split(b"?", 1)[0].decode("ascii", "replace").split(_ENTITIES, 1)[1]
    return [unquote(segment) for segment in behind.split("/")]
