"""Errors of a Qdrant server: transient ones, which are retried, and permanent ones."""

import uuid

import grpc
import pytest
from grpc.aio import AioRpcError, Metadata

from stores.errors import CollectionMissingError, StoreError, StoreRejectedError, StoreUnavailableError
from stores.port import TenantScope
from stores.server.connection import qdrant_errors
from stores.server.creation import create_collection
from stores.server.store import QdrantStore
from tests.stores.store_kinds import SERVER, options_on_server, server_client

_NO_INDEX = 'Bad request: Index required but not found for "tenant" of one of the following types: [keyword]. Help: Create an index'


@pytest.mark.parametrize(
    ("code", "details", "expected"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, _NO_INDEX, StoreUnavailableError),
        (grpc.StatusCode.INVALID_ARGUMENT, "Wrong input: Vector dimension error", StoreRejectedError),
        (grpc.StatusCode.NOT_FOUND, "Collection `varve` doesn't exist!", CollectionMissingError),
        (grpc.StatusCode.UNAVAILABLE, "connection refused", StoreUnavailableError),
    ],
)
def test_server_errors_are_classified_as_transient_or_permanent(code: grpc.StatusCode, details: str, expected: type[StoreError]) -> None:
    with pytest.raises(StoreError) as raised, qdrant_errors("varve"):
        raise AioRpcError(code, Metadata(), Metadata(), details)
    assert type(raised.value) is expected
    assert details in str(raised.value)


@pytest.mark.skipif(SERVER is None, reason="no Qdrant server: name one in VARVE_TEST_QDRANT_URL")
async def test_a_collection_without_indexes_is_not_ready_yet() -> None:
    client, collection = server_client(), f"test-{uuid.uuid4().hex}"
    await create_collection(client, collection, options_on_server("server"), metadata={"dimension": 4, "late_dimension": 4})
    store = QdrantStore(clients=[client], collection=collection)
    try:
        with pytest.raises(StoreUnavailableError, match="an index is missing"):
            await store.count(TenantScope("acme"))
    finally:
        await store.drop()
        await store.close()
