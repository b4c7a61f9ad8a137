"""Requests of mem0's clients: caller, body and query, and errors in mem0's form, ``{"detail": ...}``."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from varve_client import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError

from api.json_http import JsonResponse, read_json
from api.mem0.filters import FilterError
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

Answer = Callable[["Mem0Request"], Awaitable[Any]]


class FormError(ValueError):
    """A body or a query has another form than mem0's server accepts.

    Args:
        faults: One object with ``type``, ``loc`` and ``msg`` per fault, as FastAPI returns them.
    """

    def __init__(self, faults: list[dict[str, Any]]) -> None:
        super().__init__(str(faults))
        self.faults = faults


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


@dataclass(frozen=True, slots=True)
class _Label:
    """The route in logs and metrics."""

    path: str


class Mem0Endpoints:
    """Endpoints that answer requests of mem0's clients.

    Args:
        app: The service's ASGI app, which the operations call in this process.
        clock: The time of messages that have none. Default: the clock of this machine.
    """

    def __init__(self, app: ASGIApp, *, clock: Clock | None = None) -> None:
        self._api = OwnApi(app, timeout_s=_TIMEOUT_S)
        self._clock = clock or SystemClock()

    def routes(self, table: Collection[tuple[str, str, Answer]], *, prefix: str, schemes: Collection[str], other: Answer) -> list[Route]:
        """Routes below :data:`PATH`.

        Args:
            table: Method, path and answer of each call.
            prefix: The beginning of each path. Empty: none.
            schemes: Schemes of the ``Authorization`` header with which the clients send a key.
            other: The answer to each other request below the prefix.
        """
        methods: dict[str, dict[str, Answer]] = {}
        for method, path, answer in table:
            methods.setdefault(path, {})[method] = answer

        def route(path: str, label: str, answers: Mapping[str, Answer], accepted: list[str]) -> Route:
            return Route(f"{prefix}{path}", self._endpoint(f"{PATH}{prefix}{label}", answers, schemes, other), methods=accepted)

        known = [route(path, path, answers, [*answers]) for path, answers in methods.items()]
        return [*known, route("/{rest:path}", "/...", {}, ["GET", "POST", "PUT", "PATCH", "DELETE"])]

    def _endpoint(
        self, path: str, answers: Mapping[str, Answer], schemes: Collection[str], other: Answer
    ) -> Callable[[Request], Awaitable[Response]]:
        label = _Label(path)

        async def endpoint(request: Request) -> Response:
            request.scope["route"] = label
            answer = answers.get(request.method, other)
            try:
                async with self._operations(request, schemes) as operations:
                    return JsonResponse(await answer(Mem0Request(operations, request)))
            except FormError as error:
                return _refusal(422, error.faults)
            except (RequestError, FilterError, RecordError, MessagesRefusedError) as error:
                return _refusal(400, str(error))
            except ProblemError as error:
                return _refusal(error.status_code, str(error.detail), error.headers or {})
            except ServiceProblemError as error:
                return _refusal(error.status, error.detail, _headers(error.status))
            except ServiceUnreachableError as error:
                return _refusal(503, str(error), {"Retry-After": "2"})

        return endpoint

    @asynccontextmanager
    async def _operations(self, request: Request, schemes: Collection[str]) -> AsyncIterator[Mem0Operations]:
        async with self._api.client(request, api_key_of(request.headers, schemes=schemes)) as varve:
            yield Mem0Operations(varve, now=self._clock.now())


def _headers(status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    return {"Retry-After": "1"} if status in _TEMPORARY else {}


def _refusal(status: int, detail: str | list[dict[str, Any]], headers: Mapping[str, str] | None = None) -> Response:
    return JsonResponse({"detail": detail}, status_code=status, headers=dict(headers or {}))
