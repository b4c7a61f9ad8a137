"""Every error as a problem detail, ``application/problem+json`` (RFC 9457)."""

import http
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from api.http.json_http import to_json
from control.errors import (
    ChangedMeanwhileError,
    ChangeRefusedError,
    ControlLogBehindError,
    GenerationIncompleteError,
    LegalHoldError,
    UnknownReextractionError,
    UnknownTenantError,
)
from memory.errors import RecordError, RecordTooLargeError, VarveError
from memory.name_hints import meant_name
from memory.validation_problems import plain_problem
from models.errors import InputRefusedError, TransientModelError
from retrieval.errors import RecallFailedError
from runtime.errors import (
    ClockError,
    DeadLetterMissingError,
    GroupInUseError,
    KafkaUnavailableError,
    RedisUnavailableError,
    TopicMissingError,
)
from runtime.logs import logger
from stores.errors import StoreUnavailableError

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 2
MOST_LISTED: Final = 20
"""Maximum number of errors in a response."""

_LONGEST_PATH: Final = 200
_OTHER_PARTS: Final[Mapping[str, str]] = {"search": "recall", "query": "recall", "add": "messages", "events": "memories"}
"""Other names for the first part of a route's path."""

_log = logger(__name__)

_UNAVAILABLE: Final[dict[type[VarveError], str]] = {
    KafkaUnavailableError: "Kafka",
    ControlLogBehindError: "The control log",
    TopicMissingError: "Kafka",
    StoreUnavailableError: "The vector store",
    RedisUnavailableError: "Redis",
    TransientModelError: "The embedding model",
}
"""The public name of an unavailable dependency. Addresses and causes are only logged."""

_QUERY_REFUSED: Final = (
    "query: the embedding model does not take this text: it is too long, or violates the model's rules; shorten or reword it"
)
_WRONG_CLOCK: Final = "the clocks of the service and of Kafka differ, and the operator has to correct one of them; try again"
_RECALL_FAILED: Final = (
    "the memories cannot be searched as the service is set up; an operator has to correct it: "
    "the service's log has the reason under this trace id"
)


