"""``/mem0``: the routes of mem0's API. Every path ends with a slash, every success has a JSON body, every error has a ``detail``."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp
from varve_client import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError

from api.json_http import JsonResponse, read_json
from api.mem0.filters import FilterError, parse_query_filters
from api.mem0.operations import Mem0Operations
from api.mem0.translation import RequestError
from api.own_api import OwnApi, api_key_of
from api.problems import ProblemError
from memory.errors import RecordError
from runtime.clocks import Clock, SystemClock

PATH: Final = "/mem0"
_TIMEOUT_S: Final = 300.0
"""As long as mem0's client waits."""

_TEMPORARY: Final = (429, 503)
_SCHEMES: Final = ("token", "bearer")
"""mem0's clients send ``Authorization: Token KEY``."""

Answer = Callable[["Mem0Request"], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Mem0Request:
    """One request with the operations of its caller."""

    operations: Mem0Operations
    request: Request

    async def body(self) -> Mapping[str, Any]:
        """The JSON object in the body.

        Raises:
            RequestError: If there is another value.
        """
        fields = await read_json(self.request)
        if not isinstance(fields, dict):
            raise RequestError("the body must be a JSON object")
        return fields

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the query."""
        return self.request.query_params

    def path(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])


async def _delete_all(call: Mem0Request) -> dict[str, Any]:
    text = call.query.get("filters")
    return await call.operations.delete_all(call.query, None if text is None else parse_query_filters(text))


async def _unsupported(call: Mem0Request) -> None:
    raise ProblemError(
        501, "not-supported", f"Varve does not have {call.request.method} {call.request.url.path.removeprefix(PATH)} of mem0"
    )


_ROUTES: Final[tuple[tuple[str, str, Answer], ...]] = (
    ("GET", "/v1/ping/", lambda call: call.operations.ping()),
    ("POST", "/v3/memories/add/", lambda call: _with_body(call, call.operations.add)),
    ("POST", "/v1/memories/", lambda call: _with_body(call, call.operations.add)),
    ("POST", "/v3/memories/search/", lambda call: _with_body(call, call.operations.search)),
    ("POST", "/v2/memories/search/", lambda call: _with_body(call, call.operations.search)),
    ("POST", "/v3/memories/", lambda call: _listed(call)),
    ("POST", "/v2/memories/", lambda call: _listed(call)),
    ("DELETE", "/v1/memories/", _delete_all),
    ("GET", "/v1/memories/{memory_id}/", lambda call: call.operations.get(call.path("memory_id"))),
    ("PUT", "/v1/memories/{memory_id}/", lambda call: _update(call)),
    ("DELETE", "/v1/memories/{memory_id}/", lambda call: call.operations.delete(call.path("memory_id"))),
    ("GET", "/v1/memories/{memory_id}/history/", lambda call: call.operations.history(call.path("memory_id"))),
    ("GET", "/v1/entities/", lambda call: call.operations.users(call.query)),
    ("DELETE", "/v2/entities/{kind}/{name}/", lambda call: call.operations.delete_entity(call.path("kind"), call.path("name"))),
    ("GET", "/api/v1/orgs/organizations/{organization}/projects/{project}/", lambda call: _project(call)),
    ("PUT", "/v1/batch/", lambda call: _with_body(call, call.operations.batch_update)),
    ("DELETE", "/v1/batch/", lambda call: _with_body(call, call.operations.batch_delete)),
)
"""Method, path and operation of each supported call. Paths of two versions are the same operation."""


async def _with_body(call: Mem0Request, operation: Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    return await operation(await call.body())


async def _listed(call: Mem0Request) -> dict[str, Any]:
    return await call.operations.get_all(await call.body(), call.query)


async def _project(call: Mem0Request) -> dict[str, Any]:
    fields = call.request.query_params.getlist("fields")
    return await call.operations.project(call.path("organization"), call.path("project"), fields)


async def _update(call: Mem0Request) -> dict[str, Any]:
    return await call.operations.update(call.path("memory_id"), await call.body())


@dataclass(frozen=True, slots=True)
class _Label:
    """The route in logs and metrics."""

    path: str


class Mem0Facade:
    """The routes under :data:`PATH`.

    Args:
        app: The service's ASGI app, which the operations call in this process.
        clock: The time of messages that have none.
    """

    def __init__(self, app: ASGIApp, *, clock: Clock | None = None) -> None:
        self._api = OwnApi(app, timeout_s=_TIMEOUT_S)
        self._clock = clock or SystemClock()

    @property
    def route(self) -> BaseRoute:
        """The routes, as one."""
        methods: dict[str, dict[str, Answer]] = {}
        for method, path, answer in _ROUTES:
            methods.setdefault(path, {})[method] = answer
        routes = [Route(path, self._endpoint(path, answers), methods=[*answers]) for path, answers in methods.items()]
        other = Route("/{rest:path}", self._endpoint("/...", {}), methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
        return Mount(PATH, routes=[*routes, other])

    def _endpoint(self, path: str, answers: Mapping[str, Answer]) -> Callable[[Request], Awaitable[Response]]:
        label = _Label(f"{PATH}{path}")

        async def endpoint(request: Request) -> Response:
            request.scope["route"] = label
            answer = answers.get(request.method, _unsupported)
            try:
                async with self._operations(request) as operations:
                    return JsonResponse(await answer(Mem0Request(operations, request)))
            except (RequestError, FilterError, RecordError, MessagesRefusedError) as error:
                return _refusal(400, str(error))
            except ProblemError as error:
                return _refusal(error.status_code, str(error.detail), error.headers or {})
            except ServiceProblemError as error:
                return _refusal(error.status, error.detail, {"Retry-After": "1"} if error.status in _TEMPORARY else {})
            except ServiceUnreachableError as error:
                return _refusal(503, str(error), {"Retry-After": "2"})

        return endpoint

    @asynccontextmanager
    async def _operations(self, request: Request) -> AsyncIterator[Mem0Operations]:
        async with self._api.client(request, api_key_of(request.headers, schemes=_SCHEMES)) as varve:
            yield Mem0Operations(varve, now=self._clock.now())


def _refusal(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    return JsonResponse({"detail": detail}, status_code=status, headers=dict(headers or {}))
