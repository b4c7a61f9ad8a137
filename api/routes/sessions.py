"""``/v1/sessions``: the sessions with recent messages, the messages of one, and a dry run of its extraction."""

from datetime import datetime
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from api.auth.authentication import OperateCaller, RecallCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel, refusals
from api.http.request_body import MAX_SCHEMA_VALUES, REST, body_schema, json_body
from api.limits.admission import TOPIC_RESULTS
from api.problems import ProblemError
from api.response_models.console import PREVIEW, SESSIONS
from api.response_models.recalls import SESSION
from api.routes.schema_checks import MethodChoice, composed
from memory.records.limits import ForeignJson
from memory.records.message import Id
from runtime.redis.session_index import SessionMark
from runtime.redis.session_tail import SessionView
from streams.operations.dry_run import DryWindow

router = APIRouter(tags=["read"])
previews_router = APIRouter(tags=["operate"])

SessionPath = Annotated[str, Path(min_length=1, max_length=256)]

_MOST_READ: Final = 500
"""Most sessions that one page looks at."""


@router.get("/v1/sessions", responses=SESSIONS)
async def list_sessions(
    request: Request,
    caller: RecallCaller,
    dependencies: AppDependencies,
    user: Annotated[Id | None, Query(description="Only sessions with recent messages of this user.")] = None,
    after: Annotated[str | None, Query(max_length=300, description="The `next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="Most sessions of the page.")] = 50,
) -> Response:
    """The sessions whose newest messages can be read, the one that was written last first: `{sessions, next}`.

    These are the sessions of the last days (`VARVE_REDIS__TAIL_TTL_S`), with the messages of their newest closed and their open window. A
    session that gets messages moves to the front of the first page. A page may have fewer sessions than `limit`, as others are skipped:
    only a `next` of null is the end. A key that is bound to a user sees that user's sessions and messages.
    """
    try:
        place = None if after is None else SessionMark.read(after)
    except ValueError as error:
        raise ProblemError(422, "invalid", "after: this is not the `next` of a page; leave it out for the first page") from error
    shown_user = caller.user_of(user)
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        listed = await dependencies.tail.sessions(caller.tenant.id, shown_user, after=place, limit=_MOST_READ + 1)
        page: list[dict[str, Any]] = []
        looked_at = 0
        for each in listed[:_MOST_READ]:
            looked_at += 1
            view = (await dependencies.tail.read(caller.tenant.id, each.session)).of(shown_user)
            if view.messages:
                page.append(_summary(each.session, view))
            if len(page) == limit:
                break
    return JsonResponse({"sessions": page, "next": str(listed[looked_at - 1]) if looked_at < len(listed) else None})


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


class PreviewRequest(RequestModel):
    """The schema of a dry run."""

    content: ForeignJson = None
    """A schema, in the form of a file. Null: the schema in force."""
    method: MethodChoice = None
    """The name or the document of a memory method that extends the content. Null: none."""
    limit: int = Field(default=2, ge=1, le=10)
    """Most windows, the newest."""


@previews_router.post(
    f"/v1/sessions/{{session:{REST}}}/preview", openapi_extra=body_schema(PreviewRequest), responses=PREVIEW | refusals(404, 502)
)
async def preview_session(
    session: SessionPath,
    caller: OperateCaller,
    body: Annotated[PreviewRequest, Depends(json_body(PreviewRequest, default=PreviewRequest(), max_values=MAX_SCHEMA_VALUES))],
    dependencies: AppDependencies,
) -> Response:
    """A dry run of the extraction of a session's newest closed and its open window, with the schema in force or another one.

    Nothing is stored. Entities and earlier events are not considered, so the extraction stage may drop events that are shown here. If the
    service is configured with a model, it is called, and the tenant's budget pays. Needs the scope `recall`, too.
    """
    _require_recall(caller)
    schema = dependencies.tenants.schema_of(caller.tenant.id) if body.content is None else await composed(body.content, body.method)
    view = (await dependencies.tail.read(caller.tenant.id, session)).of(caller.key.user)
    if not view.messages:
        raise ProblemError(404, "not-found", f"there are no recent messages of a session {session}")
    windows = await dependencies.previews.of(caller.tenant.id, [orjson.loads(each) for each in view.messages], schema)
    shown = [_dry_fields(each) for each in windows[-body.limit :]]
    return JsonResponse({"session": session, "schema": schema.name, "windows": shown})


def _require_recall(caller: Caller) -> None:
    if "recall" not in caller.key.scopes:
        raise ProblemError(403, "forbidden", "this API key or token lacks the scope recall")


def _summary(session: str, view: SessionView) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [orjson.loads(each) for each in view.messages]
    times = [datetime.fromisoformat(each["event_time"]) for each in messages if each.get("event_time")]
    return {
        "session": session,
        "users": sorted({str(each["user"]) for each in messages}),
        "messages": len(messages),
        "last_message_at": max(times, default=None),
        "closed_window": None if view.closed is None else {"sequence": view.closed.sequence, "message_count": len(view.closed.messages)},
        "open_window": None if view.open is None else {"sequence": view.open.sequence, "message_count": len(view.open.messages)},
    }


def _dry_fields(dry: DryWindow) -> dict[str, Any]:
    window, extraction = dry.window, dry.extraction.model_dump(mode="json")
    return {
        "messages": [
            message.model_dump(mode="json", include={"id", "user", "role", "speaker", "text", "event_time"}) for message in window.messages
        ],
        "closed_by": window.closed_by,
        "prompt_tokens": dry.prompt_tokens,
        **{name: extraction[name] for name in ("extractor", "segments", "events", "patches", "dropped", "usage")},
    }
