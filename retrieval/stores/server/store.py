"""The :class:`~retrieval.stores.port.MemoryStore` on a Qdrant server, over gRPC."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from qdrant_client import AsyncQdrantClient, models

from retrieval.errors import CollectionMissingError, StoreUnavailableError
from retrieval.stores.base import StoreBase
from retrieval.stores.collection import (
    BM25,
    DATETIME_FIELDS,
    DENSE,
    KEYWORD_FIELDS,
    LATE,
    POSITION_FIELDS,
    RECORD,
    TENANT,
    check_metadata,
    metadata_of,
)
from retrieval.stores.filters import TenantFilter, TombstoneFilter
from retrieval.stores.points import (
    canonical_positions,
    memory_of,
    newest_steps,
    payload_of,
    step_payload,
    terms_of_memory,
    tombstone_payload,
)
from retrieval.stores.port import Point, RecallQuery, ScoredMemory, StepPoint, StoreSize, TenantScope
from retrieval.stores.position import FeedPosition, mark_id
from retrieval.stores.query_plan import QueryPlan, clamp_score, plan_query
from retrieval.stores.server.errors import qdrant_errors
from retrieval.stores.server.requests import filter_of, query_arguments, replaceable, score_part_requests
from retrieval.stores.server.version import check_version
from runtime.pieces import map_in_pieces

POINTS_IN_REQUEST: Final = 64
DENSE_DATATYPE: Final = models.Datatype.TURBO8
"""One byte a number, and a vector's length beside them; nothing is kept twice."""
LATE_DATATYPE: Final = models.Datatype.TURBO4
"""Half a byte a number: see :mod:`retrieval.stores.edge.engine`."""
EXACT_SEARCH_UP_TO_KB: Final = 100_000
"""The engine searches a tenant exactly whose dense vectors take less. Filtered graphs lost matches, and a scan of so few is as fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How a collection that is created lies on a cluster's nodes; None: as the server is configured. One that is there keeps its own."""

    replication_factor: int | None = None
    """Copies of each shard."""
    write_consistency_factor: int | None = None
    """Copies that have to take a write before it counts."""
    shard_number: int | None = None


