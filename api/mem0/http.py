"""``/mem0``: the routes of mem0's API. Every path ends with a slash, every success has a JSON body, every error has a ``detail``.

These are the paths of mem0's hosted platform. Those of its self-hosted server, which have neither a version nor a slash at the end, are
below ``/mem0/server``.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp

from api.mem0.filters import parse_query_filters
from api.mem0.options import refuse_ambiguous
from api.mem0.requests import PATH, Answer, Mem0Endpoints, Mem0Request
from api.mem0.server import server_routes
from api.problems import ProblemError

_SCHEMES: Final = ("token", "bearer")
"""mem0's clients send ``Authorization: Token KEY``."""


async def _delete_all(call: Mem0Request) -> dict[str, Any]:
    refuse_ambiguous(call.query)
    text = call.query.get("filters")
    return await call.operations.delete_all(call.query, None if text is None else parse_query_filters(text))


async def _unsupported(call: Mem0Request) -> None:
    path = call.request.url.path.removeprefix(PATH)
    hint = "" if path.endswith("/") else ": the paths of mem0's API end in a slash"
    raise ProblemError(501, "not-supported", f"Varve does not have {call.request.method} {path} of mem0{hint}")


ROUTES: Final[tuple[tuple[str, str, Answer], ...]] = (
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
    ("DELETE", "/v2/entities/{kind}/{name:rest}/", lambda call: call.operations.delete_entity(call.path("kind"), call.path("name"))),
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


class Mem0Facade:
    """The routes under :data:`PATH`.

    Args:
        app: The service's ASGI app, which the operations call in this process.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._endpoints = Mem0Endpoints(app)

    @property
    def route(self) -> BaseRoute:
        """The routes, as one."""
        platform = self._endpoints.routes(ROUTES, prefix="", schemes=_SCHEMES, other=_unsupported)
        return Mount(PATH, routes=[*server_routes(self._endpoints), *platform])
