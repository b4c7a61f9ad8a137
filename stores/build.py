"""Builds the vector store that the settings name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from runtime.settings import Settings
from stores.edge.client import EdgeStore
from stores.port import MemoryStore


def build_store(settings: Settings) -> MemoryStore:
    """Builds the adapter. It connects on the first request.

    Args:
        settings: ``store`` selects the adapter. ``data`` locates the socket of the Edge process unless ``store.socket`` does.
    """
    store = settings.store
    if store.kind == "edge":
        return EdgeStore(path=settings.edge_socket, timeout_s=store.timeout_s)
    from stores.server.connection import connected, options_of
    from stores.server.store import QdrantStore

    return QdrantStore(clients=connected(store), collection=store.collection, timeout_s=store.timeout_s, options=options_of(store))


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[MemoryStore]:
    """Builds the adapter and closes it at the end of the block."""
    store = build_store(settings)
    try:
        yield store
    finally:
        await store.close()
