"""Builds the client and the collection options of a Qdrant server from the settings."""

from urllib.parse import urlsplit

from qdrant_client import AsyncQdrantClient, models

from runtime.settings import StoreSettings
from stores.server.creation import CollectionOptions


def connected(store: StoreSettings) -> AsyncQdrantClient:
    """A client of the server. It connects on the first request."""
    address = urlsplit(store.url)
    return AsyncQdrantClient(
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
