"""The :class:`~stores.port.MemoryStore` on a Qdrant server, over gRPC."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from qdrant_client import AsyncQdrantClient, models

from runtime.pieces import map_in_pieces
from stores.base import StoreBase
from stores.collection import BM25, DELETED_TENANT, DENSE, EVENT_TIME, LATE, POSITION_FIELDS, RECORD, check_metadata, metadata_of
from stores.errors import CollectionMissingError, StoreUnavailableError
from stores.filters import MemoryFilter, TombstoneFilter
from stores.points import (
    canonical_positions,
    memory_of,
    newest_steps,
    payload_of,
    step_payload,
    terms_of_memory,
    tombstone_payload,
)
from stores.port import Point, RecallQuery, ScoredMemory, StepPoint, StoreSize, TenantScope
from stores.position import FeedPosition, checkpoint_id
from stores.query_plan import QueryPlan, clamp_score, plan_query
from stores.server.connection import check_version
from stores.server.creation import (
    CollectionOptions,
    Placement,
    create_collection,
    create_missing_indexes,
    create_missing_shards,
    shard_keys,
)
from stores.server.nodes import QdrantNodes
from stores.server.requests import filter_of, query_arguments, replaceable, score_part_requests
from stores.time_order import TimeOrder

T = TypeVar("T")

POINTS_IN_REQUEST: Final = 64


@dataclass(frozen=True, slots=True)
class _Write:
    """A point to write, unless the stored one is newer."""

    struct: models.PointStruct
    position: FeedPosition
    tenant: str | None


class QdrantStore(StoreBase):
    """One collection for all tenants. The tenant index keeps each tenant's points together on disk and in the search.

    Each replica checks the positions of a write when it applies the write. In any order of writes, a replica ends with the newest position
    of each id.

    Args:
        clients: A client of each node of the server to be asked (:class:`QdrantNodes`), which are new enough
            (:mod:`stores.server.connection`). :meth:`close` closes them.
        timeout_s: Longest time the server may spend on one request, in seconds.
        options: Options of the collection if it must be created.
    """

    def __init__(
        self, *, clients: Sequence[AsyncQdrantClient], collection: str, timeout_s: float = 10.0, options: CollectionOptions | None = None
    ) -> None:
        if not collection:
            raise ValueError("a collection needs a name")
        self._nodes = QdrantNodes(clients, collection=collection)
        self._collection = collection
        self._timeout_s = max(1, round(timeout_s))
        self._options = options or CollectionOptions()
        self._known_placement: Placement | None = None

    @property
    def collection(self) -> str:
        """The collection's name."""
        return self._collection

    async def prepare(self, *, model: str, dimension: int, late_dimension: int | None) -> None:
        """See :meth:`MemoryStore.prepare`."""
        requested = metadata_of(model, dimension, late_dimension)

        async def request(client: AsyncQdrantClient) -> Placement:
            check_version((await client.info()).version, datatypes=(self._options.dense_datatype, self._options.late_datatype))
            if not await client.collection_exists(self._collection):
                await create_collection(client, self._collection, self._options, metadata=requested)
            info = await client.get_collection(self._collection)
            metadata = info.config.metadata or {}
            check_metadata(metadata, requested, collection=f"collection {self._collection!r}")
            placement = Placement.recorded_in(metadata)
            await create_missing_shards(client, self._collection, placement)
            await create_missing_indexes(client, self._collection, existing=info.payload_schema)
            return placement

        self._known_placement = await self._ask(request)
        self._dimensions = (dimension, late_dimension)

    async def upsert(self, points: Sequence[Point]) -> None:
        """See :meth:`MemoryStore.upsert`."""
        await self._write([_Write(_point_struct(each), each.position, each.memory.tenant) for each in self._checked_points(points)])

    async def put_steps(self, points: Sequence[StepPoint]) -> None:
        """See :meth:`MemoryStore.put_steps`."""
        await self._write(
            [
                _Write(models.PointStruct(id=each, vector={}, payload=step_payload(point)), point.position, point.step.tenant)
                for each, point in newest_steps(points).items()
            ]
        )

    async def delete(self, scope: TenantScope, positions: Mapping[str, FeedPosition]) -> None:
        """See :meth:`MemoryStore.delete`."""
        now, tenant_field = datetime.now(UTC), {DELETED_TENANT: scope.tenant}
        tombstones = [
            _Write(models.PointStruct(id=each, vector={}, payload=tombstone_payload(position, now) | tenant_field), position, scope.tenant)
            for each, position in canonical_positions(positions).items()
        ]
        with suppress(CollectionMissingError):
            await self._write(tombstones, within=replace(MemoryFilter.everything(scope), has_steps=True))

    async def purge_tombstones(self, *, before: datetime) -> None:
        """See :meth:`MemoryStore.purge_tombstones`."""
        selector = models.FilterSelector(filter=filter_of(TombstoneFilter(before)))

        async def request(client: AsyncQdrantClient) -> None:
            for shard_key in await self._all_shard_keys(client):
                await client.delete(self._collection, selector, wait=True, shard_key_selector=shard_key)

        with suppress(CollectionMissingError):
            await self._ask(request)

    async def set_checkpoint(self, position: FeedPosition) -> None:
        """See :meth:`MemoryStore.set_checkpoint`."""
        checkpoint = models.PointStruct(id=position.checkpoint_id, vector={}, payload=dict(position.payload()))
        await self._write([_Write(checkpoint, position, None)])

    async def checkpoint_of(self, partition: int) -> FeedPosition | None:
        """See :meth:`MemoryStore.checkpoint_of`."""

        async def request(client: AsyncQdrantClient) -> FeedPosition | None:
            shard_key = (await self._placement(client)).key_of(None)
            checkpoints = await client.retrieve(
                self._collection, [checkpoint_id(partition)], with_payload=[*POSITION_FIELDS], shard_key_selector=shard_key
            )
            return FeedPosition.from_payload(checkpoints[0].payload) if checkpoints else None

        with suppress(CollectionMissingError):
            return await self._ask(request)
        return None

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """See :meth:`MemoryStore.recall`."""
        plan = plan_query(query)

        async def request(client: AsyncQdrantClient) -> list[ScoredMemory]:
            shard_key = (await self._placement(client)).key_of(query.filter.scope.tenant)
            found = await client.query_points(
                self._collection, timeout=self._timeout_s, shard_key_selector=shard_key, **query_arguments(plan)
            )
            ids = [str(point.id) for point in found.points]
            parts = await self._score_parts(client, plan, ids, shard_key) if query.explain else {}
            return await map_in_pieces(
                lambda point: ScoredMemory(memory_of(_record(point.payload)), clamp_score(point.score), parts.get(str(point.id), {})),
                found.points,
            )

        with suppress(CollectionMissingError):
            return await self._ask(request)
        return []

    async def count(self, scope: TenantScope, *, generation: str | None = None, at: Sequence[FeedPosition] = ()) -> int:
        """See :meth:`MemoryStore.count`."""
        count_filter = filter_of(MemoryFilter(scope=scope, generation=generation, at=tuple(at)))

        async def request(client: AsyncQdrantClient) -> int:
            shard_key = (await self._placement(client)).key_of(scope.tenant)
            counted = await client.count(
                self._collection, count_filter=count_filter, exact=True, timeout=self._timeout_s, shard_key_selector=shard_key
            )
            return counted.count

        with suppress(CollectionMissingError):
            return await self._ask(request)
        return 0

    async def size(self) -> StoreSize:
        """See :meth:`MemoryStore.size`. The server does not report bytes."""
        with suppress(CollectionMissingError):
            info = await self._ask(lambda client: client.get_collection(self._collection))
            return StoreSize(info.points_count or 0, None)
        return StoreSize(0, None)

    async def drop(self) -> None:
        """See :meth:`MemoryStore.drop`. :meth:`prepare` creates the collection again."""
        await self._ask(lambda client: client.delete_collection(self._collection))
        self._known_placement = None

    async def close(self) -> None:
        """See :meth:`MemoryStore.close`."""
        await self._nodes.close()

    async def _ask(self, request: Callable[[AsyncQdrantClient], Awaitable[T]]) -> T:
        try:
            return await self._nodes.ask(request)
        except CollectionMissingError:
            # The process that recreates it may use another placement.
            self._known_placement = None
            raise

    async def _placement(self, client: AsyncQdrantClient) -> Placement:
        if self._known_placement is None:
            info = await client.get_collection(self._collection)
            self._known_placement = Placement.recorded_in(info.config.metadata)
        return self._known_placement

    async def _all_shard_keys(self, client: AsyncQdrantClient) -> list[models.ShardKeySelector | None]:
        """The shard keys of the requests that remove points from all shards. Shards with keys need them: a filter alone reaches none."""
        placement = await self._placement(client)
        if not placement.shared:
            return [None]
        keys = await shard_keys(client, self._collection)
        # A tenant's own shard accepts no direct write until it is complete.
        return [[*placement.shared_keys], *(placement.key_of(each) for each in keys if isinstance(each, str))]

    async def _write(self, writes: Sequence[_Write], *, within: MemoryFilter | None = None) -> None:
        if writes:
            await self._ask(lambda client: self._write_to(client, writes, within))

    async def _write_to(self, client: AsyncQdrantClient, writes: Sequence[_Write], within: MemoryFilter | None) -> None:
        placement = await self._placement(client)
        for start in range(0, len(writes), POINTS_IN_REQUEST):
            by_tenant: dict[str | None, list[_Write]] = {}
            for each in writes[start : start + POINTS_IN_REQUEST]:
                by_tenant.setdefault(each.tenant if placement.shared else None, []).append(each)
            upserts = [_upsert(each, placement.key_of(tenant), within) for tenant, each in by_tenant.items()]
            await client.batch_update_points(self._collection, upserts, wait=True)

    async def _scroll_records(self, memory_filter: MemoryFilter, *, start: str | None, limit: int) -> dict[str, str]:
        return dict(await self._scrolled(memory_filter, offset=start, limit=limit))

    async def _records_by_time(
        self, memory_filter: MemoryFilter, order: TimeOrder, *, start: datetime | None, limit: int
    ) -> list[tuple[str, str]]:
        direction = models.Direction.DESC if order == "newest" else models.Direction.ASC
        by_time = models.OrderBy(key=EVENT_TIME, direction=direction, start_from=start)
        return await self._scrolled(memory_filter, order_by=by_time, limit=limit)

    async def _scrolled(self, memory_filter: MemoryFilter, **arguments: Any) -> list[tuple[str, str]]:
        scroll_filter = filter_of(memory_filter)

        async def request(client: AsyncQdrantClient) -> list[tuple[str, str]]:
            records, _ = await client.scroll(
                self._collection,
                scroll_filter=scroll_filter,
                with_payload=[RECORD],
                timeout=self._timeout_s,
                shard_key_selector=(await self._placement(client)).key_of(memory_filter.scope.tenant),
                **arguments,
            )
            return [(str(each.id), _record(each.payload)) for each in records]

        with suppress(CollectionMissingError):
            return await self._ask(request)
        return []

    async def _score_parts(
        self, client: AsyncQdrantClient, plan: QueryPlan, ids: list[str], shard_key: models.ShardKeySelector | None
    ) -> dict[str, dict[str, float]]:
        parts: dict[str, dict[str, float]] = {each: {} for each in ids}
        requests = score_part_requests(plan, ids, shard_key)
        responses = await client.query_batch_points(self._collection, list(requests.values()), timeout=self._timeout_s) if ids else []
        for name, response in zip(requests, responses, strict=bool(ids)):
            for point in response.points:
                parts[str(point.id)][name] = point.score
        return parts


def _upsert(writes: Sequence[_Write], shard_key: models.ShardKeySelector | None, within: MemoryFilter | None) -> models.UpsertOperation:
    update_filter = replaceable({str(each.struct.id): each.position for each in writes}, within=within)
    return models.UpsertOperation(
        upsert=models.PointsList(points=[each.struct for each in writes], shard_key=shard_key, update_filter=update_filter)
    )


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
        raise StoreUnavailableError("Qdrant returned a point without its record")
    return str(payload[RECORD])
