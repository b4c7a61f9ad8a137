"""``/api/memory``: the paths of VikingDB Memory's API. Every response is JSON with ``code``, ``message`` and ``request_id``."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp
from varve_client import AsyncVarveClient

from api.facades import FacadeEndpoints, refusal_of
from api.http.json_http import JsonResponse, read_json
from api.http.request_body import REST
from api.own_api import api_key_of
from api.problems import unauthorized
from api.viking.errors import VikingError, code_of
from api.viking.operations import VikingOperations
from runtime.clocks import SystemClock
from runtime.tracing import trace_id

PATH: Final = "/api/memory"
_SIGNED: Final = "hmac-sha256"
_SUCCESS: Final = 0

Operation = Callable[[VikingOperations, Mapping[str, Any]], Awaitable[dict[str, Any]]]

OPERATIONS: Final[Mapping[str, Operation]] = {
    "/session/add": VikingOperations.add_session,
    "/session/info": VikingOperations.session_info,
    "/search": VikingOperations.search,
    "/event/search": VikingOperations.search_events,
    "/event/add": VikingOperations.add_event,
    "/event/update": VikingOperations.update_event,
    "/event/delete": VikingOperations.delete_event,
    "/event/batch_delete": VikingOperations.batch_delete_events,
    "/profile/search": VikingOperations.search_profiles,
    "/profile/add": VikingOperations.add_profile,
    "/profile/update": VikingOperations.update_profile,
    "/profile/delete": VikingOperations.delete_profile,
    "/profile/batch_delete": VikingOperations.delete_profile,
    "/profile/trigger_update": VikingOperations.trigger_update,
}
"""The operation of each path. All are POST requests."""

INSTEAD: Final[Mapping[str, str]] = {
    "/session/streaming_write": "send messages with /api/memory/session/add or POST /v1/messages, which also extract automatically",
    "/get_context": "POST /v1/context returns what the memory knows as a text, with the newest messages of a session",
    "/collection/create": "a collection is the schema of a tenant, which an operator sets with POST /v1/admin/tenants",
    "/collection/update": "a collection is the schema of a tenant, which an operator changes with a new generation",
    "/collection/info": "GET /v1/schemas/{name} shows a schema",
    "/collection/list": "GET /v1/schemas lists the schemas",
}
"""Paths without an operation, and what Varve has instead."""


class VikingFacade:
    """The routes under :data:`PATH`.

    Args:
        app: The service's ASGI app, which the operations call in this process.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._endpoints = FacadeEndpoints(app, refuse=_refused, errors=(VikingError,))
        self._clock = SystemClock()

    @property
    def route(self) -> BaseRoute:
        """The routes, as one."""
        routes = [Route(path, self._endpoint(path, _checked(operation)), methods=["POST"]) for path, operation in OPERATIONS.items()]
        ping = Route("/ping", self._endpoint("/ping", _ping), methods=["GET"])
        other = Route(f"/{{rest:{REST}}}", self._endpoint("/...", _unsupported), methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
        return Mount(PATH, routes=[*routes, ping, other])

    def _endpoint(
        self, path: str, operate: Callable[[VikingOperations, Request], Awaitable[dict[str, Any]]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(varve: AsyncVarveClient, request: Request) -> Response:
            data = await operate(VikingOperations(varve, now=self._clock.now()), request)
            return JsonResponse({"code": _SUCCESS, "message": "success", "data": data, "request_id": trace_id(request.state.trace)})

        return self._endpoints.endpoint(f"{PATH}{path}", answer, key_of=_key_of)


def _refused(request: Request, error: Exception) -> Response:
    """An error response. Its status is never 200: the client raises only for other statuses."""
    refusal = refusal_of(error)
    body = {"code": code_of(error, refusal.status), "message": refusal.detail, "request_id": trace_id(request.state.trace)}
    return JsonResponse(body, status_code=refusal.status, headers=dict(refusal.headers))


def _checked(operation: Operation) -> Callable[[VikingOperations, Request], Awaitable[dict[str, Any]]]:
    """An operation that requires the tenant's collection."""

    async def answer(operations: VikingOperations, request: Request) -> dict[str, Any]:
        body = await read_json(request)
        if not isinstance(body, dict):
            raise VikingError("the body must be a JSON object")
        await operations.check_collection(body)
        return await operation(operations, body)

    return answer


async def _ping(operations: VikingOperations, request: Request) -> dict[str, Any]:
    return await operations.ping()


async def _unsupported(operations: VikingOperations, request: Request) -> dict[str, Any]:
    path = "/" + str(request.path_params["rest"])
    instead = INSTEAD.get(path, "Varve's own API is described at /openapi.json")
    raise VikingError(f"Varve does not have {request.method} {PATH}{path} of VikingDB: {instead}")


def _key_of(request: Request) -> str:
    """The key of a request. One that is signed with an access key has none: its check needs the secret, and Varve keeps only digests.

    Raises:
        ProblemError: 401 if the request is signed.
    """
    if request.headers.get("authorization", "").lower().startswith(_SIGNED):
        raise unauthorized(
            "requests signed with an access key and a secret are not supported; use auth=APIKey(api_key=...) with a key of Varve"
        )
    return api_key_of(request.headers)
