"""Requests of mem0's clients: caller, body and query, and errors in mem0's form, ``{"detail": ...}``."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from varve_client import AsyncVarveClient

from api.facades import FacadeEndpoints, refusal_of
from api.http.json_http import JsonResponse, read_json
from api.http.request_body import REST
from api.mem0.filters import FilterError
from api.mem0.operations import Mem0Operations
from api.mem0.owners import OwnerError
from api.mem0.translation import RequestError
from api.own_api import api_key_of
from runtime.clocks import SystemClock

PATH: Final = "/mem0"
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]

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
    def query(self) -> QueryParams:
        """The parameters of the query."""
        return self.request.query_params

    def path(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])


class Mem0Endpoints:
    """Endpoints that answer requests of mem0's clients.

    Args:
        app: The service's ASGI app, which the operations call in this process.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._endpoints = FacadeEndpoints(app, refuse=_refused, errors=(FormError, RequestError, FilterError, OwnerError))
        self._clock = SystemClock()

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

        def key_of(request: Request) -> str:
            return api_key_of(request.headers, schemes=schemes)

        def route(path: str, label: str, answers: Mapping[str, Answer], accepted: list[str]) -> Route:
            endpoint = self._endpoints.endpoint(f"{PATH}{prefix}{label}", self._answer(answers, other), key_of=key_of)
            return Route(f"{prefix}{path}", endpoint, methods=accepted)

        known = [route(path, path, answers, [*answers]) for path, answers in methods.items()]
        return [*known, route(f"/{{rest:{REST}}}", "/...", {}, _METHODS)]

    def open_route(self, path: str, answer: Answer) -> Route:
        """A route below :data:`PATH` that needs no key.

        Args:
            path: The path.
            answer: The answer to every method.
        """
        return Route(path, self._endpoints.endpoint(f"{PATH}{path}", self._answer({}, answer), key_of=lambda _: None), methods=_METHODS)

    def _answer(self, answers: Mapping[str, Answer], other: Answer) -> Callable[[AsyncVarveClient, Request], Awaitable[Response]]:
        async def answer(varve: AsyncVarveClient, request: Request) -> Response:
            call = Mem0Request(Mem0Operations(varve, now=self._clock.now()), request)
            return JsonResponse(await answers.get(request.method, other)(call))

        return answer


def _refused(request: Request, error: Exception) -> Response:
    """An error response. mem0's clients read ``detail`` of a body that is ``application/json``."""
    if isinstance(error, FormError):
        return JsonResponse({"detail": error.faults}, status_code=422)
    refusal = refusal_of(error)
    return JsonResponse({"detail": refusal.detail}, status_code=refusal.status, headers=dict(refusal.headers))
