"""ASGI middleware: request ids, tracing, logs and metrics of every request, and the limit of a body's size.

``X-Request-ID`` is the caller's id of a request, or a new one; the response and every log line contain it.
"""

import re
import time
import uuid
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import ProblemError, internal_error, problem_response
from runtime import tracing
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.tracing import TRACEPARENT, Span, SpanKind

REQUEST_ID: Final = "x-request-id"

_FORM: Final = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
"""Characters that other services use, without any that a log or a terminal could interpret."""


def request_id(given: str) -> str:
    """The id of a request.

    Args:
        given: The header's value, or an empty text. A value that is too long or has unusual characters is ignored.
    """
    return given if _FORM.fullmatch(given) else uuid.uuid4().hex


_log = logger(__name__)

_UNMATCHED: Final = "unmatched"
_QUIET: Final = frozenset({"/healthz"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER_METHOD: Final = "other"
"""The label of unknown methods, so that a client cannot create new labels."""
_SERVER_ERROR: Final = 500
_HUNG_UP: Final = 499
"""Status in logs and metrics of a request whose client disconnected before the response; nginx uses the same number."""


class ObservabilityMiddleware:
    """Logs, counts and times each request, and adds its trace and id to the logs and the response.

    The trace is in ``request.state.trace``. No label or log line contains values of a path, a body or a query. No cache keeps a response,
    unless its route says so.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        incoming = tracing.read_traceparent(headers.get(TRACEPARENT, ""))
        if scope["path"] in _QUIET:
            # Health checks every few seconds would fill the trace store.
            span = tracing.unrecorded_root_span(incoming)
        else:
            span = tracing.start_root_span("HTTP", kind=SpanKind.SERVER, parent=incoming)
        trace = span.get_span_context()
        scope.setdefault("state", {})["trace"] = trace
        own_id = request_id(headers.get(REQUEST_ID, ""))
        status, response_started = 500, False

        async def send_traced(message: Message) -> None:
            nonlocal status, response_started
            if message["type"] == "http.response.start":
                # The MCP server answers with members of HTTPStatus, which the log would show as such.
                status, response_started = int(message["status"]), True
                answered = MutableHeaders(scope=message)
                answered[TRACEPARENT] = tracing.write_traceparent(trace)
                answered[REQUEST_ID] = own_id
                # A shared cache may keep a response to an `X-API-Key` or a cookie, and give it to another tenant.
                answered.setdefault("Cache-Control", "no-store")
            await send(message)

        started = time.perf_counter()
        with structlog.contextvars.bound_contextvars(trace_id=tracing.trace_id(trace), request_id=own_id), tracing.current(span):
            try:
                await self._app(scope, receive, send_traced)
            except ClientDisconnect:
                status = _HUNG_UP
            except Exception as error:
                problem = internal_error(error)
                if response_started:
                    raise
                await problem_response(problem, scope["path"])(scope, receive, send_traced)
            finally:
                self._observe(scope, status, time.perf_counter() - started, span)
                structlog.contextvars.unbind_contextvars("tenant")

    def _observe(self, scope: Scope, status: int, seconds: float, span: Span) -> None:
        route = getattr(scope.get("route"), "path", _UNMATCHED)
        method = "-" if route == _UNMATCHED else scope["method"] if scope["method"] in _METHODS else _OTHER_METHOD
        self._metrics.requests.labels(method=method, route=route, status=str(status)).inc()
        self._metrics.request_seconds.labels(method=method, route=route).observe(seconds)
        if span.is_recording():
            span.update_name(f"{method} {route}")
            span.set_attributes({"http.request.method": method, "http.route": route, "http.response.status_code": status})
            if status >= _SERVER_ERROR:
                tracing.fail(span, str(status))
        log = _log.debug if route in _QUIET else _log.info
        log("request", method=method, route=route, status=status, ms=round(seconds * 1000, 2))


class BodySizeMiddleware:
    """Rejects a request body over a size, by its ``Content-Length`` or while it is received."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        content_length = Headers(scope=scope).get("content-length", "")
        received = 0

        async def receive_limited() -> Message:
            nonlocal received
            if content_length.isdecimal() and int(content_length) > self._max_bytes:
                raise self._too_large()
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                raise self._too_large()
            return message

        await self._app(scope, receive_limited, send)

    def _too_large(self) -> ProblemError:
        return ProblemError(413, "too-large", f"a body may have {self._max_bytes} bytes; send smaller batches")
