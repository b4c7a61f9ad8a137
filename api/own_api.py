"""Access of the facades and the MCP server to the service's own API, in this process and with the key of their caller."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import httpx
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp
from varve_client import AsyncVarveClient

from api.http.middleware import REQUEST_ID
from api.problems import unauthorized
from runtime.tracing import TRACEPARENT, write_traceparent

_BASE_URL: Final = "http://varve"
_NO_KEY: Final = "none"
"""Stands for a missing key, without which the client cannot be made; no tenant has it."""


class OwnApi:
    """The service's API. A call is authenticated, limited and recorded like one that arrives over the network.

    Args:
        app: The service's ASGI app.
        timeout_s: Timeout of one call, in seconds.
    """

    def __init__(self, app: ASGIApp, *, timeout_s: float) -> None:
        self._transport = httpx.ASGITransport(app)
        self._timeout_s = timeout_s

    @asynccontextmanager
    async def client(self, request: Request, api_key: str) -> AsyncIterator[AsyncVarveClient]:
        """A client for the calls that answer a request: they have the request's trace and id.

        Args:
            request: The request of the facade's caller.
            api_key: The caller's key. Empty: there is none, and the API refuses the calls that need one.

        Raises:
            ProblemError: 401 if the key has characters that no key has, and that no header may have.
        """
        if not api_key.isascii() or not api_key.isprintable() or " " in api_key:
            raise unauthorized("this is no API key: it has characters that no key has")
        headers = [(TRACEPARENT.encode("ascii"), write_traceparent(request.state.trace).encode("ascii"))]
        if REQUEST_ID in request.headers:
            headers.append((REQUEST_ID.encode("ascii"), request.headers[REQUEST_ID].encode("latin-1")))
        async with (
            httpx.AsyncClient(transport=self._transport, headers=headers, timeout=self._timeout_s, trust_env=False) as http,
            # The caller repeats refused requests: a wait in this process would hold its request open.
            AsyncVarveClient(_BASE_URL, api_key=api_key or _NO_KEY, http=http, max_attempts=1) as varve,
        ):
            yield varve


def api_key_of(headers: Headers, *, schemes: Collection[str] = ("bearer",)) -> str:
    """The API key of a request; empty if there is none.

    Args:
        headers: The request's headers.
        schemes: Schemes of the ``Authorization`` header with which clients send a key, in lower case.
    """
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    return credentials.strip() if scheme.lower() in schemes else headers.get("x-api-key", "")
