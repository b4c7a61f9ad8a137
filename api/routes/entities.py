"""``GET /v1/entities/{type}/{key}`` and ``.../history``: one entity by its key, now or at another moment, and its history."""

import asyncio
from typing import Annotated, Final
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from api.auth.authentication import RecallCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import refusals
from api.http.request_body import REST
from api.problems import ProblemError
from api.reads.entity_history import HISTORY, EntityHistory, History, page_of
from api.reads.memory_fields import memory_fields
from api.reads.schema_types import missing_entity_type
from api.response_models.recalls import ENTITY
from memory.errors import KeyFormatError, SchemaError
from memory.ids import entity_id
from memory.keys import entity_key as join_key
from memory.keys import entity_key_parts
from memory.records import Memory
from memory.records.limits import Time
from memory.schema.model import EntityType
from operators.entities.entity_keys import spelled_alike
from operators.entities.history import Moment
from runtime.errors import RedisUnavailableError
from runtime.redis.entity_view import EntityAsOf
from stores.errors import StoreUnavailableError

router = APIRouter(tags=["read"])

_ENTITIES_PATH: Final = "/v1/entities/"
_HISTORY: Final = "history"

_EntityType = Annotated[str, Path(min_length=1, max_length=256)]
_EntityKey = Annotated[str, Path(min_length=1, max_length=4096)]
_AsOf = Annotated[Time | None, Query(description="Only events that had happened by then.")]
_KnownAt = Annotated[Time | None, Query(description="Only events that were known by then.")]


@router.get(f"/v1/entities/{{entity_type}}/{{entity_key:{REST}}}/{_HISTORY}", responses=HISTORY | refusals(404))
async def get_entity_history(
    entity_type: _EntityType,
    entity_key: _EntityKey,
    request: Request,
    caller: RecallCaller,
    dependencies: AppDependencies,
    as_of: _AsOf = None,
    known_at: _KnownAt = None,
    after: Annotated[str | None, Query(max_length=1024, description="`next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of steps on the page.")] = 50,
) -> Response:
    """The history of an entity, oldest step first; each step has its changes, their evidence and their outcome.

    A value that a newer one replaced is ``superseded``; one that a correction retracted was ``wrong``. ``as_of`` and ``known_at`` exclude
    events that had not happened, or were not known, by then. The number of steps is limited: ``complete`` is false if there were older
    ones. An entity whose own key ends in ``history`` is read here, too: the schema says how many parts a key has.
    """
    type_name, *key_parts = _raw_segments(request)
    moment = Moment(as_of=as_of, known_at=known_at)
    if not _asks_for_history(dependencies, caller, type_name, key_parts):
        return await _entity(request, caller, dependencies, type_name, key_parts, moment)
    key = _key_of(dependencies, caller, type_name, key_parts[:-1])
    reason = f"there is no history of an entity {key} of type {type_name}"
    missing = _missing(dependencies, caller, type_name, reason, parts=len(key_parts) - 1)
    if _is_anothers(dependencies, caller, type_name, key):
        raise missing
    async with dependencies.admission.turn(request, caller.tenant):
        steps, complete = await _history(dependencies, caller, type_name, key).walk(moment)
    names = [each.id for each in steps]
    if not steps:
        raise missing
    if after is not None and after not in names:
        raise ProblemError(404, "history-not-kept", f"the step {after!r} is unknown or no longer stored; start again without `after`")
    entity = entity_id(caller.tenant.id, type_name, key, caller.tenant.generation)
    dependencies.read_audit.note_entity(caller, "history", _user_of(dependencies, caller, type_name, key), entity)
    page = page_of(steps, start=0 if after is None else names.index(after) + 1, limit=limit)
    return JsonResponse(History(type=type_name, key=key, complete=complete, **page).model_dump(mode="json"))


@router.get(f"/v1/entities/{{entity_type}}/{{entity_key:{REST}}}", responses=ENTITY | refusals(404))
async def get_entity(
    entity_type: _EntityType,
    entity_key: _EntityKey,
    request: Request,
    caller: RecallCaller,
    dependencies: AppDependencies,
    as_of: _AsOf = None,
    known_at: _KnownAt = None,
) -> Response:
    """One entity by its type and the parts of its key, each percent-encoded, joined by ``/`` in the order of the schema's ``Keys``.

    It has the state of the entities stage, which may be newer than the index. ``degraded`` names unavailable sources: ``entity_view`` while
    Redis is unavailable, then the entity has the state of the index; ``memories`` while the store is unavailable.

    With ``as_of`` it is as it was at that moment, by the times of events; with ``known_at`` as it was known then. Both go by the steps in
    the index; 404 ``history-not-kept`` where those that it would take are not kept any more.
    """
    type_name, *key_parts = _raw_segments(request)
    return await _entity(request, caller, dependencies, type_name, key_parts, Moment(as_of=as_of, known_at=known_at))


