"""The store that the settings name."""

from urllib.parse import urlsplit

from retrieval.stores.edge.client import EdgeStore
from retrieval.stores.port import MemoryStore
from runtime.settings import Settings


def build_store(settings: Settings) -> MemoryStore:
    """Builds the adapter, connecting to nothing yet.

    Args:
        settings: ``store`` decides; ``data`` says where the Edge process listens unless ``store.socket`` does.
    """
    store = settings.store
    if store.kind == "edge":
        return EdgeStore(path=settings.edge_socket, timeout_s=store.timeout_s)
    from qdrant_client import AsyncQdrantClient

    from retrieval.stores.server.store import Distribution, QdrantStore

    address = urlsplit(store.url)
    client = AsyncQdrantClient(
        host=address.hostname or "127.0.0.1",
        port=address.port or 6333,
        https=address.scheme == "https",
        prefix=address.path or None,
        grpc_port=store.grpc_port,
        prefer_grpc=True,
        api_key=store.api_key.get_secret_value() if store.api_key else None,
        timeout=max(1, round(store.timeout_s)),
        check_compatibility=False,
    )
    distribution = Distribution(
        replication_factor=store.replication_factor,
        write_consistency_factor=store.write_consistency_factor,
        shard_number=store.shard_number,
    )
    return QdrantStore(client=client, collection=store.collection, timeout_s=store.timeout_s, distribution=distribution)
