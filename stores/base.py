"""Base class of both adapters of the :class:`~stores.port.MemoryStore`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memory.records import HistoryEntry, Memory
from runtime.pieces import map_in_pieces
from stores.errors import StoreRejectedError
from stores.filters import MemoryFilter
from stores.points import check_points, memory_of, newest_by_id, point_ids
from stores.port import Point, TenantScope
from stores.position import FeedPosition
from stores.time_order import TimeOrder, TimePage, TimePager, TimePlace

_MOST_TIMES: Final = 2
"""Values of a point's :data:`~stores.collection.EVENT_TIME`: a memory that names a period has its beginning and its end."""


class StoreBase(ABC):
    """Reads memories through an engine's scroll, and checks points against the model that the store was prepared for."""

    _dimensions: tuple[int, int | None] | None = None
    """The dimensions of dense and of token vectors. None until the store is prepared."""

    @abstractmethod
    async def _scroll_records(self, memory_filter: MemoryFilter, *, start: str | None, limit: int) -> dict[str, str]:
        """The records that pass the filter, by id and ordered by id, starting with ``start`` (inclusive)."""

    @abstractmethod
    async def _records_by_time(
        self, memory_filter: MemoryFilter, order: TimeOrder, *, start: datetime | None, limit: int
    ) -> list[tuple[str, str]]:
        """Ids and records of the points that pass the filter, by :data:`~stores.collection.EVENT_TIME`, beginning with a time.

        A point with several times may be in the result once for each of them.
        """

    async def get(self, scope: TenantScope, ids: Sequence[str], *, at: Sequence[FeedPosition] = ()) -> list[Memory]:
        """See :meth:`MemoryStore.get`."""
        valid = point_ids(ids)
        if not valid:
            return []
        records = await self._scroll_records(MemoryFilter.everything(scope, at=at).within(valid), start=None, limit=len(valid))
        return [memory_of(records[each]) for each in valid if each in records]

    async def by_evidence(
        self, scope: TenantScope, messages: Sequence[str], *, sessions: Sequence[str] = (), generation: str = "", limit: int = 10
    ) -> list[Memory]:
        """See :meth:`MemoryStore.by_evidence`."""
        if not messages:
            return []
        evidence_filter = MemoryFilter(scope=scope, messages=tuple(messages), sessions=tuple(sessions), generation=generation)
        return [memory_of(record) for record in (await self._scroll_records(evidence_filter, start=None, limit=limit)).values()]

    async def scroll(self, scope: TenantScope, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """See :meth:`MemoryStore.scroll`."""
        return await self.page(MemoryFilter.everything(scope), after=after, limit=limit)

    async def page(self, memory_filter: MemoryFilter, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """See :meth:`MemoryStore.page`."""
        records = await self._scroll_records(memory_filter, start=after, limit=limit + 1 if after else limit)
        return [memory_of(record) for each, record in records.items() if each != after][:limit]

    async def page_by_time(self, memory_filter: MemoryFilter, order: TimeOrder, *, after: TimePlace | None, limit: int) -> TimePage:
        """See :meth:`MemoryStore.page_by_time`."""

        async def scroll(wanted: MemoryFilter, start: str | None, most: int) -> list[Memory]:
            return [memory_of(each) for each in (await self._scroll_records(wanted, start=start, limit=most)).values()]

        async def by_time(wanted: MemoryFilter, by: TimeOrder, start: datetime | None, most: int) -> list[Memory]:
            return [memory_of(record) for _, record in await self._records_by_time(wanted, by, start=start, limit=most)]

        return await TimePager(scroll=scroll, by_time=by_time).page(memory_filter, order, after=after, limit=limit)

    async def newest(self, memory_filter: MemoryFilter, *, limit: int) -> list[Memory]:
        """See :meth:`MemoryStore.newest`."""
        # A point has at most two times, so twice the limit always has enough different points.
        records = await self._records_by_time(memory_filter, "newest", start=None, limit=_MOST_TIMES * limit)
        return [memory_of(record) for record in dict(records).values()][:limit]

    async def steps(self, scope: TenantScope, entity: str | None, *, after: str | None = None, limit: int = 500) -> list[HistoryEntry]:
        """See :meth:`MemoryStore.steps`."""
        steps_filter = MemoryFilter(scope=TenantScope(scope.tenant), steps_of=entity, all_steps=entity is None, generation=None)
        records = await self._scroll_records(steps_filter, start=after, limit=limit + 1 if after else limit)
        found = [record for each, record in records.items() if each != after][:limit]
        return await map_in_pieces(lambda record: HistoryEntry.from_json(record.encode()), found)

    def _checked_points(self, points: Sequence[Point]) -> list[Point]:
        """Checks points before an upsert.

        Returns:
            The newest point of each id.

        Raises:
            StoreRejectedError: If the store was not prepared, or a point is invalid.
        """
        if self._dimensions is None:
            raise StoreRejectedError("call prepare() before upsert(): the store must know the embedding model of the vectors")
        dimension, late_dimension = self._dimensions
        check_points(points, dimension=dimension, late_dimension=late_dimension)
        return newest_by_id(points)