class ProblemError(HTTPException):
    """A response that is an error.

    Args:
        kind: A stable identifier, the end of the problem's ``type``.
        detail: What was wrong and what to do, for the caller.
    """

    def __init__(
        self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, members: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(status, detail, headers)
        self.kind = kind
        self.members = dict(members or {})

    def body(self, instance: str | None = None) -> dict[str, Any]:
        """The members of the problem; with ``instance`` if the problem is the whole response."""
        members = {
            "type": f"urn:varve:problem:{self.kind}",
            "title": http.HTTPStatus(self.status_code).phrase,
            "status": self.status_code,
            "detail": self.detail,
            **self.members,
        }
        return members if instance is None else {**members, "instance": instance}


def problem_from(error: VarveError) -> ProblemError:
    """The problem that the caller gets for one of Varve's errors."""
    for kind, name in _UNAVAILABLE.items():
        if isinstance(error, kind):
            _log.warning("dependency_unavailable", error=str(error))
            return ProblemError(503, "unavailable", f"{name} does not answer; try again", headers={"Retry-After": str(RETRY_AFTER_S)})
    match error:
        case ClockError():
            _log.error("clock_differs", error=str(error))
            return ProblemError(503, "unavailable", _WRONG_CLOCK, headers={"Retry-After": str(RETRY_AFTER_S)})
        case RecordTooLargeError():
            return ProblemError(413, "too-large", str(error))
        case RecordError():
            # The caller knows that it is a message.
            return ProblemError(422, error.reason.replace("_", "-"), str(error).removeprefix("Message: "))
        case InputRefusedError():
            return ProblemError(422, "query-refused", _QUERY_REFUSED)
        case RecallFailedError():
            return ProblemError(503, "unavailable", _RECALL_FAILED, headers={"Retry-After": str(RETRY_AFTER_S)})
        case DeadLetterMissingError() | UnknownReextractionError():
            return ProblemError(404, "not-found", str(error))
        case ChangedMeanwhileError():
            return ProblemError(412, "changed-meanwhile", str(error))
        case LegalHoldError():
            return ProblemError(409, "legal-hold", str(error))
        case ChangeRefusedError() | GenerationIncompleteError() | GroupInUseError():
            return ProblemError(409, "change-refused", str(error))
        case UnknownTenantError():
            return unauthorized("the tenant of this API key was removed")
        case _:
            return internal_error(error)


def unauthorized(detail: str) -> ProblemError:
    """The problem of a missing or unknown credential."""
    return ProblemError(401, "unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})


def internal_error(error: Exception) -> ProblemError:
    """The problem of an unexpected error, which is logged."""
    _log.error("request_failed", exc_info=error)
    return ProblemError(500, "internal", "the request failed; the service's log has the reason under this trace id")


def first_names(names: Sequence[str], *, most: int) -> str:
    """The first names of a list for an error, and the number of the others.

    Args:
        names: The names.
        most: Most names to list.
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def problem_response(problem: ProblemError, path: str) -> Response:
    """The response for a problem, with the request's path and trace id."""
    body = problem.body(path)
    trace_id = structlog.contextvars.get_contextvars().get("trace_id")
    if trace_id:
        body["trace_id"] = trace_id
    return Response(to_json(body), status_code=problem.status_code, headers=problem.headers, media_type=MEDIA_TYPE)


def add_problem_handlers(app: FastAPI) -> None:
    """Turns every expected error of the app into a problem. The middleware handles the others.

    A problem's path is the path of the request line: ``request.url`` contains the ``Host`` header, which a client can forge.
    """

    async def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, ProblemError)
        return problem_response(error, request.scope["path"])

    async def on_varve_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, VarveError)
        return problem_response(problem_from(error), request.scope["path"])

    async def on_http_exception(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        kind = http.HTTPStatus(error.status_code).name.lower().replace("_", "-")
        detail, headers = error.detail, error.headers
        if "Allow" in (headers or {}):
            # Only a route that lacks the request's method names its methods. Another route of this path may have others.
            allowed = ", ".join(sorted(_methods_at(request.scope, request.scope["path"])))
            detail, headers = f"this route does not accept {request.method}, only {allowed}", {"Allow": allowed}
        return problem_response(ProblemError(error.status_code, kind, detail, headers=headers), request.scope["path"])

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        problems = error.errors()
        listed = [_validation_detail(each) for each in problems[:MOST_LISTED]]
        more = [f"and {len(problems) - MOST_LISTED} more problems"] if len(problems) > MOST_LISTED else []
        return problem_response(ProblemError(422, "invalid", "; ".join((*listed, *more))), request.scope["path"])

    app.router.default = _no_route
    app.add_exception_handler(ProblemError, on_problem)
    app.add_exception_handler(VarveError, on_varve_error)
    app.add_exception_handler(HTTPException, on_http_exception)
    app.add_exception_handler(RequestValidationError, on_invalid)


async def _no_route(scope: Scope, receive: Receive, send: Send) -> None:
    """The router's response to a request that no route matches."""
    if scope["type"] == "websocket":
        await WebSocketClose()(scope, receive, send)
        return
    raise ProblemError(404, "not-found", f"there is no such route{_meant_route(scope)}: GET /openapi.json describes all routes")


def _meant_route(scope: Scope) -> str:
    """The route that was probably meant: with the version, without a slash at the end, or for other names of the service's parts."""
    path: str = scope["path"].rstrip("/")
    version, _, rest = path.removeprefix("/").partition("/") if path.startswith("/v1/") else ("v1", "", path.removeprefix("/"))
    part, slash, others = rest.partition("/")
    paths = [str(getattr(each, "path", "")) for each in _routes(scope["app"].routes)]
    names = {each.split("/")[2] for each in paths if each.startswith("/v1/")}
    for name in (part, _OTHER_PARTS.get(part) or meant_name(part, names)):
        meant = f"/{version}/{name}{slash}{others}"
        if name and len(meant) <= _LONGEST_PATH and _methods_at(scope, meant):
            return f" (did you mean {meant}?)"
    return ""


def _methods_at(scope: Scope, path: str) -> set[str]:
    """The methods that the routes of a path accept."""
    asked = {**scope, "path": path}
    matching = (each for each in _routes(scope["app"].routes) if each.matches(asked)[0] is not Match.NONE)
    return {method for each in matching for method in getattr(each, "methods", None) or ()}


def _routes(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """All routes, with those of included routers. Varve includes routers without a prefix."""
    for each in routes:
        included = getattr(each, "original_router", None)
        if included is None:
            yield each
        else:
            yield from _routes(included.routes)


def _validation_detail(error: Mapping[str, Any]) -> str:
    field = ".".join(str(part) for part in error["loc"] if part != "body")
    plain = plain_problem(error)
    if "query" in error["loc"][:1] and error["type"] == "literal_error" and "," in str(error.get("input")):
        plain += "; repeat the parameter for each value: name=one&name=two"
    return f"{field}: {plain}" if field else plain
