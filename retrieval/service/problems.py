"""Errors as ``application/problem+json`` (RFC 9457), whatever raised them."""

import http
from collections.abc import Mapping
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memory.errors import RecordError, RecordTooLargeError, VarveError
from models.errors import TransientModelError
from retrieval.errors import StoreUnavailableError
from retrieval.service.answers import to_json
from runtime.errors import DeadLetterMissingError, KafkaUnavailableError, RedisUnavailableError, TopicMissingError, UnknownTenantError
from runtime.logs import logger

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 2

_log = logger(__name__)

_AWAY: Final[dict[type[VarveError], str]] = {
    KafkaUnavailableError: "Kafka",
    TopicMissingError: "Kafka",
    StoreUnavailableError: "The vector store",
    RedisUnavailableError: "Redis",
    TransientModelError: "The embedding model",
}
"""What is away, for the caller; addresses and causes go to the log only."""


class Problem(HTTPException):
    """An answer that is an error.

    Args:
        status: HTTP status.
        kind: A stable word, the end of the problem's ``type``.
        detail: What was wrong and what to do, for the caller.
        headers: Further response headers.
        members: Further members of the body.
    """

    def __init__(
        self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, members: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(status, detail, headers)
        self.kind = kind
        self.members = dict(members or {})

    def body(self, instance: str | None = None) -> dict[str, Any]:
        """The members of the problem, ``instance`` where the problem stands for a whole answer."""
        members = {
            "type": f"urn:varve:problem:{self.kind}",
            "title": http.HTTPStatus(self.status_code).phrase,
            "status": self.status_code,
            "detail": self.detail,
            **self.members,
        }
        return members if instance is None else {**members, "instance": instance}


def problem_of(error: VarveError) -> Problem:
    """The problem that an error of Varve's is to the caller."""
    for kind, name in _AWAY.items():
        if isinstance(error, kind):
            _log.warning("dependency away", problem=str(error))
            return Problem(503, "unavailable", f"{name} does not answer; try again", headers={"Retry-After": str(RETRY_AFTER_S)})
    match error:
        case RecordTooLargeError():
            return Problem(413, "too-large", str(error))
        case RecordError():
            return Problem(422, error.reason.replace("_", "-"), str(error))
        case DeadLetterMissingError():
            return Problem(404, "not-found", str(error))
        case UnknownTenantError():
            return unauthorized("the key's tenant is gone")
        case _:
            return unexpected(error)


def unauthorized(detail: str) -> Problem:
    """The problem of a missing or unknown credential."""
    return Problem(401, "unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})


def unexpected(error: Exception) -> Problem:
    """The problem of an error that is nobody's fault but the service's; the log tells the error."""
    _log.error("request failed", exc_info=error)
    return Problem(500, "internal", "the request failed for a reason that the service's log tells")


def answer_problem(problem: Problem, path: str) -> Response:
    """The whole answer that a problem is, with the request's path and trace id."""
    body = problem.body(path)
    trace_id = structlog.contextvars.get_contextvars().get("trace_id")
    if trace_id:
        body["trace_id"] = trace_id
    return Response(to_json(body), status_code=problem.status_code, headers=problem.headers, media_type=MEDIA_TYPE)


def install_problem_handlers(app: FastAPI) -> None:
    """Makes every expected error of the app a problem; the others are the middleware's."""

    async def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return answer_problem(error, request.url.path)

    async def on_varve_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, VarveError)
        return answer_problem(problem_of(error), request.url.path)

    async def on_http_exception(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        kind = http.HTTPStatus(error.status_code).name.lower().replace("_", "-")
        return answer_problem(Problem(error.status_code, kind, error.detail, headers=error.headers), request.url.path)

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer_problem(Problem(422, "invalid", "; ".join(map(_told, error.errors()))), request.url.path)

    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(VarveError, on_varve_error)
    app.add_exception_handler(HTTPException, on_http_exception)
    app.add_exception_handler(RequestValidationError, on_invalid)


def _told(problem: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in problem["loc"] if part != "body")
    return f"{place}: {problem['msg']}" if place else str(problem["msg"])
