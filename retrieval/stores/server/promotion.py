"""Gives a large tenant a shard of its own on a Qdrant cluster, while it is written and read."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from qdrant_client import AsyncQdrantClient, models

from retrieval.errors import StoreRejectedError, StoreUnavailableError
from retrieval.stores.collection import POSITION_FIELDS
from retrieval.stores.filters import AllOfTenantFilter
from retrieval.stores.position import FeedPosition
from retrieval.stores.server.errors import qdrant_errors
from retrieval.stores.server.placement import Placement
from retrieval.stores.server.requests import filter_of, replaceable

SETTLE_S: Final = 5.0
"""By then every node of the cluster knows that the new shard is complete, and sends nothing of the tenant's to the shared one."""
_LOOK_S: Final = 0.2
_PAGE: Final = 256


class TenantPromotion:
    """Moves tenants from the shards that they share to shards of their own.

    The server copies the points, and what is written to them meanwhile. As soon as the copy is complete, it answers from it. Then what a
    node may have written to the shared shard at that moment is written to the new one, too; both bear positions, so an older write never
    replaces a newer one. Last, the points are removed where they were. Whoever runs it again, after it was broken off, goes on from there.

    Args:
        client: Of a cluster's node.
        collection: The collection's name.
        settle_s: How long after the copy the cluster may take until all nodes know of it, in seconds.
    """

    def __init__(self, *, client: AsyncQdrantClient, collection: str, settle_s: float = SETTLE_S) -> None:
        self._client = client
        self._collection = collection
        self._settle_s = settle_s

    async def promote(self, tenant: str, *, notice: Callable[[str], None]) -> int:
        """Moves a tenant.

        Args:
            tenant: Its id.
            notice: Is told how far it is.

        Returns:
            How many points it has.

        Raises:
            StoreUnavailableError: If the server does not answer, or the copy failed; run it again.
            StoreRejectedError: If the collection is not sharded by tenant, or has no point of it.
        """
        with qdrant_errors(self._collection):
            placement = Placement.recorded_in((await self._client.get_collection(self._collection)).config.metadata)
            if not placement.shared:
                raise StoreRejectedError(
                    f"collection {self._collection!r} spreads each tenant over all of its shards: set VARVE_STORE__TENANT_SHARDS and "
                    "another VARVE_STORE__COLLECTION, and fill that by `varve replay index`"
                )
            shared = placement.shared_key_of(tenant)
            if not await self._own_shards(tenant):
                if not await self._count(tenant, shared):
                    raise StoreRejectedError(f"collection {self._collection!r} has no point of tenant {tenant!r}")
                await self._client.create_shard_key(self._collection, tenant, initial_state=models.ReplicaState.PARTIAL)
            await self._copy(tenant, shared, notice)
            notice("copied; waiting for all nodes to know it")
            await asyncio.sleep(self._settle_s)
            await self._catch_up(tenant, shared)
            await self._clear(tenant, shared, notice)
            return await self._count(tenant, tenant)

    async def _copy(self, tenant: str, shared: int, notice: Callable[[str], None]) -> None:
        started = False
        while True:
            own, info = await self._own_shards(tenant), await self._client.collection_cluster_info(self._collection)
            if any(each.to_shard_id in own for each in info.shard_transfers):
                await asyncio.sleep(_LOOK_S)
            elif all(state == models.ReplicaState.ACTIVE for state in own.values()):
                return
            elif started:
                raise StoreUnavailableError(
                    f"the copy of tenant {tenant!r} ended, and its shard is {', '.join({*own.values()})}: see the server's log, then run "
                    "it again"
                )
            else:
                notice(f"copying {await self._count(tenant, shared)} points of {tenant!r}")
                copying = models.ReplicatePoints(from_shard_key=shared, to_shard_key=tenant, filter=filter_of(AllOfTenantFilter(tenant)))
                await self._client.cluster_collection_update(self._collection, models.ReplicatePointsOperation(replicate_points=copying))
                started = True

    async def _own_shards(self, tenant: str) -> dict[int, models.ReplicaState]:
        info = await self._client.collection_cluster_info(self._collection)
        shards: list[models.LocalShardInfo | models.RemoteShardInfo] = [*info.local_shards, *info.remote_shards]
        return {each.shard_id: each.state for each in shards if each.shard_key == tenant}

    async def _catch_up(self, tenant: str, shared: int) -> None:
        start: Any = None
        while True:
            page, start = await self._client.scroll(
                self._collection,
                scroll_filter=filter_of(AllOfTenantFilter(tenant)),
                limit=_PAGE,
                offset=start,
                with_payload=[*POSITION_FIELDS],
                shard_key_selector=shared,
            )
            copies = await self._client.retrieve(
                self._collection, [each.id for each in page], with_payload=[*POSITION_FIELDS], shard_key_selector=tenant
            )
            behind = _written_later(_positions(page), _positions(copies))
            if behind:
                await self._write_again(tenant, shared, behind)
            if start is None:
                return

    async def _write_again(self, tenant: str, shared: int, positions: dict[str, FeedPosition]) -> None:
        points = await self._client.retrieve(
            self._collection, [*positions], with_payload=True, with_vectors=True, shard_key_selector=shared
        )
        structs = [models.PointStruct(id=each.id, vector=each.vector or {}, payload=each.payload) for each in points]
        await self._client.upsert(self._collection, structs, wait=True, update_filter=replaceable(positions), shard_key_selector=tenant)

    async def _clear(self, tenant: str, shared: int, notice: Callable[[str], None]) -> None:
        left = await self._count(tenant, shared)
        if not left:
            return
        notice(f"removing {left} points from the shared shard")
        selector = models.FilterSelector(filter=filter_of(AllOfTenantFilter(tenant)))
        # A large tenant's removal outlasts a request.
        await self._client.delete(self._collection, selector, wait=False, shard_key_selector=shared)
        while True:
            if not await self._count(tenant, shared):
                return
            await asyncio.sleep(_LOOK_S)

    async def _count(self, tenant: str, shard_key: int | str) -> int:
        count_filter = filter_of(AllOfTenantFilter(tenant))
        return (await self._client.count(self._collection, count_filter=count_filter, exact=True, shard_key_selector=shard_key)).count


def _positions(points: list[models.Record]) -> dict[str, FeedPosition]:
    positions = {str(each.id): FeedPosition.from_payload(each.payload) for each in points}
    return {each: position for each, position in positions.items() if position is not None}


def _written_later(shared: dict[str, FeedPosition], own: dict[str, FeedPosition]) -> dict[str, FeedPosition]:
    return {each: position for each, position in shared.items() if position != own.get(each) and not position.yields_to(own.get(each))}