async def _entity(
    request: Request, caller: Caller, dependencies: Dependencies, type_name: str, key_parts: list[str], moment: Moment
) -> Response:
    key = _key_of(dependencies, caller, type_name, key_parts)
    degraded: list[str] = []
    when = "" if moment == Moment() else " by then"
    missing = _missing(dependencies, caller, type_name, f"there is no entity {key} of type {type_name}{when}", parts=len(key_parts))
    if moment != Moment() and _is_anothers(dependencies, caller, type_name, key):
        # The error for steps that are not kept would reveal that the history exists.
        raise missing
    async with dependencies.admission.turn(request, caller.tenant):
        if moment == Moment():
            memory_id = entity_id(caller.tenant.id, type_name, key, caller.tenant.generation)
            entity, degraded = await newest_entity(dependencies, caller, memory_id)
        else:
            history = _history(dependencies, caller, type_name, key)
            entity = await history.at(moment, entity_key=key, now=dependencies.clock.now())
    if entity is None or not caller.may_see(entity):
        raise missing
    dependencies.read_audit.note(caller, "entity", [entity])
    return JsonResponse({**memory_fields(entity), "degraded": degraded})


def _missing(dependencies: Dependencies, caller: Caller, type_name: str, reason: str, *, parts: int) -> ProblemError:
    """The problem of an entity that is not there: its type may be misspelt, or its key may lack a part."""
    unknown_type = missing_entity_type(dependencies, caller.tenant, type_name)
    entity_type = _type_in_force(dependencies, caller, type_name)
    if unknown_type is None and entity_type is not None and len(entity_type.keys) != parts:
        expected = "1 part" if len(entity_type.keys) == 1 else f"{len(entity_type.keys)} parts"
        reason += f": its key has {expected} ({', '.join(entity_type.keys)}), and the request has {parts}"
    return ProblemError(404, "not-found", unknown_type or reason)


def _history(dependencies: Dependencies, caller: Caller, type_name: str, key: str) -> EntityHistory:
    tenant = caller.tenant
    entity = entity_id(tenant.id, type_name, key, tenant.generation)
    return EntityHistory(store=dependencies.store, tenants=dependencies.tenants, tenant=tenant.id, entity=entity)


def _asks_for_history(dependencies: Dependencies, caller: Caller, type_name: str, key_parts: list[str]) -> bool:
    """Whether the last segment is the route's, not a part of a key. Decided by an encoded slash before it, or the key's number of parts."""
    if len(key_parts) < 2 or key_parts[-1] != _HISTORY:
        return False
    return _keys_of(dependencies, caller, type_name) != len(key_parts)


def _keys_of(dependencies: Dependencies, caller: Caller, type_name: str) -> int | None:
    """The number of parts of an entity type's key; None if the schema in force lacks the type."""
    entity_type = _type_in_force(dependencies, caller, type_name)
    return None if entity_type is None else len(entity_type.keys)


def _is_anothers(dependencies: Dependencies, caller: Caller, type_name: str, key: str) -> bool:
    """Whether the caller's key is bound to a user, and the entity belongs to another one."""
    return caller.key.user is not None and caller.key.user != _user_of(dependencies, caller, type_name, key)


def _user_of(dependencies: Dependencies, caller: Caller, type_name: str, key: str) -> str | None:
    """The user that an entity is grouped by; None if there is none, or the schema in force lacks its type."""
    entity_type = _type_in_force(dependencies, caller, type_name)
    return None if entity_type is None else dict(zip(entity_type.keys, entity_key_parts(key), strict=False)).get("user")


def _type_in_force(dependencies: Dependencies, caller: Caller, type_name: str) -> EntityType | None:
    try:
        return dependencies.tenants.schema_of(caller.tenant.id).entity_type(type_name)
    except SchemaError:
        return None


def _key_of(dependencies: Dependencies, caller: Caller, type_name: str, parts: list[str]) -> str:
    """The key of these parts, in either spelling; if the schema in force lacks the type, as spelled."""
    entity_type = _type_in_force(dependencies, caller, type_name)
    try:
        return join_key(*(parts if entity_type is None else spelled_alike(parts, entity_type)))
    except KeyFormatError as error:
        raise ProblemError(404, "not-found", f"not the key of an entity: {error}") from error


async def newest_entity(dependencies: Dependencies, caller: Caller, memory_id: str) -> tuple[Memory | None, list[str]]:
    """The newer state of an entity among the stage's view and the index, and the unavailable sources."""
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
        found = await dependencies.store.get(caller.scope, [memory_id])
    except StoreUnavailableError as error:
        return error
    return found[0] if found else None


def _raw_segments(request: Request) -> list[str]:
    """The path's segments after the route's prefix, decoded one by one: in a decoded path, ``%2F`` would be a ``/`` like any other.

    Raises:
        ProblemError: 404, if a slash of the prefix, or the one after it, is encoded: then the path is a different one.
    """
    raw = request.scope.get("raw_path") or request.scope["path"].encode("utf-8")
    segments = [unquote(segment) for segment in raw.split(b"?", 1)[0].decode("ascii", "replace").split("/")]
    prefix = _ENTITIES_PATH.count("/")
    if "/".join((*segments[:prefix], "")) != _ENTITIES_PATH:
        raise ProblemError(404, "not-found", "unknown path; do not encode the slashes of /v1/entities/")
    return segments[prefix:]
