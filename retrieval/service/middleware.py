"""What surrounds every request, as pure ASGI: trace, log line and metrics; and the limit of a body's size."""

import time
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retrieval.service.problems import Problem, answer_problem, unexpected
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.tracing import TRACEPARENT, Trace

_log = logger(__name__)

_UNMATCHED: Final = "unmatched"
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})


class Observed:
    """Takes up or starts a trace, binds it to the logs, answers with its ``traceparent``; logs, counts and times the request.

    The trace is in ``request.state.trace``. No label or log line bears a path's values, a body or a query.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = Trace.parse(Headers(scope=scope).get(TRACEPARENT, ""))
        trace = Trace.new() if caller is None else caller.child()
        scope.setdefault("state", {})["trace"] = trace
        status, started_answer = 500, False

        async def send_traced(message: Message) -> None:
            nonlocal status, started_answer
            if message["type"] == "http.response.start":
                status, started_answer = message["status"], True
                MutableHeaders(scope=message)[TRACEPARENT] = trace.traceparent
            await send(message)

        started = time.perf_counter()
        with structlog.contextvars.bound_contextvars(trace_id=trace.trace_id):
            try:
                await self._app(scope, receive, send_traced)
            except Exception as error:
                problem = unexpected(error)
                if started_answer:
                    raise
                await answer_problem(problem, scope["path"])(scope, receive, send_traced)
            finally:
                self._observe(scope, status, time.perf_counter() - started)
                structlog.contextvars.unbind_contextvars("tenant")

    def _observe(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", _UNMATCHED)
        method = scope["method"] if route != _UNMATCHED else "-"
        self._metrics.requests.labels(method=method, route=route, status=str(status)).inc()
        self._metrics.request_seconds.labels(method=method, route=route).observe(seconds)
        log = _log.debug if route in _QUIET else _log.info
        log("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 2))


class BodyLimit:
    """Refuses a request body over a size, by its announced length or while it comes in."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        taken = 0

        async def receive_limited() -> Message:
            nonlocal taken
            if announced.isdecimal() and int(announced) > self._max_bytes:
                raise self._too_large()
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._max_bytes:
                raise self._too_large()
            return message

        await self._app(scope, receive_limited, send)

    def _too_large(self) -> Problem:
        return Problem(413, "too-large", f"a body may have {self._max_bytes} bytes; send smaller batches")
