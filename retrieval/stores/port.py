"""The one port to a vector store. No query can be built without a :class:`TenantScope`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from memory.records import Memory
from models.embedding.port import Embedding
from retrieval.stores.scope import TenantScope

__all__ = ["MemoryStore", "Point", "RecallQuery", "Scored", "TenantScope"]


@dataclass(frozen=True, slots=True)
class Point:
    """A memory with its vectors, as it is stored."""

    memory: Memory
    embedding: Embedding


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """One hybrid recall: dense and BM25, fused by RRF, rescored by late interaction, in one request."""

    scope: TenantScope
    text: str
    embedding: Embedding
    limit: int = 10
    prefetch: int = 64
    kinds: tuple[str, ...] = ()
    """``event``, ``entity``, ``summary``, ``segment``; empty: all."""
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    generation: str = ""
    alive_at: datetime | None = None
    """Memories that have expired by then are left out; None: expired or not."""
    explain: bool = False
    """Say what each score is made of: a second, small request for the results alone."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory that a recall found."""

    memory: Memory
    score: float
    """S_origin, in [0, 1] (:mod:`retrieval.stores.fusion`)."""
    parts: dict[str, float] = field(default_factory=dict)
    """Where the query asks for an explanation: ``dense``, ``bm25`` and ``late``, as the engine scores them for this memory alone."""


class MemoryStore(Protocol):
    """Points in, scored memories out. Every call is awaited until it is durable. One that was not prepared yet is empty.

    Every method raises StoreUnavailableError where the store does not answer, and StoreRejectedError where it will not take the request.
    """

    async def prepare(self, *, model: str, dimension: int) -> None:
        """Creates the collection and its indexes where missing; refuses points of another model or dimension."""
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Writes points; the same id replaces."""
        ...

    async def delete(self, scope: TenantScope, ids: Sequence[str]) -> None:
        """Removes points of one tenant; an unknown id is no error."""
        ...

    async def get(self, scope: TenantScope, ids: Sequence[str]) -> list[Memory]:
        """The memories of those ids, in the order asked, without those that are not the scope's."""
        ...

    async def recall(self, query: RecallQuery) -> list[Scored]:
        """The best matches, best first."""
        ...

    async def scroll(self, scope: TenantScope, *, after: str | None = None, limit: int = 100) -> list[Memory]:
        """A scope's memories in the order of their ids, behind ``after``."""
        ...

    async def count(self, scope: TenantScope) -> int:
        """How many memories the scope has, exactly."""
        ...

    async def drop(self) -> None:
        """Removes the whole collection: for a rebuild."""
        ...

    async def close(self) -> None:
        """Frees the connection."""
        ...
