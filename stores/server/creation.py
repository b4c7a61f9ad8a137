"""Creates the collection on a server, with its shards and indexes, and assigns tenants to the shards.

Each process creates missing parts at its start, so several processes may do it at the same time. An existing part is not an error.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from zlib import crc32

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ApiException

from stores.collection import BM25, DATETIME_FIELDS, DELETED_TENANT, DENSE, KEYWORD_FIELDS, LATE, POSITION_FIELDS, TENANT
from stores.errors import StoreRejectedError

TENANT_SHARDS: Final = "tenant_shards"
"""Metadata field with the number of shared shards. It is missing if the server distributes points by their ids."""
_KEYS_PER_COUNT: Final = 10_000
"""The key of a shared shard contains the number of shared shards. A process with an outdated number then uses missing keys and gets an
error."""

EXACT_SEARCH_UP_TO_KB: Final = 100_000
"""The engine scans tenants whose dense vectors are smaller than this. Filtered graphs lost matches, and a scan of so few points is as
fast."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Tiered multitenancy: small tenants share shards, and a large one may have its own shard.

    The keys of shared shards are numbers. The key of a tenant's own shard is the tenant's id, a text, so keys never clash. A request names
    both keys. The server then uses the tenant's own shard if it exists and is complete, and otherwise the shared one.
    """

    shared: int = 0
    """Number of shards that tenants share. 0: the server distributes all points by their ids."""

    @classmethod
    def recorded_in(cls, metadata: Mapping[str, Any] | None) -> Self:
        """The placement in a collection's metadata."""
        return cls((metadata or {}).get(TENANT_SHARDS) or 0)

    @property
    def shared_keys(self) -> list[int]:
        """The keys of the shards that tenants share."""
        return [self._shared_key(index) for index in range(self.shared)]

    def shared_key_of(self, tenant: str) -> int:
        """The key of the shared shard of a tenant."""
        return self._shared_key(crc32(tenant.encode()) % self.shared)

    def key_of(self, tenant: str | None) -> models.ShardKeySelector | None:
        """The shard key of a request for a tenant's points.

        Args:
            tenant: The tenant. None: points without a tenant.

        Returns:
            None if the server distributes the points by their ids.
        """
        if not self.shared:
            return None
        return self._shared_key(0) if tenant is None else models.ShardKeyWithFallback(target=tenant, fallback=self.shared_key_of(tenant))

    def _shared_key(self, index: int) -> int:
        return self.shared * _KEYS_PER_COUNT + index


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionOptions:
    """Options of a new collection. None: the server's default. An existing collection keeps its options."""

    replication_factor: int | None = None
    """Copies of each shard."""
    write_consistency_factor: int | None = None
    """Copies that must confirm a write."""
    shard_number: int | None = None
    """Number of shards; points are distributed by their ids."""
    tenant_shards: int | None = None
    """Number of shards that tenants share, each tenant in one of them. It replaces ``shard_number``."""
    dense_datatype: models.Datatype = models.Datatype.TURBO8
    """One byte per number, plus the vector's length. There is no other copy of the vectors."""
    late_datatype: models.Datatype = models.Datatype.TURBO4
    """Half a byte per number: see :mod:`stores.edge.engine`."""


async def create_collection(client: AsyncQdrantClient, collection: str, options: CollectionOptions, *, metadata: Mapping[str, Any]) -> None:
    """Creates the collection, without its shared shards and its indexes.

    Raises:
        StoreRejectedError: If the options request shards by tenant, and the server is not part of a cluster.
    """
    by_tenant = options.tenant_shards is not None
    if by_tenant and (await client.cluster_status()).status == "disabled":
        raise StoreRejectedError(
            f"collection {collection!r} was not created: shards by tenant (VARVE_STORE__TENANT_SHARDS) need a Qdrant server that is part "
            "of a cluster of at least one node; set QDRANT__CLUSTER__ENABLED=true there, or remove the setting"
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
            # With shard keys this is the number per key. It must be 1, since a tenant is copied from one shard to another.
            shard_number=1 if by_tenant else options.shard_number,
            sharding_method=models.ShardingMethod.CUSTOM if by_tenant else None,
        )
    except (grpc.RpcError, ApiException):
        if not await client.collection_exists(collection):
            raise


async def create_missing_shards(client: AsyncQdrantClient, collection: str, placement: Placement) -> None:
    """Creates the missing ones of the shards that tenants share."""
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
    """The keys of a collection's shards: shared ones, and those of single tenants."""
    return {each.key for each in (await client.list_shard_keys(collection)).shard_keys or ()}


async def create_missing_indexes(client: AsyncQdrantClient, collection: str, *, existing: Iterable[str]) -> None:
    """Creates the indexes that filters need, except those of the existing fields."""
    indexes: dict[str, Any] = {TENANT: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)}
    indexes |= dict.fromkeys((*KEYWORD_FIELDS, DELETED_TENANT), models.PayloadSchemaType.KEYWORD)
    indexes |= dict.fromkeys(DATETIME_FIELDS, models.PayloadSchemaType.DATETIME)
    # Few searches filter by positions, and nearly all points pass, so the graph needs no links per value.
    indexes |= dict.fromkeys(POSITION_FIELDS, models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, enable_hnsw=False))
    for field in indexes.keys() - {*existing}:
        await client.create_payload_index(collection, field, field_schema=indexes[field], wait=True)
