"""Middleware and problems: traces, log lines, metrics, the limit of bodies, and errors as problem details."""

from collections.abc import AsyncIterator

import httpx
import pytest
import structlog
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from structlog.testing import capture_logs

from api.http.json_http import JsonResponse, read_json
from api.http.middleware import BodySizeMiddleware, ObservabilityMiddleware
from api.problems import MEDIA_TYPE, ProblemError, add_problem_handlers, problem_from
from control.errors import UnknownTenantError
from memory.errors import MalformedRecordError, RecordTooLargeError, SchemaError, VarveError
from models.errors import TransientModelError
from runtime.errors import KafkaUnavailableError, RedisUnavailableError, TopicMissingError
from runtime.metrics import Metrics
from runtime.tracing import read_traceparent, trace_id
from stores.errors import ModelMismatchError, StoreUnavailableError
from tests.recorded_spans import recorded_spans

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def http(metrics: Metrics) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI(redirect_slashes=False)
    app.add_middleware(BodySizeMiddleware, max_bytes=1000)
    app.add_middleware(ObservabilityMiddleware, metrics=metrics)
    add_problem_handlers(app)

    @app.post("/echo/{name}")
    async def echo(name: str, request: Request) -> Response:
        return JsonResponse({"name": name, "body": await read_json(request), "trace": trace_id(request.state.trace)})

    @app.post("/typed")
    async def typed(body: dict[str, int]) -> Response:
        return JsonResponse(body)

    @app.get("/broken")
    async def broken() -> Response:
        raise RuntimeError("secret detail")

    @app.get("/cacheable")
    async def cacheable() -> Response:
        return JsonResponse({}, headers={"Cache-Control": "max-age=60"})

    @app.get("/refusing/{status}")
    async def refusing(status: int) -> Response:
        raise HTTPException(status, "the framework's reason")

    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://varve") as client:
        yield client


def _is_problem(response: httpx.Response, status: int, kind: str, detail: str = "") -> None:
    assert response.headers["content-type"] == MEDIA_TYPE
    body = response.json()
    assert (response.status_code, body["status"], body["type"]) == (status, status, f"urn:varve:problem:{kind}")
    assert body["title"]
    assert body["detail"]
    assert detail in body["detail"]
    assert body["instance"] == response.request.url.path
    assert body["trace_id"] == response.headers["traceparent"].split("-")[1]


async def test_every_error_is_a_problem(http: httpx.AsyncClient) -> None:
    _is_problem(await http.get("/nowhere"), 404, "not-found", "GET /openapi.json describes all routes")
    _is_problem(await http.get("/typed"), 405, "method-not-allowed", "this route does not accept GET, only POST")
    _is_problem(await http.post("/echo/x", content=b"{"), 422, "malformed")
    _is_problem(await http.post("/echo/x", content=b'"\xff"'), 422, "malformed")
    invalid = await http.post("/typed", json={"a": "b"})
    _is_problem(invalid, 422, "invalid")
    assert invalid.json()["detail"].startswith("a: ")
    broken = await http.get("/broken")
    _is_problem(broken, 500, "internal")
    assert "secret" not in broken.text


async def test_no_cache_keeps_a_response(http: httpx.AsyncClient) -> None:
    answers = [await http.post("/echo/x", json={}), await http.get("/nowhere"), await http.get("/broken"), await http.get("/cacheable")]
    assert [each.headers["cache-control"] for each in answers] == ["no-store"] * 3 + ["max-age=60"]


@pytest.mark.parametrize(("status", "kind"), [(404, "not-found"), (405, "method-not-allowed")])
async def test_an_error_of_the_framework_keeps_its_reason(http: httpx.AsyncClient, status: int, kind: str) -> None:
    _is_problem(await http.get(f"/refusing/{status}"), status, kind, "the framework's reason")


