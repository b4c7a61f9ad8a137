"""The port to a vector store, and what its requests are made of.

No query can be built without a :class:`TenantScope`, and no write without a :class:`FeedPosition`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from memory.records import HistoryEntry, Memory
from models.embedding.port import Embedding
from stores.filters import NON_ENTITY_KINDS, MemoryFilter, TenantScope
from stores.position import FeedPosition
from stores.time_order import TimeOrder, TimePage, TimePlace

__all__ = [
    "NON_ENTITY_KINDS",
    "FeedPosition",
    "MemoryFilter",
    "MemoryStore",
    "Point",
    "RecallQuery",
    "ScoredMemory",
    "StepPoint",
    "StoreSize",
    "TenantScope",
    "all_memories",
    "all_steps",
]

_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Point:
    """A memory with its vectors, to be stored."""

    memory: Memory
    embedding: Embedding
    position: FeedPosition
    """The position of the feed record that contains the memory."""


@dataclass(frozen=True, slots=True)
class StepPoint:
    """A step of an entity's history, to be stored without vectors."""

    step: HistoryEntry
    position: FeedPosition
    """The position of the feed record that contains the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One hybrid query in one request: dense and BM25 candidates, fused by RRF and re-scored by late interaction."""

    filter: MemoryFilter
    text: str
    embedding: Embedding
    limit: int = 10
    prefetch: int = 64
    explain: bool = False
    """Requests the parts of each score, in a second, small request for the results only."""


class ScoredMemory(NamedTuple):
    """A memory that a query found."""

    memory: Memory
    score: float
    """S_origin, in [0, 1] (:mod:`stores.query_plan`)."""
    parts: dict[str, float]
    """If the query has ``explain``: the engine's scores ``dense``, ``bm25`` and ``late`` of this memory."""


@dataclass(frozen=True, slots=True)
class StoreSize:
    """The size of a store, of all tenants together."""

    points: int
    """Includes tombstones and checkpoints."""
    on_disk_bytes: int | None
    """None if the engine does not report it."""


class MemoryStore(Protocol):
    """Stores points and finds memories. A write returns once it is durable. A store that was not prepared yet is empty.

    Every method raises StoreUnavailableError if the store does not respond, and StoreRejectedError if it refuses the request.
    """

    async def prepare(self, *, model: str, dimension: int, late_dimension: int | None) -> None:
        """Creates the collection and its indexes if they are missing. Refuses points of another model or dimension.

        Args:
            model: The embedding model of the points.
            dimension: Length of its dense vectors.
            late_dimension: Length of its token vectors. None: the model has none.
        """
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Writes points. A point replaces the point or the tombstone with the same id, unless that has a newer position."""
        ...

    async def delete(self, scope: TenantScope, positions: Mapping[str, FeedPosition]) -> None:
        """Replaces points of one scope by tombstones. No query finds them, and no upsert of an older position replaces them.

        Args:
            scope: A point outside of it is not changed.
            positions: The positions of the deleting records, by memory id. A point with a newer position is kept. An unknown id gets a
                tombstone too, since its upsert may still be in flight.
        """
        ...

    async def put_steps(self, points: Sequence[StepPoint]) -> None:
        """Writes history steps, which only :meth:`steps` returns. A step replaces one with the same id, unless that is newer."""
        ...

    async def steps(self, scope: TenantScope, entity: str | None, *, after: str | None = None, limit: int = 500) -> list[HistoryEntry]:
        """One page of an entity's history steps, or of those of all entities of the tenant, ordered by id.

        Args:
            scope: The entity's tenant; the user is not checked.
            entity: The entity's id.
            after: The last id of the previous page. None: the first page.
            limit: Most steps of a page.
        """
        ...

    async def purge_tombstones(self, *, before: datetime) -> None:
        """Removes the tombstones that were written before a moment. No write may be in flight since then."""
        ...

    async def set_checkpoint(self, position: FeedPosition) -> None:
        """Records that the store holds one partition of the feed up to a position, unless a newer checkpoint exists."""
        ...

    async def checkpoint_of(self, partition: int) -> FeedPosition | None:
        """The checkpoint of a partition: its newest recorded position. None if the store holds nothing of it."""
        ...

    async def get(self, scope: TenantScope, ids: Sequence[str], *, at: Sequence[FeedPosition] = ()) -> list[Memory]:
        """The memories with these ids, in this order, without those outside the scope.

        Args:
            scope: The scope.
            ids: Their ids.
            at: As :attr:`MemoryFilter.at`.
        """
        ...

    async def by_evidence(
        self, scope: TenantScope, messages: Sequence[str], *, sessions: Sequence[str] = (), generation: str = "", limit: int = 10
    ) -> list[Memory]:
        """Memories with one of these source messages, ordered by id. Entities are not included.

        Args:
            scope: The scope.
            messages: Ids of messages.
            sessions: Only memories of these sessions, since a message id is unique only within its session. Empty: any.
            generation: Empty: the live one.
            limit: Most memories.
        """
        ...

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """The best matches, best first."""
        ...

    async def scroll(self, scope: TenantScope, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """One page of a scope's memories, ordered by id.

        Args:
            scope: The tenant or user of the memories.
            after: The last id of the page before; None: the first page.
            limit: Most memories of the page.
        """
        ...

    async def page(self, memory_filter: MemoryFilter, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """One page of the memories that pass a filter, ordered by id.

        Args:
            memory_filter: The filter.
            after: The last id of the previous page, which need not exist any more. None: the first page.
            limit: Most memories of the page.
        """
        ...

    async def page_by_time(self, memory_filter: MemoryFilter, order: TimeOrder, *, after: TimePlace | None, limit: int) -> TimePage:
        """One page of the memories that pass a filter, ordered by the time of their events; those of one time by id.

        A memory that happened in a period has its end as its time if the newest come first, and else its beginning.

        Args:
            memory_filter: The filter.
            order: Which come first.
            after: The place where the previous page ended. None: the first page.
            limit: Most memories of the page.
        """
        ...

    async def newest(self, memory_filter: MemoryFilter, *, limit: int) -> list[Memory]:
        """The newest memories that pass a filter, newest first.

        Args:
            memory_filter: The filter.
            limit: Most memories. The time of a memory is the last moment at which it may have happened.
        """
        ...

    async def count(self, scope: TenantScope, *, generation: str | None = None, at: Sequence[FeedPosition] = ()) -> int:
        """The exact number of memories in the scope.

        Args:
            scope: The scope.
            generation: Only memories of this generation. None: of any.
            at: As :attr:`MemoryFilter.at`.
        """
        ...

    async def size(self) -> StoreSize:
        """The approximate size, for the metrics."""
        ...

    async def drop(self) -> None:
        """Removes the whole collection, for a rebuild."""
        ...

    async def close(self) -> None:
        """Closes the connections."""
        ...


async def all_memories(store: MemoryStore, scope: TenantScope) -> AsyncIterator[Memory]:
    """All memories of a scope, ordered by id, read page by page; raises as the store does."""
    after: str | None = None
    while page := await store.scroll(scope, after=after, limit=_PAGE):
        for memory in page:
            yield memory
        after = page[-1].id


async def all_steps(store: MemoryStore, scope: TenantScope, entity: str | None) -> AsyncIterator[HistoryEntry]:
    """All history steps of an entity, or of all entities of the tenant, as :meth:`MemoryStore.steps` reads them page by page."""
    after: str | None = None
    while page := await store.steps(scope, entity, after=after):
        for step in page:
            yield step
        after = page[-1].id
