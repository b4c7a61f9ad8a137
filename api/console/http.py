"""``/console``: the files of the console, and ``/console/session``, where a browser signs in with an API key or a token."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Final, Literal

from pydantic import Field
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth.authentication import caller_of, require_active
from api.auth.caller import KeyHash, is_token
from api.console.files import ConsoleFiles
from api.console.sessions import ConsoleSessions, Session, is_tls, require_csrf_token, set_cookie
from api.dependencies import Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import RequestModel
from api.http.request_body import REST, json_body
from api.problems import ProblemError, unauthorized
from control.key_usage import OPERATORS
from runtime.logs import logger

PATH: Final = "/console"
"""The path of the console's page; the routes are below it."""

_MAX_BODY: Final = 16_384
_OWN_SITES: Final = frozenset({"same-origin", "none", None})

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_TLS_HEADERS: Final = {"Strict-Transport-Security": "max-age=31536000"}

_NOT_STORED: Final = {"Cache-Control": "no-store"}

_log = logger(__name__)

_Endpoint = Callable[[Request], Awaitable[Response]]


class SignIn(RequestModel):
    """A sign-in."""

    api_key: str = Field(min_length=1, max_length=8192, repr=False)
    """An API key, an operator's key, or a token of the identity provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The owner of a session."""

    kind: Literal["tenant", "operator"]
    tenant: str | None
    """None: an operator."""
    user: str | None
    """The only user whose memories are accessible. None: all users of the tenant."""
    id: str
    label: str
    scopes: tuple[str, ...]
    role: str | None
    """The role of an operator."""
    expires: datetime | None
    """The end of the key or token."""


class _Secured:
    """Adds the headers that restrict what a page may load, and who may show it, to every response of a route.

    Args:
        app: The route.
        path: The route in logs and metrics.
    """

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        scope["route"] = self

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                if is_tls(HTTPConnection(scope)):
                    headers.update(_TLS_HEADERS)
            await send(message)

        await self._app(scope, receive, send_secured)


class Console:
    """The routes under :data:`PATH`.

    Args:
        files: The built files. Default: those of this installation.
    """

    def __init__(self, files: ConsoleFiles | None = None) -> None:
        self._files = files or ConsoleFiles()
        if not self._files.are_built:
            _log.warning("console_files_missing")

    @property
    def routes(self) -> list[Route]:
        """The routes. They are not in the OpenAPI document, which is for other clients."""
        return [
            _route(PATH, _go_to_page, "GET"),
            _route(f"{PATH}/session", _session, "GET", "POST", "DELETE"),
            _route(f"{PATH}/{{path:{REST}}}", self._file, "GET", label=f"{PATH}/..."),
        ]

    async def _file(self, request: Request) -> Response:
        return self._files.response(request.path_params["path"], request.headers)


def _route(path: str, endpoint: _Endpoint, *methods: str, label: str | None = None) -> Route:
    secured = Middleware(_Secured, path=label or path)
    return Route(path, endpoint, methods=methods, include_in_schema=False, middleware=[secured])


async def _go_to_page(request: Request) -> Response:
    # A path only: the host of the request may be forged.
    return Response(status_code=308, headers={"Location": f"{PATH}/"})


async def _session(request: Request) -> Response:
    dependencies: Dependencies = request.app.state.dependencies
    sessions = dependencies.console
    assert sessions is not None
    match request.method:
        case "POST":
            return await _sign_in(request, dependencies, sessions)
        case "DELETE":
            return await _sign_out(request, sessions)
        case _:
            return await _show(request, dependencies, sessions)


async def _sign_in(request: Request, dependencies: Dependencies, sessions: ConsoleSessions) -> Response:
    if request.headers.get("sec-fetch-site") not in _OWN_SITES:
        raise ProblemError(403, "forbidden", "only the pages of the console may sign in")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        # The form of another site could send any other type.
        raise ProblemError(415, "unsupported-media-type", "send the body as application/json")
    given = (await json_body(SignIn, max_bytes=_MAX_BODY)(request)).api_key.strip()
    credential = given if dependencies.identity is not None and is_token(given) else KeyHash.of(given)
    if not isinstance(credential, KeyHash) or not _is_known(dependencies, credential):
        # A known key is not limited: after a proxy all clients have one address, and one that guesses would keep all others out.
        await sessions.admit_attempt(request)
    principal = await _principal_of(dependencies, credential)
    before = await sessions.find(request)
    if before is not None and isinstance(before.credential, KeyHash):
        await sessions.end(before)
    session = await sessions.begin_for_key(credential) if isinstance(credential, KeyHash) else sessions.begin_for_token(credential)
    _log.info("console_signed_in", kind=principal.kind, tenant=principal.tenant, key=principal.id)
    ends_at = _earliest(sessions.ends_at, principal.expires)
    response = _shown(session, principal, ends_at)
    set_cookie(response, request, session.value, max_age_s=int((ends_at - dependencies.clock.now()).total_seconds()))
    return response


async def _show(request: Request, dependencies: Dependencies, sessions: ConsoleSessions) -> Response:
    session = await sessions.find(request)
    if session is None:
        raise unauthorized("nobody is signed in")
    principal = await _principal_of(dependencies, session.credential)
    left = await sessions.ends_in(session)
    return _shown(session, principal, principal.expires if left is None else _earliest(dependencies.clock.now() + left, principal.expires))


async def _sign_out(request: Request, sessions: ConsoleSessions) -> Response:
    session = await sessions.find(request)
    if session is not None:
        require_csrf_token(request, session)
        if isinstance(session.credential, KeyHash):
            await sessions.end(session)
    response = Response(status_code=204, headers=_NOT_STORED)
    set_cookie(response, request, "", max_age_s=0)
    return response


def _is_known(dependencies: Dependencies, key: KeyHash) -> bool:
    tenants = dependencies.tenants
    return tenants.by_api_key_hash(key.value) is not None or tenants.by_operator_key_hash(key.value) is not None


async def _principal_of(dependencies: Dependencies, credential: str | KeyHash) -> Principal:
    """The owner of a key or token.

    Raises:
        ProblemError: 401 if it is unknown, 403 if the tenant is suspended, 503 if the identity provider cannot be asked.
    """
    operator = dependencies.tenants.by_operator_key_hash(credential.value) if isinstance(credential, KeyHash) else None
    if operator is not None:
        dependencies.key_uses.note(OPERATORS, operator.id)
        return Principal(
            kind="operator",
            tenant=None,
            user=None,
            id=operator.id,
            label=operator.label,
            scopes=(),
            role=operator.role,
            expires=operator.expires,
        )
    caller = await caller_of(dependencies, credential)
    require_active(caller.tenant)
    key = caller.key
    return Principal(
        kind="tenant",
        tenant=caller.tenant.id,
        user=key.user,
        id=key.id,
        label=key.label,
        scopes=key.scopes,
        role=None,
        expires=key.expires,
    )


def _shown(session: Session, principal: Principal, ends_at: datetime | None) -> Response:
    content = {"principal": principal, "version": version("varve-server"), "csrf_token": session.csrf_token, "expires_at": ends_at}
    return JsonResponse(content, headers=_NOT_STORED)


def _earliest(first: datetime, second: datetime | None) -> datetime:
    return first if second is None else min(first, second)
