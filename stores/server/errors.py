"""Translates the errors of qdrant-client into this package's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import grpc
import httpx
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from stores.errors import CollectionMissingError, StoreError, StoreRejectedError, StoreUnavailableError

_TRANSIENT: Final = frozenset(
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
"""Codes after which a retry may succeed."""


@contextmanager
def qdrant_errors(collection: str) -> Iterator[None]:
    """Translates the client's errors within the block.

    Raises:
        CollectionMissingError: If the collection does not exist.
        StoreUnavailableError: On a failed connection, a timeout, or overload.
        StoreRejectedError: If the server refuses the request, and would refuse a retry.
    """
    try:
        yield
    except (grpc.RpcError, ApiException, QdrantException, httpx.HTTPError, OSError, ValueError) as error:
        error_type, detail = _translate(error)
        raise error_type(f"Qdrant, collection {collection!r}: {detail}") from error


def _translate(error: Exception) -> tuple[type[StoreError], str]:
    if isinstance(error, grpc.aio.AioRpcError):
        if error.code() is grpc.StatusCode.NOT_FOUND:
            return CollectionMissingError, str(error.details())
        return _by_transience(error.code() in _TRANSIENT), f"{error.code().name}: {error.details()}"
    if isinstance(error, UnexpectedResponse):
        if error.status_code == httpx.codes.NOT_FOUND:
            return CollectionMissingError, str(error)
        return _by_transience(error.status_code in (408, 429) or (error.status_code or 500) >= 500), str(error)
    detail = str(error) or repr(error)
    if isinstance(error, ValueError):
        # The engine inside qdrant-client reports a missing collection as a ValueError.
        return (CollectionMissingError, detail) if detail.endswith("not found") else (StoreRejectedError, detail)
    return StoreUnavailableError, detail


def _by_transience(is_transient: bool) -> type[StoreError]:
    return StoreUnavailableError if is_transient else StoreRejectedError
