"""``GET /v1/sessions/{id}``: a session's newest messages, before anything is extracted from them."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path
from starlette.responses import Response

from api.authentication import RecallCaller
from api.dependencies import AppDependencies
from api.json_http import JsonResponse
from api.paths import REST
from api.responses import SESSION
from runtime.session_tail import SessionView

router = APIRouter(tags=["read"])

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
