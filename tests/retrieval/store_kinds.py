"""The stores that the contract holds for: Edge (a real owner process), qdrant-client's own engine, and a server if one is named."""

import os
import uuid
from pathlib import Path
from typing import Final

import pytest
from qdrant_client import AsyncQdrantClient

from retrieval.stores.edge.client import EdgeStore
from retrieval.stores.port import MemoryStore
from retrieval.stores.server.store import QdrantStore

SERVER: Final = os.environ.get("VARVE_TEST_QDRANT_URL")
KINDS: Final = [pytest.param("edge", marks=pytest.mark.integration), "local", *(["server"] if SERVER else [])]


def edge_store_on(socket: Path) -> MemoryStore:
    return EdgeStore(path=socket)


def qdrant_store(kind: str) -> MemoryStore:
    """The adapter of a server, on the server or on the engine inside of qdrant-client, which knows conditional upserts too."""
    if kind == "local":
        return QdrantStore(client=AsyncQdrantClient(":memory:"), collection="test")
    assert SERVER
    port = int(SERVER.rpartition(":")[2])
    return QdrantStore(client=AsyncQdrantClient(url=SERVER, grpc_port=port + 1, prefer_grpc=True), collection=f"test-{uuid.uuid4().hex}")
