"""The :class:`~retrieval.stores.port.MemoryStore` on a Qdrant server, over gRPC."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from qdrant_client import AsyncQdrantClient, models

from memory.records import Memory
from retrieval.errors import ModelMismatchError, StoreUnavailableError
from retrieval.stores.fusion import HybridPlan, clamped
from retrieval.stores.layout import BM25, DENSE, KEYWORD_FIELDS, LATE, RECORD, TIME_FIELDS
from retrieval.stores.points import check_points, memory_of, payload_of, point_ids, prepared, terms_of_memory
from retrieval.stores.port import Point, RecallQuery, Scored
from retrieval.stores.queries import check_query, plan_of
from retrieval.stores.scope import TENANT, TenantFilter, TenantScope
from retrieval.stores.server.faults import CollectionMissingError, qdrant_faults
from retrieval.stores.server.requests import filter_of, part_requests, recall_arguments

POINTS_IN_REQUEST: Final = 64
EXACT_UP_TO_KB: Final = 100_000
"""A tenant whose dense vectors take less is searched exactly: filtered graphs lost matches, and a scan of so few is as fast."""


class QdrantStore:
    """One collection for all tenants: the tenant's index keeps each one's points together on disk and in the search."""

    def __init__(self, *, client: AsyncQdrantClient, collection: str, timeout_s: float = 10.0) -> None:
        """Takes a client over; :meth:`close` closes it.

        Args:
            client: Of a server of version 1.19 or newer, which term statistics per tenant need.
            collection: The collection's name.
            timeout_s: Longest time the server may spend on one request, in seconds.
        """
        if not collection:
            raise ValueError("a collection needs a name")
        self._client = client
        self._collection = collection
        self._timeout_s = max(1, round(timeout_s))
        self._model: tuple[str, int] | None = None

    async def prepare(self, *, model: str, dimension: int) -> None:
        """Creates the collection and its indexes where missing; refuses points of another model or dimension."""
        with qdrant_faults(self._collection):
            if not await self._client.collection_exists(self._collection):
                await self._create(model, dimension)
            info = await self._client.get_collection(self._collection)
        stamped = info.config.metadata or {}
        if (stamped.get("model"), stamped.get("dimension")) != (model, dimension):
            raise ModelMismatchError(
                f"the points of collection {self._collection!r} were made by {stamped.get('model')} with {stamped.get('dimension')} "
                f"dimensions, not by {model} with {dimension}: set the embedding model back, name another collection, or rebuild the index"
            )
        with qdrant_faults(self._collection):
            await self._index(set(info.payload_schema))
        self._model = (model, dimension)

    async def upsert(self, points: Sequence[Point]) -> None:
        """Writes points; on return the server has applied and logged them."""
        model, dimension = prepared(self._model)
        check_points(points, dimension=dimension)
        with qdrant_faults(self._collection):
            for start in range(0, len(points), POINTS_IN_REQUEST):
                batch = [_point_struct(each, model) for each in points[start : start + POINTS_IN_REQUEST]]
                await self._client.upsert(self._collection, batch, wait=True)

    async def delete(self, scope: TenantScope, ids: Sequence[str]) -> None:
        """Removes points of one scope; an unknown id is no error."""
        if known := point_ids(ids):
            selector = models.FilterSelector(filter=filter_of(TenantFilter(scope=scope, ids=tuple(known))))
            with suppress(CollectionMissingError), qdrant_faults(self._collection):
                await self._client.delete(self._collection, selector, wait=True)

    async def get(self, scope: TenantScope, ids: Sequence[str]) -> list[Memory]:
        """The memories of those ids, in the order asked, without those that are not the scope's."""
        known = point_ids(ids)
        if not known:
            return []
        records = await self._scroll(TenantFilter(scope=scope, ids=tuple(known)), start=None, limit=len(known))
        return [memory_of(records[each]) for each in known if each in records]

    async def recall(self, query: RecallQuery) -> list[Scored]:
        """The best matches, best first."""
        check_query(query)
        plan = plan_of(query)
        with suppress(CollectionMissingError), qdrant_faults(self._collection):
            found = await self._client.query_points(self._collection, timeout=self._timeout_s, **recall_arguments(plan))
            parts = await self._parts(plan, [str(point.id) for point in found.points]) if query.explain else {}
            return [Scored(memory_of(_record(point.payload)), clamped(point.score), parts.get(str(point.id), {})) for point in found.points]
        return []

    async def scroll(self, scope: TenantScope, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """A scope's memories in the order of their ids, behind ``after``."""
        records = await self._scroll(TenantFilter(scope=scope), start=after, limit=limit + 1 if after else limit)
        return [memory_of(record) for each, record in records.items() if each != after][:limit]

    async def count(self, scope: TenantScope) -> int:
        """How many memories the scope has, exactly."""
        whole = filter_of(TenantFilter(scope=scope))
        with suppress(CollectionMissingError), qdrant_faults(self._collection):
            return (await self._client.count(self._collection, count_filter=whole, exact=True, timeout=self._timeout_s)).count
        return 0

    async def drop(self) -> None:
        """Removes the collection; :meth:`prepare` makes it anew."""
        with qdrant_faults(self._collection):
            await self._client.delete_collection(self._collection)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _create(self, model: str, dimension: int) -> None:
        token_vectors = models.VectorParams(
            size=dimension,
            distance=models.Distance.COSINE,
            multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
            datatype=models.Datatype.FLOAT16,
            hnsw_config=models.HnswConfigDiff(m=0),
            on_disk=True,
        )
        await self._client.create_collection(
            self._collection,
            vectors_config={DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE), LATE: token_vectors},
            sparse_vectors_config={BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            hnsw_config=models.HnswConfigDiff(m=0, payload_m=16, full_scan_threshold=EXACT_UP_TO_KB),
            strict_mode_config=models.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False),
            metadata={"model": model, "dimension": dimension},
        )

    async def _index(self, existing: set[str]) -> None:
        wanted: dict[str, Any] = {TENANT: models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)}
        wanted |= dict.fromkeys(KEYWORD_FIELDS, models.PayloadSchemaType.KEYWORD)
        wanted |= dict.fromkeys(TIME_FIELDS, models.PayloadSchemaType.DATETIME)
        for field, schema in wanted.items():
            if field not in existing:
                await self._client.create_payload_index(self._collection, field, field_schema=schema, wait=True)

    async def _scroll(self, tenant_filter: TenantFilter, *, start: str | None, limit: int) -> dict[str, str]:
        whole = filter_of(tenant_filter)
        with suppress(CollectionMissingError), qdrant_faults(self._collection):
            records, _ = await self._client.scroll(
                self._collection, scroll_filter=whole, offset=start, limit=limit, with_payload=[RECORD], timeout=self._timeout_s
            )
            return {str(each.id): _record(each.payload) for each in records}
        return {}

    async def _parts(self, plan: HybridPlan, ids: list[str]) -> dict[str, dict[str, float]]:
        parts: dict[str, dict[str, float]] = {each: {} for each in ids}
        requests = part_requests(plan, ids)
        answers = await self._client.query_batch_points(self._collection, list(requests.values()), timeout=self._timeout_s) if ids else []
        for name, answer in zip(requests, answers, strict=bool(ids)):
            for point in answer.points:
                parts[str(point.id)][name] = point.score
        return parts


def _point_struct(point: Point, model: str) -> models.PointStruct:
    vectors: dict[str, Any] = {DENSE: point.embedding.dense.tolist()}
    if point.embedding.late is not None:
        vectors[LATE] = point.embedding.late.tolist()
    terms = terms_of_memory(point.memory)
    if terms.indices:
        vectors[BM25] = models.SparseVector(indices=terms.indices, values=terms.values)
    return models.PointStruct(id=point.memory.id, vector=vectors, payload=payload_of(point.memory, model=model))


def _record(payload: dict[str, Any] | None) -> str:
    if payload is None:
        raise StoreUnavailableError("Qdrant gave a point without its record")
    return str(payload[RECORD])
