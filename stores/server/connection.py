"""Connection to a Qdrant server: client, options, check of its version, and translation of its errors."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

import grpc
import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from runtime.settings import StoreSettings
from stores.errors import CollectionMissingError, StoreError, StoreRejectedError, StoreTooOldError, StoreUnavailableError
from stores.server.creation import CollectionOptions

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

_INDEX_MISSING: Final = "Index required but not found"
"""In strict mode, the server refuses a filter by a field without an index with this text, and with a code of many meanings."""

OLDEST: Final = (1, 19)
"""Older servers silently ignore a request for term statistics per tenant, and rank by those of all tenants together."""
OLDEST_WITH_TURBO8: Final = (1, 20)
"""The first version that stores vectors with one byte per number."""

_RECONNECT_WITHIN_MS: Final = 2000
"""gRPC's default is two minutes, during which a server that has returned stays unavailable."""

_VERSION: Final = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:[.+-].*)?", re.ASCII)


@contextmanager
def qdrant_errors(collection: str) -> Iterator[None]:
    """Translates the client's errors within the block.

    Raises:
        CollectionMissingError: If the collection does not exist.
        StoreUnavailableError: On a failed connection, a timeout, or overload, or while the collection's indexes are being created.
        StoreRejectedError: If the server refuses the request, and would refuse a retry.
    """
    try:
        yield
    except (grpc.RpcError, ApiException, QdrantException, httpx.HTTPError, OSError, ValueError) as error:
        error_type, detail = _translate(error)
        raise error_type(f"Qdrant, collection {collection!r}: {detail}") from error


def _translate(error: Exception) -> tuple[type[StoreError], str]:
    if _INDEX_MISSING in str(error):
        # A collection exists before its indexes: the server creates them one after the other.
        return StoreUnavailableError, f"an index is missing; the index stage creates it when it starts: {_details(error)}"
    if isinstance(error, grpc.aio.AioRpcError):
        if error.code() is grpc.StatusCode.NOT_FOUND:
            return CollectionMissingError, str(error.details())
        return _error_type(is_transient=error.code() in _TRANSIENT), f"{error.code().name}: {error.details()}"
    if isinstance(error, UnexpectedResponse):
        if error.status_code == httpx.codes.NOT_FOUND:
            return CollectionMissingError, str(error)
        return _error_type(is_transient=error.status_code in (408, 429) or (error.status_code or 500) >= 500), str(error)
    detail = str(error) or repr(error)
    if isinstance(error, ValueError):
        # The engine inside qdrant-client reports a missing collection as a ValueError.
        return (CollectionMissingError, detail) if detail.endswith("not found") else (StoreRejectedError, detail)
    return StoreUnavailableError, detail


def _details(error: Exception) -> str:
    return str(error.details()) if isinstance(error, grpc.aio.AioRpcError) else str(error)


def _error_type(*, is_transient: bool) -> type[StoreError]:
    return StoreUnavailableError if is_transient else StoreRejectedError


def check_version(version: str, *, datatypes: Collection[models.Datatype]) -> None:
    """Refuses a server that cannot store the vectors, or would rank one tenant's memories by other tenants' term statistics.

    Args:
        version: The server's version, such as ``1.20.2``.
        datatypes: The datatypes of the vectors.

    Raises:
        StoreTooOldError: If the server is too old, or the text is not a version.
    """
    has_turbo8 = models.Datatype.TURBO8 in datatypes
    needed = OLDEST_WITH_TURBO8 if has_turbo8 else OLDEST
    oldest = ".".join(map(str, needed))
    found = _VERSION.fullmatch(version)
    if found is None:
        raise StoreTooOldError(f"the Qdrant server reports {version[:40]!r} as its version; Varve needs {oldest} or newer")
    numbers = (int(found[1]), int(found[2]))
    if numbers >= needed:
        return
    if numbers >= OLDEST:
        remedy = "Update it, or set VARVE_STORE__DENSE_DATATYPE, and VARVE_STORE__LATE_DATATYPE if it is not turbo4, to float16"
    else:
        remedy = "Update it; its data stays usable"
    reason = "vectors of one byte per number" if numbers >= OLDEST else "term statistics per tenant"
    raise StoreTooOldError(f"the Qdrant server has version {version}; Varve needs {oldest} or newer, for {reason}. {remedy}")


def connected(store: StoreSettings) -> list[AsyncQdrantClient]:
    """A client of each node that the settings name, in their order. It connects on the first request."""
    return [_client(store, address) for address in store.addresses]


def _client(store: StoreSettings, address: str) -> AsyncQdrantClient:
    parts = urlsplit(address)
    return AsyncQdrantClient(
        host=parts.hostname,
        port=parts.port or 6333,
        https=parts.scheme == "https",
        prefix=parts.path or None,
        grpc_port=store.grpc_port,
        grpc_options={"grpc.max_reconnect_backoff_ms": _RECONNECT_WITHIN_MS},
        prefer_grpc=True,
        api_key=store.api_key.get_secret_value() if store.api_key else None,
        timeout=max(1, round(store.timeout_s)),
        check_compatibility=False,
    )


def options_of(store: StoreSettings) -> CollectionOptions:
    """The options of a new collection."""
    return CollectionOptions(
        replication_factor=store.replication_factor,
        write_consistency_factor=store.write_consistency_factor,
        shard_number=store.shard_number,
        tenant_shards=store.tenant_shards,
        dense_datatype=models.Datatype(store.dense_datatype),
        late_datatype=models.Datatype(store.late_datatype),
    )