async def test_a_body_over_the_limit_is_refused(http: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b" " * 300

    assert (await http.post("/echo/x", content=b" " * 998 + b"{}")).status_code == 200
    _is_problem(await http.post("/echo/x", content=b" " * 1001), 413, "too-large")
    _is_problem(await http.post("/echo/x", content=chunks()), 413, "too-large")
    _is_problem(await http.post("/typed", content=b" " * 1001, headers={"content-type": "application/json"}), 413, "too-large")


async def test_a_trace_is_continued_or_started(http: httpx.AsyncClient) -> None:
    continued = await http.post("/echo/x", json={}, headers={"traceparent": PARENT})
    assert continued.json()["trace"] == "4bf92f3577b34da6a3ce929d0e0e4736"
    response_trace = read_traceparent(continued.headers["traceparent"])
    assert response_trace is not None
    assert trace_id(response_trace) == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert continued.headers["traceparent"] != PARENT
    started = await http.post("/echo/x", json={}, headers={"traceparent": "nonsense"})
    assert started.json()["trace"] != continued.json()["trace"]


async def test_a_request_has_a_span_by_its_route(http: httpx.AsyncClient) -> None:
    with recorded_spans() as exporter:
        answer = await http.post("/echo/private-name?q=private", json="private", headers={"traceparent": PARENT})
        await http.get("/healthz")
        (span,) = exporter.get_finished_spans()
    assert span.name == "POST /echo/{name}"
    assert dict(span.attributes or {}) == {"http.request.method": "POST", "http.route": "/echo/{name}", "http.response.status_code": 200}
    assert span.parent is not None
    assert span.context is not None
    assert (span.parent.span_id, span.context.span_id) == (0x00F067AA0BA902B7, int(answer.headers["traceparent"].split("-")[2], 16))
    assert "private" not in span.to_json()


async def test_a_request_is_counted_and_logged_without_its_content(http: httpx.AsyncClient, metrics: Metrics) -> None:
    with capture_logs() as lines:
        await http.post("/echo/private-name?q=private-query", json="private-body")
        await http.get("/nowhere/at/all")
    rendered = metrics.render().decode()
    assert 'varve_http_requests_total{method="POST",route="/echo/{name}",status="200"} 1.0' in rendered
    assert 'varve_http_requests_total{method="-",route="unmatched",status="404"} 1.0' in rendered
    assert "private" not in rendered
    assert [line["route"] for line in lines if line["event"] == "request"] == ["/echo/{name}", "unmatched"]
    assert "private" not in str(lines)


async def test_an_unknown_method_has_one_label(http: httpx.AsyncClient, metrics: Metrics) -> None:
    with capture_logs() as lines:
        for method in ("INVENTED1", "INVENTED2"):
            _is_problem(await http.request(method, "/typed"), 405, "method-not-allowed")
    assert 'varve_http_requests_total{method="other",route="/typed",status="405"} 2.0' in metrics.render().decode()
    assert "INVENTED" not in str(lines)


@pytest.mark.parametrize(
    ("given", "is_kept"), [("job-7/step:2", True), ("", False), ("x" * 129, False), ("a b", False), ("\x1b[31m", False)]
)
async def test_a_request_id_is_echoed_or_made(http: httpx.AsyncClient, given: str, is_kept: bool) -> None:
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        echoed = (await http.get("/nowhere", headers={"X-Request-ID": given})).headers["x-request-id"]
    assert (echoed == given) is is_kept
    assert echoed
    assert {line["request_id"] for line in lines} == {echoed}


@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("GET", "/typed/", b""),
        ("GET", "/nowhere", b""),
        ("GET", "/broken", b""),
        ("GET", "/echo/x", b""),
        ("POST", "/echo/x", b"{"),
        ("POST", "/echo/x", b" " * 1001),
        ("POST", "/typed", b"{}x"),
    ],
)
async def test_the_host_is_never_reflected(http: httpx.AsyncClient, method: str, path: str, content: bytes) -> None:
    for host in ("evil.example", "evil.example/path?"):
        response = await http.request(method, path, headers={"Host": host, "content-type": "application/json"}, content=content)
        assert "evil" not in response.text + str(response.headers)
        assert response.json()["instance"] == path


async def test_a_client_that_hangs_up_is_no_error(metrics: Metrics) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()

    async def hang_up() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    with capture_logs() as lines:
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
        await ObservabilityMiddleware(app, metrics=metrics)(scope, hang_up, send)
    assert [(line["event"], line["status"]) for line in lines] == [("request", 499)]


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (KafkaUnavailableError("at 10.0.0.1"), 503, "unavailable"),
        (TopicMissingError("at 10.0.0.1"), 503, "unavailable"),
        (RedisUnavailableError("at 10.0.0.1"), 503, "unavailable"),
        (StoreUnavailableError("at 10.0.0.1"), 503, "unavailable"),
        (TransientModelError("at 10.0.0.1"), 503, "unavailable"),
        (RecordTooLargeError("2 MB"), 413, "too-large"),
        (MalformedRecordError("no"), 422, "malformed"),
        (UnknownTenantError("no"), 401, "unauthorized"),
        (ModelMismatchError("at 10.0.0.1"), 500, "internal"),
        (SchemaError("EventTypes[0]", "at 10.0.0.1"), 500, "internal"),
    ],
)
def test_an_error_has_its_status_and_reveals_no_address(error: VarveError, status: int, kind: str) -> None:
    problem = problem_from(error)
    assert (problem.status_code, problem.kind) == (status, kind)
    assert "10.0.0.1" not in problem.detail
    assert ("Retry-After" in (problem.headers or {})) == (status == 503)


def test_a_problem_in_a_batch_names_no_instance() -> None:
    assert "instance" not in ProblemError(422, "malformed", "no").body()
