"""Repeated requests take effect once: ``Idempotency-Key`` of a POST (draft-ietf-httpapi-idempotency-key-header), and deletions of a memory.

A kept response lacks ``remaining``.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Final

import orjson
from fastapi import Depends, Header
from starlette.requests import Request
from starlette.responses import Response

from api.auth.authentication import caller_with
from api.auth.caller import Caller
from api.dependencies import Dependencies, dependencies_of
from api.problems import RETRY_AFTER_S, ProblemError
from control.access_keys import Scope
from control.key_usage import OPERATORS
from memory.keys import encode_key
from runtime.errors import RedisUnavailableError
from runtime.redis.idempotency_cache import Begun, IdempotencyCache, Obstacle

STATUS_HEADER: Final = "Idempotency-Status"
"""``kept``: a repeated request gets this response. ``replayed``: this is the first request's response. ``not-kept``: a repeated request is
executed again, because Redis is unavailable or the response is too large."""

_QUOTED: Final = re.compile(r'"(.*)"')
_FORM: Final = re.compile(r"[!-~]{1,256}")

KeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="A name for this request, such as a UUID: 1 to 256 visible ASCII characters, quoted or not. A repeated "
        "request with the same body gets the stored response for a day; with another body 422; while the first is in progress 409.",
    ),
]

_NOT_FOUND = 404
_REQUEST = b"DELETE"


class Idempotency:
    """Executes a request once per idempotency key of its owner. Only a 200 is stored: a request with another result may be repeated.

    Args:
        key: The header's value. None: no key.

    Raises:
        ProblemError: If the key is malformed.
    """

    def __init__(self, *, answers: IdempotencyCache, owner: str, key: str | None, request: bytes) -> None:
        quoted = None if key is None else _QUOTED.fullmatch(key)
        self._key = key if quoted is None else quoted[1]
        if self._key is not None and not _FORM.fullmatch(self._key):
            raise ProblemError(422, "invalid", "Idempotency-Key: 1 to 256 visible ASCII characters, such as a UUID")
        self._answers = answers
        self._owner = owner
        self._request = request

    @property
    def request_name(self) -> str | None:
        """The request's name, unique among all owners and all requests with one key. None: the request has no key."""
        return None if self._key is None else f"{self._owner} {self._key} {hashlib.sha256(self._request).hexdigest()}"

    async def once(self, act: Callable[[], Awaitable[Response]], *, kept: Callable[[bytes], bytes] = bytes) -> Response:
        """Carries the request out, or returns the response of the first request with its key.

        While Redis is unavailable, the request is executed, since rejecting it would be the greater harm. The response says so.

        Args:
            act: Carries it out.
            kept: The part of the response's body that is stored. An erasure of a user does not find it: it must not have their texts.

        Raises:
            ProblemError: 409 while the first request is in progress, 422 if the first request was different; and any error of ``act``.
        """
        if self._key is None:
            return await act()
        try:
            begun = await self._answers.begin(self._owner, self._key, self._request)
        except RedisUnavailableError:
            return _with_status(await act(), "not-kept")
        if begun is Obstacle.IN_WORK:
            raise ProblemError(409, "in-work", f"{begun.value}; try again", headers={"Retry-After": str(RETRY_AFTER_S)})
        if begun is Obstacle.OTHER_REQUEST:
            raise ProblemError(422, "idempotency-key-reused", f"{begun.value}; a new request needs a new key")
        if isinstance(begun, bytes):
            return _with_status(Response(begun, media_type="application/json"), "replayed")
        assert not isinstance(begun, Obstacle)
        is_kept = False
        try:
            response = await act()
            with suppress(RedisUnavailableError):
                is_kept = response.status_code == 200 and await self._answers.keep(begun, kept(bytes(response.body)))
        finally:
            if not is_kept:
                with suppress(RedisUnavailableError):
                    await self._answers.forget(begun)
        return _with_status(response, "kept" if is_kept else "not-kept")


def _tenants(scope: Scope) -> Callable[..., Awaitable[Idempotency]]:
    async def _of_caller(request: Request, caller: Annotated[Caller, Depends(caller_with(scope))], key: KeyHeader = None) -> Idempotency:
        return await _idempotency(request, _owner(caller), key)

    return _of_caller


async def _operators(request: Request, key: KeyHeader = None) -> Idempotency:
    return await _idempotency(request, OPERATORS, key)


async def _idempotency(request: Request, owner: str, key: str | None) -> Idempotency:
    query, path = request.scope["query_string"], request.scope["path"].encode()
    what = b"%s %s %s\n%s" % (request.method.encode(), query, path, b"" if key is None else await request.body())
    return Idempotency(answers=dependencies_of(request).answers, owner=owner, key=key, request=what)


def _owner(caller: Caller) -> str:
    return encode_key(*filter(None, (caller.tenant.id, caller.key.user))).decode("ascii")


def _with_status(response: Response, status: str) -> Response:
    response.headers[STATUS_HEADER] = status
    return response


IngestIdempotency = Annotated[Idempotency, Depends(_tenants("ingest"))]
CorrectIdempotency = Annotated[Idempotency, Depends(_tenants("correct"))]
OperateIdempotency = Annotated[Idempotency, Depends(_tenants("operate"))]
OperatorsIdempotency = Annotated[Idempotency, Depends(_operators)]
"""For routes that admit only operators."""


class DeletionAnswers:
    """The responses to deletions of one memory, kept as long as those of idempotency keys.

    They are kept for the tenant and for the user of each key that deleted it, so that a key finds only what it may see.
    """

    def __init__(self, dependencies: Dependencies, caller: Caller, memory_id: str) -> None:
        self._answers = dependencies.answers
        self._owner = _owner(caller)
        # A caller's idempotency key has no space.
        self._key = f"deletion of {memory_id}"

    async def once(self, delete: Callable[[], Awaitable[Response]]) -> Response:
        """Deletes the memory; if it does not exist any more, returns the response to its deletion.

        The memory is looked up first: after a new extraction, another memory may have the id.

        Raises:
            ProblemError: 404 if there is no such memory and no kept response, and what ``delete`` raises.
        """
        try:
            response = await delete()
        except ProblemError as error:
            if error.status_code != _NOT_FOUND:
                raise
            kept = await self._kept()
            if kept is None:
                raise
            return Response(kept, media_type="application/json")
        # The ids of messages may name a user, and an erasure of the user does not find this response.
        kept_fields = {name: value for name, value in orjson.loads(response.body).items() if name != "remaining"}
        await self._keep(orjson.dumps(kept_fields))
        return response

    async def _kept(self) -> bytes | None:
        with suppress(RedisUnavailableError):
            found = await self._answers.begin(self._owner, self._key, _REQUEST)
            if isinstance(found, bytes):
                return found
            if isinstance(found, Begun):
                await self._answers.forget(found)
        return None

    async def _keep(self, answer: bytes) -> None:
        with suppress(RedisUnavailableError):
            begun = await self._answers.begin(self._owner, self._key, _REQUEST)
            if isinstance(begun, Begun):
                await self._answers.keep(begun, answer)
