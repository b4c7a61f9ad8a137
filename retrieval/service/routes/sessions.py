"""``GET /v1/sessions/{id}``: a session's tail and open window, before anything was extracted."""

from typing import Any

import orjson
from fastapi import APIRouter
from starlette.responses import Response

from retrieval.service.answers import JsonAnswer
from retrieval.service.parts import PartsOfApp
from retrieval.service.tenancy import Caller
from runtime.session_tail import SessionView

router = APIRouter(tags=["read"])


@router.get("/v1/sessions/{session:path}")
async def get_session(session: str, tenant: Caller, parts: PartsOfApp) -> Response:
    """The newest messages of a session and its open window; both empty for one that is unknown or long silent.

    A ``/`` in the id is written ``%2F``.
    """
    view = await parts.tail.read(tenant.id, session)
    return JsonAnswer({"session": session, **shown_session(view)})


def shown_session(view: SessionView) -> dict[str, Any]:
    """A session's view as plain values: ``messages`` (oldest first) and ``open_window`` (None where none is open)."""
    open_messages = view.open_messages
    return {
        "messages": [
            {"offset": message.offset, "window_sequence": message.window_sequence, "message": orjson.Fragment(message.message_json)}
            for message in view.messages
        ],
        "open_window": {"sequence": view.open_sequence, "message_count": len(open_messages), "first_offset": open_messages[0].offset}
        if open_messages
        else None,
    }
