"""A Qdrant server that is too old is refused before anything is written to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest
from qdrant_client import AsyncQdrantClient, models
from qdrant_client import grpc as wire

from stores.errors import StoreRejectedError, StoreTooOldError
from stores.server.connection import check_version
from stores.server.store import QdrantStore

AS_SHIPPED = (models.Datatype.TURBO8, models.Datatype.TURBO4)
HALF_PRECISION = (models.Datatype.FLOAT16, models.Datatype.TURBO4)


@pytest.mark.parametrize("version", ["1.20.0", "1.20.12", "1.21.0-dev", "v1.20.1", "1.100.0", "2.0.0", "1.20", "1.20.0+build.7"])
def test_a_server_from_1_20_on_will_do(version: str) -> None:
    check_version(version, datatypes=AS_SHIPPED)


@pytest.mark.parametrize("version", ["1.18.3", "1.19.99", "1.9.0", "0.20.0", "", "unknown", "1", "1.x", "٢.٠"])
def test_an_older_or_unknown_server_is_refused(version: str) -> None:
    with pytest.raises(StoreTooOldError, match=r"needs 1\.20 or newer"):
        check_version(version, datatypes=AS_SHIPPED)


def test_without_turbo8_version_1_19_will_do() -> None:
    check_version("1.19.0", datatypes=HALF_PRECISION)
    with pytest.raises(StoreTooOldError, match="set VARVE_STORE__DENSE_DATATYPE"):
        check_version("1.19.0", datatypes=AS_SHIPPED)


def test_before_1_19_no_datatype_helps() -> None:
    with pytest.raises(StoreTooOldError, match=r"needs 1\.19 or newer, for term statistics per tenant"):
        check_version("1.18.3", datatypes=HALF_PRECISION)


@pytest.mark.parametrize(("version", "error"), [("1.19.3", StoreTooOldError), ("1.20.0", StoreRejectedError)])
async def test_prepare_asks_for_the_version_first(version: str, error: type[Exception]) -> None:
    # No Qdrant server is at hand: this one knows its version and nothing else, and refuses whatever is asked beyond it.
    async with only_a_version(version) as port:
        client = AsyncQdrantClient(host="127.0.0.1", grpc_port=port, prefer_grpc=True, check_compatibility=False)
        store = QdrantStore(clients=[client], collection="c")
        with pytest.raises(error):
            await store.prepare(model="m", dimension=4, late_dimension=4)
        await store.close()


@asynccontextmanager
async def only_a_version(version: str) -> AsyncIterator[int]:
    async def health(_: object, context: object) -> object:
        return wire.HealthCheckReply(title="qdrant", version=version)

    handler = grpc.unary_unary_rpc_method_handler(health, wire.HealthCheckRequest.FromString, wire.HealthCheckReply.SerializeToString)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("qdrant.Qdrant", {"HealthCheck": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)
