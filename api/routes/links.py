"""``/v1/links``: the newest memories that are linked to others, as a graph."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.auth.authentication import RecallCaller
from api.dependencies import AppDependencies
from api.http.json_http import JsonResponse
from api.response_models.console import LINKS
from memory.records import Memory
from memory.records.message import Id
from stores.port import MemoryFilter, TenantScope

router = APIRouter(tags=["read"])

_PARENT: Final = "parent"
"""The relation of a node of a tree to the node above it."""


@router.get("/v1/links", responses=LINKS)
async def list_links(
    request: Request,
    caller: RecallCaller,
    dependencies: AppDependencies,
    user: Annotated[Id | None, Query(description="Only this user's memories. Default: all users that the key may access.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most memories whose links are followed, the newest.")] = 300,
) -> Response:
    """The links between the newest memories of the live generation, and the memories at both ends.

    `available` is false if the tenant's memory method neither links memories nor arranges them in a tree.
    """
    schema = dependencies.tenants.schema_of(caller.tenant.id)
    paths = () if schema.method is None else schema.method.retrieval.paths
    if not any(each.name in ("links", "tree") for each in paths):
        return JsonResponse({"available": False, "nodes": [], "edges": [], "truncated": False})
    scope = TenantScope(caller.tenant.id, caller.user_of(user))
    wanted = MemoryFilter(scope=scope, generation=caller.tenant.generation, not_expired_at=dependencies.clock.now())
    async with dependencies.admission.turn(request, caller.tenant, results=limit):
        newest = await dependencies.store.newest(wanted, limit=limit)
        known = {each.id for each in newest}
        ends = dict.fromkeys(edge["target"] for edge in _edges(newest) if edge["target"] not in known)
        others = await dependencies.store.get(scope, [*ends]) if ends else []
    dependencies.read_audit.note(caller, "links", [*newest, *others])
    return JsonResponse({"available": True, **graph([*newest, *others], of=newest), "truncated": len(newest) == limit})


def graph(memories: Sequence[Memory], *, of: Sequence[Memory]) -> dict[str, Any]:
    """The nodes and edges of the links that begin at some memories. A link to a memory that is not known is left out.

    Args:
        memories: The known memories.
        of: The memories whose links are shown.
    """
    known = {each.id: each for each in memories}
    edges = [edge for edge in _edges(of) if edge["target"] in known]
    linked = dict.fromkeys(end for edge in edges for end in (edge["source"], edge["target"]))
    nodes = [
        {"id": each.id, "kind": each.kind, "type": each.type, "user": each.user, "content": each.content, "depth": each.depth}
        for each in (known[end] for end in linked)
    ]
    return {"nodes": nodes, "edges": edges}


def _edges(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    edges: list[dict[str, Any]] = []
    for memory in memories:
        edges += [{"source": memory.id, "target": link.id, "relation": link.relation, "score": link.score} for link in memory.links or ()]
        if memory.parent is not None:
            edges.append({"source": memory.id, "target": memory.parent, "relation": _PARENT, "score": 1.0})
    return edges
