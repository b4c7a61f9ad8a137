"""``GET /v1/memories/{id}`` and ``GET /v1/sessions/{id}``: one memory, and a session's newest messages."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from api.authentication import Caller, RecallCaller
from api.dependencies import AppDependencies, Dependencies
from api.json_http import JsonResponse
from api.openapi import refusals
from api.problems import ProblemError
from api.recall_responses import MEMORY, SESSION
from api.request_body import REST
from memory.records import Memory
from runtime.session_tail import SessionView

router = APIRouter(tags=["read"])

MemoryId = Annotated[str, Path(max_length=256)]


@router.get("/v1/memories/{memory_id}", responses=MEMORY | refusals(404))
async def get_memory(memory_id: MemoryId, request: Request, caller: RecallCaller, dependencies: AppDependencies) -> Response:
    """One memory by its id; 404 for one that is unknown, another tenant's, or another user's than the key's."""
    async with dependencies.admission.turn(request, caller.tenant):
        return JsonResponse(memory_fields(await seen_memory(dependencies, caller, memory_id, f"there is no memory {memory_id}")))


def memory_fields(memory: Memory) -> dict[str, Any]:
    """A memory as plain values. Its message ids are its ``evidence``, as in a recall. Its search text is never shown."""
    fields = memory.model_dump(mode="json", exclude_none=True, exclude={"schema_version", "tenant", "message_ids", "search_text"})
    return {**fields, "evidence": memory.message_ids}


async def seen_memory(dependencies: Dependencies, caller: Caller, memory_id: str, not_found: str) -> Memory:
    """A memory that the caller may see.

    Raises:
        ProblemError: 404.
    """
    found = await dependencies.store.get(caller.scope, [memory_id])
    if not found:
        raise ProblemError(404, "not-found", not_found)
    return found[0]


SessionPath = Annotated[str, Path(min_length=1, max_length=256)]


@router.get(f"/v1/sessions/{{session:{REST}}}", responses=SESSION)
async def get_session(session: SessionPath, caller: RecallCaller, dependencies: AppDependencies) -> Response:
    """The messages of a session's newest closed window and of its open one; none for a session that is unknown or long idle.

    A ``/`` in the id is written ``%2F``.
    """
    view = (await dependencies.tail.read(caller.tenant.id, session)).of(caller.key.user)
    return JsonResponse({"session": session, **session_fields(view)})


def session_fields(view: SessionView) -> dict[str, Any]:
    """A session's view as plain values: ``messages`` (oldest first) and ``open_window`` (None if none is open)."""
    windows = [window for window in (view.closed, view.open) if window is not None]
    return {
        "messages": [
            {"window_sequence": window.sequence, "message": orjson.Fragment(message)} for window in windows for message in window.messages
        ],
        "open_window": None if view.open is None else {"sequence": view.open.sequence, "message_count": len(view.open.messages)},
    }
