"""What qdrant-client raises, in this package's words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import grpc
import httpx
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from retrieval.errors import RetrievalError, StoreRejectedError, StoreUnavailableError

_PASSING: Final = frozenset(
    {
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.UNKNOWN,
    }
)
"""What a server may answer differently a moment later."""


class CollectionMissingError(StoreUnavailableError):
    """The collection was not made yet, or is being rebuilt."""


@contextmanager
def qdrant_faults(collection: str) -> Iterator[None]:
    """Translates errors of the client within the block.

    Raises:
        CollectionMissingError: If there is no such collection.
        StoreUnavailableError: For what may pass by itself: no connection, a time-out, an overload.
        StoreRejectedError: For a request that the server will never take.
    """
    try:
        yield
    except (grpc.RpcError, ApiException, QdrantException, httpx.HTTPError, OSError, ValueError) as error:
        kind, words = _kind_of(error)
        raise kind(f"Qdrant, collection {collection!r}: {words}") from error


def _kind_of(error: Exception) -> tuple[type[RetrievalError], str]:
    if isinstance(error, grpc.aio.AioRpcError):
        if error.code() is grpc.StatusCode.NOT_FOUND:
            return CollectionMissingError, str(error.details())
        return _passing(error.code() in _PASSING), f"{error.code().name}: {error.details()}"
    if isinstance(error, UnexpectedResponse):
        if error.status_code == httpx.codes.NOT_FOUND:
            return CollectionMissingError, str(error)
        return _passing(error.status_code in (408, 429) or (error.status_code or 500) >= 500), str(error)
    words = str(error) or repr(error)
    if isinstance(error, ValueError):
        # The engine inside qdrant-client says a missing collection so.
        return (CollectionMissingError, words) if words.endswith("not found") else (StoreRejectedError, words)
    return StoreUnavailableError, words


def _passing(passes: bool) -> type[RetrievalError]:
    return StoreUnavailableError if passes else StoreRejectedError
