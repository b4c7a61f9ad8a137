"""Creates the collection on a server, with its shards and indexes.

Each process creates what is missing when it starts, so another one may be at it at the same moment: what is there by then is no error.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ApiException

from stores.collection import BM25, DATETIME_FIELDS, DELETED_TENANT, DENSE, KEYWORD_FIELDS, LATE, POSITION_FIELDS, TENANT
from stores.errors import StoreRejectedError
from stores.server.placement import TENANT_SHARDS, Placement

EXACT_SEARCH_UP_TO_KB: Final = 100_000
"""The engine searches a tenant exactly whose dense vectors take less. Filtered graphs lost matches, and a scan of so few is as fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionOptions:
    """What is chosen of a collection where it is created; None: as the server is configured. One that is there keeps its own."""

    replication_factor: int | None = None
    """Copies of each shard."""
    write_consistency_factor: int | None = None
    """Copies that have to take a write before it counts."""
    shard_number: int | None = None
    """Shards that points are spread over by their ids."""
    tenant_shards: int | None = None
    """Shards that tenants share, each tenant in one of them, instead of those."""
    dense_datatype: models.Datatype = models.Datatype.TURBO8
    """One byte a number, and a vector's length beside them; nothing is kept twice."""
    late_datatype: models.Datatype = models.Datatype.TURBO4
    """Half a byte a number: see :mod:`stores.edge.engine`."""


async def create_collection(client: AsyncQdrantClient, collection: str, options: CollectionOptions, *, metadata: Mapping[str, Any]) -> None:
    """Creates the collection, without its shared shards and its indexes.

    Args:
        client: Of the server.
        collection: The collection's name.
        options: What is chosen of it.
        metadata: What it records of how its points are made: see :func:`stores.collection.metadata_of`.

    Raises:
        StoreRejectedError: If tenants are to share shards, and the server is part of no cluster.
    """
    by_tenant = options.tenant_shards is not None
    if by_tenant and (await client.cluster_status()).status == "disabled":
        raise StoreRejectedError(
            f"collection {collection!r} was not created: shards by tenant (VARVE_STORE__TENANT_SHARDS) take a Qdrant server that is part "
            "of a cluster, of one node at least; set QDRANT__CLUSTER__ENABLED=true there, or leave the setting out"
        )
    vectors = {DENSE: models.VectorParams(size=metadata["dimension"], distance=models.Distance.COSINE, datatype=options.dense_datatype)}
    if metadata["late_dimension"] is not None:
        vectors[LATE] = models.VectorParams(
            size=metadata["late_dimension"],
            distance=models.Distance.COSINE,
            multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
            datatype=options.late_datatype,
            hnsw_config=models.HnswConfigDiff(m=0),
            on_disk=True,
        )
    try:
        await client.create_collection(
            collection,
            vectors_config=vectors,
            sparse_vectors_config={BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=16, full_scan_threshold=EXACT_SEARCH_UP_TO_KB),
            strict_mode_config=models.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False),
            metadata={**metadata, TENANT_SHARDS: options.tenant_shards} if by_tenant else dict(metadata),
            replication_factor=options.replication_factor,
            write_consistency_factor=options.write_consistency_factor,
            # Of each key, where shards have keys: a tenant is copied from one shard to another.
            shard_number=1 if by_tenant else options.shard_number,
            sharding_method=models.ShardingMethod.CUSTOM if by_tenant else None,
        )
    except (grpc.RpcError, ApiException):
        if not await client.collection_exists(collection):
            raise


async def create_missing_shards(client: AsyncQdrantClient, collection: str, placement: Placement) -> None:
    """Creates the shards that tenants share, where one is missing.

    Args:
        client: Of the server.
        collection: The collection's name.
        placement: As the collection was created with.
    """
    if not placement.shared:
        return
    existing = await shard_keys(client, collection)
    for key in placement.shared_keys:
        if key in existing:
            continue
        try:
            await client.create_shard_key(collection, key)
        except (grpc.RpcError, ApiException):
            if key not in await shard_keys(client, collection):
                raise


async def shard_keys(client: AsyncQdrantClient, collection: str) -> set[models.ShardKey]:
    """The keys of a collection's shards: of those that tenants share, and of tenants' own."""
    return {each.key for each in (await client.list_shard_keys(collection)).shard_keys or ()}


async def create_missing_indexes(client: AsyncQdrantClient, collection: str, *, existing: Iterable[str]) -> None:
    """Creates the indexes that filters need.

    Args:
        client: Of the server.
        collection: The collection's name.
        existing: The fields that have an index.
    """
    indexes: dict[str, Any] = {TENANT: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)}
    indexes |= dict.fromkeys((*KEYWORD_FIELDS, DELETED_TENANT), models.PayloadSchemaType.KEYWORD)
    indexes |= dict.fromkeys(DATETIME_FIELDS, models.PayloadSchemaType.DATETIME)
    # Few searches filter by positions, and nearly all points pass, so the graph need not be connected within their values.
    indexes |= dict.fromkeys(POSITION_FIELDS, models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, enable_hnsw=False))
    for field in indexes.keys() - {*existing}:
        await client.create_payload_index(collection, field, field_schema=indexes[field], wait=True)
