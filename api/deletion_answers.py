"""Responses to deletions of memories: a repetition gets the first response, although the memory does not exist any more."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.responses import Response

from api.authentication import Caller
from api.dependencies import Dependencies
from api.problems import ProblemError
from memory.keys import encode_key
from runtime.errors import RedisUnavailableError
from runtime.idempotency_cache import Begun

_NOT_FOUND = 404
_REQUEST = b"DELETE"


class DeletionAnswers:
    """The responses to deletions of one memory, kept as long as those of idempotency keys.

    They are kept for the tenant and for the user of each key that deleted it, so that a key finds only what it may see.

    Args:
        dependencies: The cache of responses.
        caller: The sender of the request.
        memory_id: The memory.
    """

    def __init__(self, dependencies: Dependencies, caller: Caller, memory_id: str) -> None:
        self._answers = dependencies.answers
        self._owner = encode_key(*filter(None, (caller.tenant.id, caller.key.user))).decode("ascii")
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
        await self._keep(bytes(response.body))
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
