"""``/mcp``: MCP over streamable HTTP, in the query service. Each request is authenticated by its API key."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth.authentication import require_known
from api.auth.resource_metadata import metadata_url
from api.dependencies import Dependencies
from api.http.json_http import separators_in
from api.http.request_body import MAX_BYTES
from api.mcp.connection import Connection
from api.mcp.server import build_server
from api.mcp.unreadable import answer_to_body
from api.own_api import OwnApi, api_key_of
from api.problems import ProblemError
from runtime.settings import Settings

PATH: Final = "/mcp"
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_TIMEOUT_S: Final = 120.0
_MAX_SEPARATORS: Final = 150_000
"""Most commas and opening brackets of a call, also in its texts, of which the longest has 100,000 characters."""


class McpEndpoint:
    """The endpoint. It keeps no sessions, so any process of the service can answer any request.

    Args:
        app: The service's ASGI app, which the tools call in this process.
        settings: Origins of browsers that may call it, and the size of a body.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._api = OwnApi(app, timeout_s=_TIMEOUT_S)
        self._origins = settings.mcp.allowed_origins
        self._metadata_url = metadata_url(settings.oidc)
        # The SDK logs messages of failed tools, which may contain a user's data.
        logging.getLogger("mcp").setLevel(logging.WARNING)
        self._server = build_server(self._connect)
        self._app = self._server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            json_response=True,
            max_request_body_size=MAX_BYTES,
            # The endpoint checks origins: with a proxy in front, the service does not know its own host name.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    @property
    def route(self) -> Route:
        """The route of the endpoint. Its app is an object, so that Starlette passes every method to it."""
        return Route(PATH, endpoint=_Endpoint(self._app, self._origins, self._metadata_url), include_in_schema=False)

    def running(self) -> AbstractAsyncContextManager[None]:
        """The block in which the endpoint answers."""
        return self._server.session_manager.run()

    @asynccontextmanager
    async def _connect(self, context: Context[Any]) -> AsyncIterator[Connection]:
        request = context.request_context.request
        assert isinstance(request, Request)
        api_key = api_key_of(request.headers)
        async with self._api.client(request, api_key) as varve:
            yield Connection(varve=varve, api_key=api_key)


class _Endpoint:
    path: Final = PATH
    """The route in logs and metrics, also of refused requests."""

    def __init__(self, app: ASGIApp, origins: Sequence[str], metadata_url: str | None) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._metadata_url = metadata_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request.

        Raises:
            ProblemError: 401 without a valid key, 403 from a web page of another origin.
        """
        scope["route"] = self
        headers = Headers(scope=scope)
        self._require_origin(headers.get("origin"))
        await self._authenticate(scope["app"].state.dependencies, api_key_of(headers))
        if scope["method"] != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        body = await _bounded_body(scope, receive)
        answer = answer_to_body(body)
        if answer is not None:
            content = answer.model_dump_json(by_alias=True)
            await Response(content, status_code=400, media_type="application/json")(scope, receive, send)
            return
        await self._app(scope, _with_body(body, receive), send)

    async def _authenticate(self, dependencies: Dependencies, credential: str) -> None:
        try:
            await require_known(dependencies, credential)
        except ProblemError as error:
            if error.status_code == HTTPStatus.UNAUTHORIZED and self._metadata_url is not None:
                error.headers = {"WWW-Authenticate": f'Bearer resource_metadata="{self._metadata_url}"'}
            raise

    def _require_origin(self, origin: str | None) -> None:
        """Refuses web pages that are neither local nor allowed, so that none can use a browser's access to this host."""
        if origin is None or origin in self._origins:
            return
        try:
            is_local = urlsplit(origin).hostname in _LOCAL
        except ValueError:
            is_local = False
        if not is_local:
            raise ProblemError(403, "forbidden", "web pages of this origin may not call /mcp; add it to VARVE_MCP__ALLOWED_ORIGINS")


async def _bounded_body(scope: Scope, receive: Receive) -> bytes:
    """Reads the body. The SDK validates each value of it against several models, while every other request waits.

    Raises:
        ProblemError: 413 if it is too large, or may have too many values.
    """
    body = await Request(scope, receive).body()
    if len(body) > MAX_BYTES or separators_in(body) > _MAX_SEPARATORS:
        raise ProblemError(413, "too-large", f"a call may have {MAX_BYTES} bytes, and {_MAX_SEPARATORS} commas and opening brackets")
    return body


def _with_body(body: bytes, receive: Receive) -> Receive:
    """A channel that has the body, which was read from another one."""
    is_read = False

    async def receive_again() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