class QdrantStore(StoreBase):
    """One collection for all tenants. The tenant index keeps each tenant's points together on disk and in the search.

    The server checks the positions of a write as it applies it, each replica for itself: whatever the order of the writes, a replica ends
    with the newest position of each id.

    Args:
        client: Of a server that is new enough (:mod:`retrieval.stores.server.version`). :meth:`close` closes it.
        collection: The collection's name.
        timeout_s: Longest time the server may spend on one request, in seconds.
        distribution: Of the collection, where it has to be created.
    """

    def __init__(
        self, *, client: AsyncQdrantClient, collection: str, timeout_s: float = 10.0, distribution: Distribution | None = None
    ) -> None:
        if not collection:
            raise ValueError("a collection needs a name")
        self._client = client
        self._collection = collection
        self._timeout_s = max(1, round(timeout_s))
        self._distribution = distribution or Distribution()

    async def prepare(self, *, model: str, dimension: int, late_dimension: int | None) -> None:
        """See :meth:`MemoryStore.prepare`."""
        with qdrant_errors(self._collection):
            check_version((await self._client.info()).version)
            if not await self._client.collection_exists(self._collection):
                await self._create(model, dimension, late_dimension)
            info = await self._client.get_collection(self._collection)
        requested = metadata_of(model, dimension, late_dimension)
        check_metadata(info.config.metadata or {}, requested, collection=f"collection {self._collection!r}")
        with qdrant_errors(self._collection):
            await self._create_missing_indexes(set(info.payload_schema))
        self._dimensions = (dimension, late_dimension)

    async def upsert(self, points: Sequence[Point]) -> None:
        """See :meth:`MemoryStore.upsert`."""
        checked = self._checked_points(points)
        with qdrant_errors(self._collection):
            for start in range(0, len(checked), POINTS_IN_REQUEST):
                batch = checked[start : start + POINTS_IN_REQUEST]
                update_filter = replaceable({each.memory.id: each.position for each in batch})
                structs = [_point_struct(each) for each in batch]
                await self._client.upsert(self._collection, structs, wait=True, update_filter=update_filter)

    async def put_steps(self, points: Sequence[StepPoint]) -> None:
        """See :meth:`MemoryStore.put_steps`."""
        newest = [*newest_steps(points).items()]
        with qdrant_errors(self._collection):
            for start in range(0, len(newest), POINTS_IN_REQUEST):
                batch = dict(newest[start : start + POINTS_IN_REQUEST])
                update_filter = replaceable({each: point.position for each, point in batch.items()})
                structs = [models.PointStruct(id=each, vector={}, payload=step_payload(point)) for each, point in batch.items()]
                await self._client.upsert(self._collection, structs, wait=True, update_filter=update_filter)

    async def delete(self, scope: TenantScope, positions: Mapping[str, FeedPosition]) -> None:
        """See :meth:`MemoryStore.delete`."""
        now = datetime.now(UTC)
        newest = [*canonical_positions(positions).items()]
        with suppress(CollectionMissingError), qdrant_errors(self._collection):
            for start in range(0, len(newest), POINTS_IN_REQUEST):
                batch = dict(newest[start : start + POINTS_IN_REQUEST])
                update_filter = replaceable(batch, within=TenantFilter(scope=scope))
                tombstones = [
                    models.PointStruct(id=each, vector={}, payload=tombstone_payload(position, now)) for each, position in batch.items()
                ]
                await self._client.upsert(self._collection, tombstones, wait=True, update_filter=update_filter)

    async def purge_tombstones(self, *, before: datetime) -> None:
        """See :meth:`MemoryStore.purge_tombstones`."""
        selector = models.FilterSelector(filter=filter_of(TombstoneFilter(before)))
        with suppress(CollectionMissingError), qdrant_errors(self._collection):
            await self._client.delete(self._collection, selector, wait=True)

    async def mark(self, position: FeedPosition) -> None:
        """See :meth:`MemoryStore.mark`."""
        mark = models.PointStruct(id=position.mark_id, vector={}, payload=dict(position.payload()))
        with qdrant_errors(self._collection):
            await self._client.upsert(self._collection, [mark], wait=True, update_filter=replaceable({position.mark_id: position}))

    async def mark_of(self, partition: int) -> FeedPosition | None:
        """See :meth:`MemoryStore.mark_of`."""
        with suppress(CollectionMissingError), qdrant_errors(self._collection):
            marks = await self._client.retrieve(self._collection, [mark_id(partition)], with_payload=[*POSITION_FIELDS])
            return FeedPosition.from_payload(marks[0].payload) if marks else None
        return None

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """See :meth:`MemoryStore.recall`."""
        plan = plan_query(query)
        with suppress(CollectionMissingError), qdrant_errors(self._collection):
            found = await self._client.query_points(self._collection, timeout=self._timeout_s, **query_arguments(plan))
            parts = await self._score_parts(plan, [str(point.id) for point in found.points]) if query.explain else {}
            return await map_in_pieces(
                lambda point: ScoredMemory(memory_of(_record(point.payload)), clamp_score(point.score), parts.get(str(point.id), {})),
                found.points,
            )
        return []

    async def count(self, scope: TenantScope, *, at: Sequence[FeedPosition] = ()) -> int:
        """See :meth:`MemoryStore.count`."""
        count_filter = filter_of(TenantFilter(scope=scope, at=tuple(at)))
        with suppress(CollectionMissingError), qdrant_errors(self._collection):
            return (await self._client.count(self._collection, count_filter=count_filter, exact=True, timeout=self._timeout_s)).count
        return 0

    async def size(self) -> StoreSize:
        """See :meth:`MemoryStore.size`. The server tells nobody its bytes."""
        with suppress(CollectionMissingError), qdrant_errors(self._collection):
            return StoreSize((await self._client.get_collection(self._collection)).points_count or 0, None)
        return StoreSize(0, None)

    async def drop(self) -> None:
        """See :meth:`MemoryStore.drop`. :meth:`prepare` creates the collection again."""
        with qdrant_errors(self._collection):
            await self._client.delete_collection(self._collection)

    async def close(self) -> None:
        """See :meth:`MemoryStore.close`."""
        await self._client.close()

    async def _create(self, model: str, dimension: int, late_dimension: int | None) -> None:
        vectors = {DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE, datatype=DENSE_DATATYPE)}
        if late_dimension is not None:
            vectors[LATE] = models.VectorParams(
                size=late_dimension,
                distance=models.Distance.COSINE,
                multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
                datatype=LATE_DATATYPE,
                hnsw_config=models.HnswConfigDiff(m=0),
                on_disk=True,
            )
        await self._client.create_collection(
            self._collection,
            vectors_config=vectors,
            sparse_vectors_config={BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=16, full_scan_threshold=EXACT_SEARCH_UP_TO_KB),
            strict_mode_config=models.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False),
            metadata=metadata_of(model, dimension, late_dimension),
            **asdict(self._distribution),
        )

    async def _create_missing_indexes(self, existing: set[str]) -> None:
        indexes: dict[str, Any] = {TENANT: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)}
        indexes |= dict.fromkeys(KEYWORD_FIELDS, models.PayloadSchemaType.KEYWORD)
        indexes |= dict.fromkeys(DATETIME_FIELDS, models.PayloadSchemaType.DATETIME)
        # Few searches filter by positions, and nearly all points pass, so the graph need not be connected within their values.
        indexes |= dict.fromkeys(POSITION_FIELDS, models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, enable_hnsw=False))
        for field, schema in indexes.items():
            if field not in existing:
                await self._client.create_payload_index(self._collection, field, field_schema=schema, wait=True)

    async def _scroll_records(self, tenant_filter: TenantFilter, *, start: str | None, limit: int) -> dict[str, str]:
        scroll_filter = filter_of(tenant_filter)
        with suppress(CollectionMissingError), qdrant_errors(self._collection):
            records, _ = await self._client.scroll(
                self._collection, scroll_filter=scroll_filter, offset=start, limit=limit, with_payload=[RECORD], timeout=self._timeout_s
            )
            return {str(each.id): _record(each.payload) for each in records}
        return {}

    async def _score_parts(self, plan: QueryPlan, ids: list[str]) -> dict[str, dict[str, float]]:
        parts: dict[str, dict[str, float]] = {each: {} for each in ids}
        requests = score_part_requests(plan, ids)
        responses = await self._client.query_batch_points(self._collection, list(requests.values()), timeout=self._timeout_s) if ids else []
        for name, response in zip(requests, responses, strict=bool(ids)):
            for point in response.points:
                parts[str(point.id)][name] = point.score
        return parts


def _point_struct(point: Point) -> models.PointStruct:
    vectors: dict[str, Any] = {DENSE: point.embedding.dense.tolist()}
    if point.embedding.late is not None:
        vectors[LATE] = point.embedding.late.tolist()
    terms = terms_of_memory(point.memory)
    if terms.indices:
        vectors[BM25] = models.SparseVector(indices=terms.indices, values=terms.values)
    return models.PointStruct(id=point.memory.id, vector=vectors, payload=payload_of(point))


def _record(payload: dict[str, Any] | None) -> str:
    if payload is None:
        raise StoreUnavailableError("Qdrant gave a point without its record")
    return str(payload[RECORD])
