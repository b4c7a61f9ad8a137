"""The port to a vector store. No query can be built without a :class:`TenantScope`, and no write without a :class:`FeedPosition`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from memory.records import HistoryEntry, Memory
from models.embedding.port import Embedding
from stores.position import FeedPosition

NON_ENTITY_KINDS: Final = ("event", "summary", "segment")
"""All kinds of memories but the one that is as it is now."""


@dataclass(frozen=True, slots=True)
class TenantScope:
    """Whose memories a request may touch (docs/internals/architecture.md, invariant 4)."""

    tenant: str
    user: str | None = None
    """None: all of the tenant's users, and what belongs to no single user."""

    def __post_init__(self) -> None:
        if not self.tenant:
            raise ValueError("a tenant scope needs a tenant")
        if self.user == "":
            raise ValueError("a tenant scope's user is a name or None, not an empty text")


@dataclass(frozen=True, slots=True)
class Point:
    """A memory with its vectors, as it is stored."""

    memory: Memory
    embedding: Embedding
    position: FeedPosition
    """Of the record that the memory comes of."""


@dataclass(frozen=True, slots=True)
class StepPoint:
    """A step of an entity's history, as it is stored: without vectors."""

    step: HistoryEntry
    position: FeedPosition
    """Of the record that it comes of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One hybrid query: dense and BM25 candidates, fused by RRF and rescored by late interaction, in one request."""

    scope: TenantScope
    text: str
    embedding: Embedding
    limit: int = 10
    prefetch: int = 64
    kinds: tuple[str, ...] = ()
    """``event``, ``entity``, ``summary``, ``segment``; empty: all."""
    types: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    """Of entities (:func:`memory.keys.entity_key`): only these, their summaries, and the events that have fed them; empty: all."""
    since: datetime | None = None
    until: datetime | None = None
    generation: str = ""
    at: tuple[FeedPosition, ...] = ()
    """Leaves out the memories that were written behind these positions of the feed, and those of partitions that none is of; empty: leaves
    out none."""
    not_expired_at: datetime | None = None
    """Leaves out the memories that have expired by then; None: leaves out none."""
    explain: bool = False
    """Asks for the parts of each score, in a second, small request for the results alone."""


class ScoredMemory(NamedTuple):
    """A memory that a query found."""

    memory: Memory
    score: float
    """S_origin, in [0, 1] (:mod:`stores.query_plan`)."""
    parts: dict[str, float]
    """Where the query asks for an explanation: ``dense``, ``bm25`` and ``late``, as the engine scores them for this memory alone."""


@dataclass(frozen=True, slots=True)
class StoreSize:
    """How much a store holds, of all tenants together."""

    points: int
    """Tombstones and marks included."""
    on_disk_bytes: int | None
    """None where the engine does not tell."""


class MemoryStore(Protocol):
    """Stores points and finds memories. A write returns once it is durable. A store that was not prepared yet is empty.

    Every method raises StoreUnavailableError if the store does not answer, and StoreRejectedError if it refuses the request.
    """

    async def prepare(self, *, model: str, dimension: int, late_dimension: int | None) -> None:
        """Creates the collection and its indexes if they are missing. Refuses points of another model or dimension.

        Args:
            model: The embedding model of the points.
            dimension: Length of its dense vectors.
            late_dimension: Length of its token vectors; None: it gives none.
        """
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Writes points. A point replaces the one with the same id, and its tombstone, but neither if its position is newer."""
        ...

    async def delete(self, scope: TenantScope, positions: Mapping[str, FeedPosition]) -> None:
        """Replaces points of one scope by tombstones, which no query finds and no upsert of an older position replaces.

        Args:
            scope: A point outside of it stays as it is.
            positions: Of the records that delete, by the ids of the memories. A point of a newer position stays. An unknown id gets its
                tombstone too: the upsert before it may still be under way.
        """
        ...

    async def put_steps(self, points: Sequence[StepPoint]) -> None:
        """Writes steps, which :meth:`steps` alone finds. One replaces the one with the same id unless its position is newer."""
        ...

    async def steps(self, scope: TenantScope, entity: str, *, after: str | None = None, limit: int = 500) -> list[HistoryEntry]:
        """One page of the steps of an entity, in the order of their ids.

        Args:
            scope: Whose entity; of its user nothing is asked.
            entity: The entity's id.
            after: The last id of the page before; None: the first page.
            limit: Most steps of the page.
        """
        ...

    async def purge_tombstones(self, *, before: datetime) -> None:
        """Removes the tombstones that were written before that moment. No write may be under way for so long."""
        ...

    async def set_checkpoint(self, position: FeedPosition) -> None:
        """Notes that the store holds one partition of the feed up to a position. A mark of a newer position stays."""
        ...

    async def mark_of(self, partition: int) -> FeedPosition | None:
        """The newest position noted for a partition; None where the store holds nothing of it."""
        ...

    async def get(self, scope: TenantScope, ids: Sequence[str], *, at: Sequence[FeedPosition] = ()) -> list[Memory]:
        """The memories with those ids, in that order, without those outside the scope.

        Args:
            scope: Whose memories.
            ids: Their ids.
            at: As :attr:`RecallQuery.at`.
        """
        ...

    async def by_evidence(
        self, scope: TenantScope, messages: Sequence[str], *, sessions: Sequence[str] = (), generation: str = "", limit: int = 10
    ) -> list[Memory]:
        """Memories that rest on one of some messages, in the order of their ids. Entities are not among them.

        Args:
            scope: Whose memories.
            messages: Ids of messages.
            sessions: Only memories of these sessions: a message's id is its own within its session alone. Empty: any.
            generation: Empty: the live one.
            limit: Most memories.
        """
        ...

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """The best matches, best first."""
        ...

    async def scroll(self, scope: TenantScope, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """One page of a scope's memories, in the order of their ids.

        Args:
            scope: Whose memories.
            after: The last id of the page before; None: the first page.
            limit: Most memories of the page.
        """
        ...

    async def count(self, scope: TenantScope, *, generation: str | None = None, at: Sequence[FeedPosition] = ()) -> int:
        """The exact number of memories in the scope.

        Args:
            scope: Whose memories.
            generation: Of which generation; None: of any.
            at: As :attr:`RecallQuery.at`.
        """
        ...

    async def size(self) -> StoreSize:
        """How much it holds, roughly: for the metrics."""
        ...

    async def drop(self) -> None:
        """Removes the whole collection, for a rebuild."""
        ...

    async def close(self) -> None:
        """Closes the connections."""
        ...
