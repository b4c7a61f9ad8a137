"""A vector store with a circuit breaker: calls fail at once while the store is unavailable."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from memory.records import HistoryEntry, Memory
from runtime.guard import Guard
from stores.port import MemoryFilter, MemoryStore, Point, RecallQuery, ScoredMemory, StepPoint, StoreSize, TenantScope
from stores.position import FeedPosition
from stores.time_order import TimeOrder, TimePage, TimePlace


class GuardedStore:
    """A :class:`~stores.port.MemoryStore` whose calls fail immediately while the store is unavailable."""

    def __init__(self, *, store: MemoryStore, guard: Guard) -> None:
        self._store = store
        self._guard = guard

    async def check(self) -> None:
        """Checks that the store responds, for the readiness probe.

        Raises:
            StoreUnavailableError: If it does not.
            StoreRejectedError: If its points are from another model.
        """
        await self._guard.check()

    async def prepare(self, *, model: str, dimension: int, late_dimension: int | None) -> None:
        """See :meth:`MemoryStore.prepare`."""
        await self._guard.run(lambda: self._store.prepare(model=model, dimension=dimension, late_dimension=late_dimension))

    async def upsert(self, points: Sequence[Point]) -> None:
        """See :meth:`MemoryStore.upsert`."""
        await self._guard.run(lambda: self._store.upsert(points))

    async def delete(self, scope: TenantScope, positions: Mapping[str, FeedPosition]) -> None:
        """See :meth:`MemoryStore.delete`."""
        await self._guard.run(lambda: self._store.delete(scope, positions))

    async def put_steps(self, points: Sequence[StepPoint]) -> None:
        """See :meth:`MemoryStore.put_steps`."""
        await self._guard.run(lambda: self._store.put_steps(points))

    async def steps(self, scope: TenantScope, entity: str | None, *, after: str | None = None, limit: int = 500) -> list[HistoryEntry]:
        """See :meth:`MemoryStore.steps`."""
        return await self._guard.run(lambda: self._store.steps(scope, entity, after=after, limit=limit))

    async def purge_tombstones(self, *, before: datetime) -> None:
        """See :meth:`MemoryStore.purge_tombstones`."""
        await self._guard.run(lambda: self._store.purge_tombstones(before=before))

    async def set_checkpoint(self, position: FeedPosition) -> None:
        """See :meth:`MemoryStore.set_checkpoint`."""
        await self._guard.run(lambda: self._store.set_checkpoint(position))

    async def checkpoint_of(self, partition: int) -> FeedPosition | None:
        """See :meth:`MemoryStore.checkpoint_of`."""
        return await self._guard.run(lambda: self._store.checkpoint_of(partition))

    async def get(self, scope: TenantScope, ids: Sequence[str], *, at: Sequence[FeedPosition] = ()) -> list[Memory]:
        """See :meth:`MemoryStore.get`."""
        return await self._guard.run(lambda: self._store.get(scope, ids, at=at))

    async def by_evidence(
        self, scope: TenantScope, messages: Sequence[str], *, sessions: Sequence[str] = (), generation: str = "", limit: int = 10
    ) -> list[Memory]:
        """See :meth:`MemoryStore.by_evidence`."""
        return await self._guard.run(
            lambda: self._store.by_evidence(scope, messages, sessions=sessions, generation=generation, limit=limit)
        )

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """See :meth:`MemoryStore.recall`."""
        return await self._guard.run(lambda: self._store.recall(query))

    async def scroll(self, scope: TenantScope, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """See :meth:`MemoryStore.scroll`."""
        return await self._guard.run(lambda: self._store.scroll(scope, after=after, limit=limit))

    async def page(self, memory_filter: MemoryFilter, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """See :meth:`MemoryStore.page`."""
        return await self._guard.run(lambda: self._store.page(memory_filter, after=after, limit=limit))

    async def page_by_time(self, memory_filter: MemoryFilter, order: TimeOrder, *, after: TimePlace | None, limit: int) -> TimePage:
        """See :meth:`MemoryStore.page_by_time`."""
        return await self._guard.run(lambda: self._store.page_by_time(memory_filter, order, after=after, limit=limit))

    async def newest(self, memory_filter: MemoryFilter, *, limit: int) -> list[Memory]:
        """See :meth:`MemoryStore.newest`."""
        return await self._guard.run(lambda: self._store.newest(memory_filter, limit=limit))

    async def count(self, scope: TenantScope, *, generation: str | None = None, at: Sequence[FeedPosition] = ()) -> int:
        """See :meth:`MemoryStore.count`."""
        return await self._guard.run(lambda: self._store.count(scope, generation=generation, at=at))

    async def size(self) -> StoreSize:
        """See :meth:`MemoryStore.size`."""
        return await self._guard.run(self._store.size)

    async def drop(self) -> None:
        """See :meth:`MemoryStore.drop`."""
        await self._guard.run(self._store.drop)

    async def close(self) -> None:
        """See :meth:`MemoryStore.close`."""
        await self._guard.close()
        await self._store.close()
