"""Endpoints of the facades, which have the APIs of other systems: each request becomes calls of Varve's own API with the caller's key."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp
from varve_client import AsyncVarveClient, InvalidArgumentError, Memory, MessagesRefusedError, ServiceProblemError, ServiceUnreachableError

from api.auth.authentication import require_known
from api.own_api import OwnApi
from api.problems import RETRY_AFTER_S, ProblemError
from memory.errors import RecordError

TIMEOUT_S: Final = 300.0
"""As long as the clients of the other systems wait."""
COMMON_ERRORS: Final = (RecordError, InvalidArgumentError, MessagesRefusedError, ProblemError, ServiceProblemError, ServiceUnreachableError)
"""The errors that :func:`refusal_of` takes."""

MAX_LISTED: Final = 10_000
"""Most memories that one request lists or deletes: the other systems have page numbers, and Varve has cursors."""

_BAD_REQUEST: Final = 400
_UNAUTHORIZED: Final = 401
_NOT_FOUND: Final = 404
_UNAVAILABLE: Final = 503
_TEMPORARY: Final = (429, _UNAVAILABLE)
_RETRY: Final[Mapping[str, str]] = {"Retry-After": str(RETRY_AFTER_S)}

Answer = Callable[[AsyncVarveClient, Request], Awaitable[Response]]
KeyOf = Callable[[Request], str | None]


class Refusal(NamedTuple):
    """An error response, without the form that each API gives it."""

    status: int
    detail: str
    headers: Mapping[str, str]


def refusal_of(error: Exception) -> Refusal:
    """The response for one of the :data:`COMMON_ERRORS`, or for a request of another form than the API's.

    Args:
        error: The error.
    """
    match error:
        case ProblemError():
            return Refusal(error.status_code, str(error.detail), error.headers or {})
        case ServiceProblemError():
            return Refusal(error.status, error.detail, _headers_of(error.status))
        case MessagesRefusedError():
            status = next((each["status"] for each in error.refused if each.get("status") in _TEMPORARY), _BAD_REQUEST)
            return Refusal(status, str(error), _headers_of(status))
        case ServiceUnreachableError():
            return Refusal(_UNAVAILABLE, str(error), _RETRY)
        case _:
            return Refusal(_BAD_REQUEST, str(error), {})


def _headers_of(status: int) -> Mapping[str, str]:
    if status == _UNAUTHORIZED:
        return {"WWW-Authenticate": "Bearer"}
    return _RETRY if status in _TEMPORARY else {}


@dataclass(frozen=True, slots=True)
class _Label:
    """The route in logs and metrics."""

    path: str


class FacadeEndpoints:
    """Makes the endpoints of one API.

    Args:
        app: The service's ASGI app, which the endpoints call in this process.
        refuse: The response for an expected error.
        errors: The expected errors, besides the :data:`COMMON_ERRORS`.
    """

    def __init__(self, app: ASGIApp, *, refuse: Callable[[Request, Exception], Response], errors: tuple[type[Exception], ...]) -> None:
        self._api = OwnApi(app, timeout_s=TIMEOUT_S)
        self._refuse = refuse
        self._errors: tuple[type[Exception], ...] = (*COMMON_ERRORS, *errors)

    def endpoint(self, path: str, answer: Answer, *, key_of: KeyOf) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of a route.

        Args:
            path: The route in logs and metrics.
            answer: Answers a request, with a client that has the caller's key.
            key_of: Reads the key of a request; empty if it has none. None: the route needs no key.
        """
        label = _Label(path)

        async def endpoint(request: Request) -> Response:
            request.scope["route"] = label
            try:
                key = key_of(request)
                if key is not None:
                    await require_known(request.app.state.dependencies, key)
                async with self._api.client(request, key or "") as varve:
                    return await answer(varve, request)
            except self._errors as error:
                return self._refuse(request, error)

        return endpoint


async def list_memories(varve: AsyncVarveClient, **filters: Any) -> list[Memory]:
    """All memories that pass filters.

    Args:
        varve: A client with the caller's key.
        **filters: Those of the client's method ``all_memories``.

    Raises:
        ProblemError: 400 if there are more than :data:`MAX_LISTED`.
    """
    found: list[Memory] = []
    async for memory in varve.all_memories(**filters):
        if len(found) == MAX_LISTED:
            detail = f"more than {MAX_LISTED} memories; name a user or a time, or use Varve's own API, which has cursors"
            raise ProblemError(_BAD_REQUEST, "too-much", detail)
        found.append(memory)
    return found


async def delete_listed(varve: AsyncVarveClient, memory_ids: Iterable[str], *, reason: str) -> None:
    """Deletes memories that were listed before, one by one. Those that another request has deleted in the meantime are skipped.

    Args:
        varve: A client with the caller's key.
        memory_ids: Their ids.
        reason: The reason, for the log.
    """
    for memory_id in memory_ids:
        try:
            await varve.delete_memory(memory_id, reason=reason)
        except ServiceProblemError as error:
            if error.status != _NOT_FOUND:
                raise
