"""``/v1/memories``: memories page by page, and one memory."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from api.auth.authentication import RecallCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import refusals
from api.limits.route_admission import AdmittedRecall
from api.problems import ProblemError
from api.reads.memory_fields import memory_fields
from api.reads.schema_types import check_types
from api.response_models.recalls import MEMORY, MEMORY_PAGE
from memory.records import Memory
from memory.records.limits import RequestTime
from memory.records.message import Id, Name
from memory.trust import MinTrust
from runtime.pieces import map_in_pieces
from stores.points import point_ids
from stores.port import MemoryFilter, TenantScope
from stores.time_order import TimePlace

MemoryId = Annotated[str, Path(max_length=256)]

router = APIRouter(tags=["read"])

_MAX_TYPES: Final = 64
_Kind = Literal["event", "entity", "summary", "segment"]


@router.get("/v1/memories", responses=MEMORY_PAGE)
async def list_memories(
    request: Request,
    admitted: AdmittedRecall,
    dependencies: AppDependencies,
    user: Annotated[Id | None, Query(description="Only this user's memories. Default: all users that the key may access.")] = None,
    session: Annotated[Id | None, Query(description="Only memories of this session.")] = None,
    kinds: Annotated[list[_Kind] | None, Query(max_length=4, description="Only memories of these kinds.")] = None,
    types: Annotated[list[Name] | None, Query(max_length=_MAX_TYPES, description="Only memories of these event or entity types.")] = None,
    since: Annotated[RequestTime | None, Query(description="Only memories that may have happened at this time or later.")] = None,
    until: Annotated[RequestTime | None, Query(description="Only memories that may have happened before this time.")] = None,
    min_trust: Annotated[
        MinTrust | None, Query(description="Only memories whose sources all have at least this level of trust. Default: any.")
    ] = None,
    order: Annotated[
        Literal["id", "newest", "oldest"], Query(description="By id, or by the time of the event: the newest or the oldest first.")
    ] = "id",
    after: Annotated[str | None, Query(max_length=256, description="The `next` of the previous page, of the same `order`.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="Most memories of the page.")] = 50,
) -> Response:
    """The memories of the live generation that a recall could find: `{memories, next}`.

    A memory that exists during all pages, with the same time, is on exactly one of them. An entity has the time of its newest event, so it
    moves in an order by time. Invalidated and expired memories are left out. `next` is null on the last page; by time, a page before it may
    have fewer memories than `limit`. Counts as one recall.
    """
    caller, quota = admitted
    place = _place(after, order)
    if since is not None and until is not None and since >= until:
        raise ProblemError(422, "invalid", "since must be before until: no memory can match")
    check_types(dependencies, caller.tenant, types or ())
    wanted = MemoryFilter(
        scope=TenantScope(caller.tenant.id, caller.user_of(user)),
        kinds=tuple(kinds or ()),
        types=tuple(types or ()),
        sessions=() if session is None else (session,),
        since=since,
        until=until,
        min_trust=min_trust,
        generation=caller.tenant.generation,
        not_expired_at=dependencies.clock.now(),
    )
    async with dependencies.admission.turn(request, caller.tenant, results=limit):
        if order == "id":
            found = await dependencies.store.page(wanted, after=after, limit=limit + 1)
            page, following = found[:limit], found[limit - 1].id if len(found) > limit else None
        else:
            by_time = await dependencies.store.page_by_time(wanted, order, after=place, limit=limit)
            page, following = by_time.memories, None if by_time.next is None else str(by_time.next)
        dependencies.read_audit.note(caller, "list", page)
        memories = await map_in_pieces(memory_fields, page)
    return JsonResponse({"memories": memories, "next": following}, headers=quota)


def _place(after: str | None, order: Literal["id", "newest", "oldest"]) -> TimePlace | None:
    """Checks a place, and reads one of an order by time.

    Raises:
        ProblemError: 422.
    """
    try:
        if after is not None and order != "id":
            return TimePlace.read(after)
        if after is None or point_ids([after]):
            return None
    except ValueError:
        pass
    raise ProblemError(422, "invalid", "after: this is not the `next` of a page of this order; leave it out for the first page")


@router.get("/v1/memories/{memory_id}", responses=MEMORY | refusals(404))
async def get_memory(memory_id: MemoryId, request: Request, caller: RecallCaller, dependencies: AppDependencies) -> Response:
    """One memory by its id; 404 for one that is unknown, another tenant's, or another user's than the key's."""
    async with dependencies.admission.turn(request, caller.tenant):
        memory = await seen_memory(dependencies, caller, memory_id, f"there is no memory {memory_id}")
    dependencies.read_audit.note(caller, "memory", [memory])
    return JsonResponse(memory_fields(memory))


async def seen_memory(dependencies: Dependencies, caller: Caller, memory_id: str, not_found: str) -> Memory:
    """A memory that the caller may see.

    Raises:
        ProblemError: 404.
    """
    found = await dependencies.store.get(caller.scope, [memory_id])
    if not found:
        raise ProblemError(404, "not-found", not_found)
    return found[0]
