"""Moves a large tenant to its own shard on a Qdrant cluster, while the tenant is written and read."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from qdrant_client import AsyncQdrantClient, models

from stores.collection import POSITION_FIELDS
from stores.errors import StoreRejectedError, StoreUnavailableError
from stores.filters import AllOfTenantFilter
from stores.position import FeedPosition
from stores.server.connection import qdrant_errors
from stores.server.creation import Placement
from stores.server.requests import filter_of, replaceable

SETTLE_S: Final = 5.0
"""Time after which every node of the cluster knows that the new shard is complete, and no longer writes the tenant's points to the shared
one."""
_POLL_INTERVAL_S: Final = 0.2
_PAGE_SIZE: Final = 256


@dataclass(frozen=True, slots=True)
class _Copy:
    """One copy of a tenant's own shard."""

    shard_id: int
    peer: int
    state: models.ReplicaState

    @property
    def is_complete(self) -> bool:
        return self.state == models.ReplicaState.ACTIVE


class TenantPromotion:
    """Moves tenants from shared shards to their own shards.

    1. The server copies the points, including concurrent writes. Once the copy is complete, the server reads from it.
    2. Points that a node still wrote to the shared shard at that moment are written to the new one. Points have positions, so an older
    write
       never replaces a newer one.
    3. The points are removed from the shared shard, and the new shard gets as many copies as the collection's other shards.

    After an interruption, a second run continues the first one.

    Args:
        settle_s: Time after the copy until all nodes know of it, in seconds.
    """

    def __init__(self, *, client: AsyncQdrantClient, collection: str, settle_s: float = SETTLE_S) -> None:
        self._client = client
        self._collection = collection
        self._settle_s = settle_s

    async def promote(self, tenant: str, *, notice: Callable[[str], None]) -> int:
        """Moves a tenant.

        Returns:
            The number of its points.

        Raises:
            StoreUnavailableError: If the server does not respond, or the copy failed. Run it again.
            StoreRejectedError: If the collection is not sharded by tenant, or has no point of the tenant.
        """
        with qdrant_errors(self._collection):
            config = (await self._client.get_collection(self._collection)).config
            placement = Placement.recorded_in(config.metadata)
            if not placement.shared:
                raise StoreRejectedError(
                    f"collection {self._collection!r} distributes each tenant over all of its shards: set VARVE_STORE__TENANT_SHARDS and "
                    "another VARVE_STORE__COLLECTION, and fill that with `varve replay index`"
                )
            shared = placement.shared_key_of(tenant)
            if not self._copies_in(await self._cluster(), tenant):
                if not await self._count(tenant, shared):
                    raise StoreRejectedError(f"collection {self._collection!r} has no memory of tenant {tenant!r}; check the tenant's id")
                await self._client.create_shard_key(self._collection, tenant, initial_state=models.ReplicaState.PARTIAL)
            await self._copy(tenant, shared, notice)
            notice("copied; waiting for all nodes to know it")
            await asyncio.sleep(self._settle_s)
            await self._catch_up(tenant, shared)
            await self._clear(tenant, shared, notice)
            await self._replicate(tenant, config.params.replication_factor or 1, notice)
            return await self._count(tenant, tenant)

    async def _cluster(self) -> models.CollectionClusterInfo:
        return await self._client.collection_cluster_info(self._collection)

    @staticmethod
    def _copies_in(cluster: models.CollectionClusterInfo, tenant: str) -> list[_Copy]:
        here = [_Copy(each.shard_id, cluster.peer_id, each.state) for each in cluster.local_shards if each.shard_key == tenant]
        elsewhere = [_Copy(each.shard_id, each.peer_id, each.state) for each in cluster.remote_shards if each.shard_key == tenant]
        return here + elsewhere

    async def _copy(self, tenant: str, shared: int, notice: Callable[[str], None]) -> None:
        started = False
        while True:
            cluster = await self._cluster()
            own = self._copies_in(cluster, tenant)
            if any(transfer.to_shard_id == copy.shard_id for transfer in cluster.shard_transfers for copy in own):
                await asyncio.sleep(_POLL_INTERVAL_S)
            elif any(each.is_complete for each in own):
                return
            elif started:
                states = ", ".join({each.state for each in own})
                raise StoreUnavailableError(
                    f"the copy of tenant {tenant!r} ended, its shard is {states}: see the server's log, run it again"
                )
            else:
                notice(f"copying {await self._count(tenant, shared)} points of {tenant!r}")
                points = models.ReplicatePoints(from_shard_key=shared, to_shard_key=tenant, filter=filter_of(AllOfTenantFilter(tenant)))
                await self._client.cluster_collection_update(self._collection, models.ReplicatePointsOperation(replicate_points=points))
                started = True

    async def _replicate(self, tenant: str, copies: int, notice: Callable[[str], None]) -> None:
        tried: set[int] = set()
        while True:
            cluster = await self._cluster()
            whole = [each for each in self._copies_in(cluster, tenant) if each.is_complete]
            peers = {cluster.peer_id, *(each.peer_id for each in cluster.remote_shards)}
            free = sorted(peers - tried - {each.peer for each in whole})
            if any(transfer.shard_id == whole[0].shard_id for transfer in cluster.shard_transfers):
                await asyncio.sleep(_POLL_INTERVAL_S)
            elif len(whole) >= min(copies, len(peers)):
                return
            elif not free:
                raise StoreUnavailableError(
                    f"the shard of tenant {tenant!r} has {len(whole)} of {copies} copies: see the log, run it again"
                )
            else:
                notice(f"making copy {len(whole) + 1} of {copies} of the shard")
                copy = models.ReplicateShard(shard_id=whole[0].shard_id, from_peer_id=whole[0].peer, to_peer_id=free[0])
                await self._client.cluster_collection_update(self._collection, models.ReplicateShardOperation(replicate_shard=copy))
                tried.add(free[0])

    async def _catch_up(self, tenant: str, shared: int) -> None:
        start: Any = None
        while True:
            page, start = await self._client.scroll(
                self._collection,
                scroll_filter=filter_of(AllOfTenantFilter(tenant)),
                limit=_PAGE_SIZE,
                offset=start,
                with_payload=[*POSITION_FIELDS],
                shard_key_selector=shared,
            )
            copies = await self._client.retrieve(
                self._collection, [each.id for each in page], with_payload=[*POSITION_FIELDS], shard_key_selector=tenant
            )
            missing = _written_later(_positions(page), _positions(copies))
            if missing:
                await self._write_again(tenant, shared, missing)
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
        # The removal of a large tenant takes longer than the request timeout.
        await self._client.delete(self._collection, selector, wait=False, shard_key_selector=shared)
        while True:
            if not await self._count(tenant, shared):
                return
            await asyncio.sleep(_POLL_INTERVAL_S)

    async def _count(self, tenant: str, shard_key: int | str) -> int:
        count_filter = filter_of(AllOfTenantFilter(tenant))
        return (await self._client.count(self._collection, count_filter=count_filter, exact=True, shard_key_selector=shard_key)).count


def _positions(points: list[models.Record]) -> dict[str, FeedPosition]:
    positions = {str(each.id): FeedPosition.from_payload(each.payload) for each in points}
    return {each: position for each, position in positions.items() if position is not None}


def _written_later(shared: dict[str, FeedPosition], own: dict[str, FeedPosition]) -> dict[str, FeedPosition]:
    return {each: position for each, position in shared.items() if position != own.get(each) and not position.is_older_than(own.get(each))}
