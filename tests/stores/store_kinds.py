"""The stores that the contract holds for: Edge (a real owner process), qdrant-client's own engine, and a server if one is named."""

import os
import uuid
from pathlib import Path
from typing import Final

import pytest
from qdrant_client import AsyncQdrantClient, models

from stores.edge.client import EdgeStore
from stores.port import MemoryStore
from stores.server.creation import CollectionOptions
from stores.server.store import QdrantStore

SERVER: Final = os.environ.get("VARVE_TEST_QDRANT_URL")
BY_TENANT: Final = "server by tenant"
"""A server whose tenants share shards, which takes one that is part of a cluster, of one node at least."""
KINDS: Final = [pytest.param("edge", marks=pytest.mark.integration), "local", *(["server", BY_TENANT] if SERVER else [])]
TENANT_SHARDS: Final = 3
DENSE: Final = models.Datatype(os.environ.get("VARVE_TEST_QDRANT_DENSE", models.Datatype.TURBO8.value))
"""A server before 1.20 knows no turbo8."""


def edge_store_on(socket: Path) -> MemoryStore:
    return EdgeStore(path=socket, timeout_s=60)  # no test of isolation fails because the machine is busy


def qdrant_store(kind: str) -> MemoryStore:
    """The adapter of a server, on the server or on the engine inside of qdrant-client, which knows conditional upserts too."""
    if kind == "local":
        return QdrantStore(clients=[AsyncQdrantClient(":memory:")], collection="test")
    return QdrantStore(clients=[server_client()], collection=f"test-{uuid.uuid4().hex}", options=options_on_server(kind))


def options_on_server(kind: str) -> CollectionOptions:
    """How a collection is created on the server that is named."""
    return CollectionOptions(tenant_shards=TENANT_SHARDS if kind == BY_TENANT else None, dense_datatype=DENSE)


def server_client() -> AsyncQdrantClient:
    """A client of the server that is named, whose gRPC port is one above."""
    assert SERVER
    port = int(SERVER.rpartition(":")[2])
    # A cluster's nodes agree on each index of a collection that is created.
    return AsyncQdrantClient(url=SERVER, grpc_port=port + 1, prefer_grpc=True, timeout=60, check_compatibility=False)
