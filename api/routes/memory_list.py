"""``GET /v1/memories``: the memories of a tenant or user, page by page."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.authentication import RecallCaller
from api.dependencies import AppDependencies
from api.json_http import JsonResponse
from api.problems import ProblemError
from api.recall_responses import MEMORY_PAGE
from api.route_admission import RecallQuota
from api.routes.memories import memory_fields
from memory.records.limits import Time
from memory.records.message import Name
from runtime.pieces import map_in_pieces
from stores.points import point_ids
from stores.port import MemoryFilter, TenantScope

router = APIRouter(tags=["read"])

_MAX_TYPES: Final = 64
_Kind = Literal["event", "entity", "summary", "segment"]


@router.get("/v1/memories", responses=MEMORY_PAGE)
async def list_memories(
    request: Request,
    caller: RecallCaller,
    quota: RecallQuota,
    dependencies: AppDependencies,
    user: Annotated[Name | None, Query(description="Only this user's memories. Default: all users that the key may access.")] = None,
    session: Annotated[Name | None, Query(description="Only memories of this session.")] = None,
    kinds: Annotated[list[_Kind] | None, Query(alias="kind", max_length=4, description="Only memories of these kinds.")] = None,
    types: Annotated[
        list[Name] | None, Query(alias="type", max_length=_MAX_TYPES, description="Only memories of these event or entity types.")
    ] = None,
    since: Annotated[Time | None, Query(description="Only memories that may have happened at this time or later.")] = None,
    until: Annotated[Time | None, Query(description="Only memories that may have happened before this time.")] = None,
    after: Annotated[str | None, Query(max_length=256, description="The `next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="Most memories of the page.")] = 50,
) -> Response:
    """The memories of the live generation that a recall could find, ordered by id: `{memories, next}`.

    The order is stable: a memory that exists during all pages is on exactly one of them. Invalidated and expired memories are left out.
    `next` is null on the last page. Counts as one recall.
    """
    if after is not None and not point_ids([after]):
        raise ProblemError(422, "invalid", "after: this is not the `next` of a page; leave it out for the first page")
    wanted = MemoryFilter(
        scope=TenantScope(caller.tenant.id, caller.user_of(user)),
        kinds=tuple(kinds or ()),
        types=tuple(types or ()),
        sessions=() if session is None else (session,),
        since=since,
        until=until,
        generation=caller.tenant.generation,
        not_expired_at=dependencies.clock.now(),
    )
    async with dependencies.admission.turn(request, caller.tenant, results=limit):
        found = await dependencies.store.page(wanted, after=after, limit=limit + 1)
        page = found[:limit]
        memories = await map_in_pieces(memory_fields, page)
    response = JsonResponse({"memories": memories, "next": page[-1].id if len(found) > limit else None})
    response.headers.update(quota)
    return response
