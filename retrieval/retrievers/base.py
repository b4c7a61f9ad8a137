"""The interface of a retriever, and the prepared store that retrievers search."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from memory.records import Memory
from memory.schema.method import RetrievalPath
from models.embedding.port import Embedder
from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from retrieval.relevance.final_score import evidence_scores
from retrieval.request import RecallHit
from stores.errors import StoreUnavailableError
from stores.port import FeedPosition, MemoryFilter, MemoryStore, RecallQuery, ScoredMemory, TenantScope

T_co = TypeVar("T_co", covariant=True)

_EVIDENCE_DECAY: Final = 0.95
"""See :func:`retrieval.relevance.final_score.evidence_scores`."""


class Retriever(Protocol[T_co]):
    """One source of results. To add one: implement this in a module of this package, and start it in ``RecallPipeline.answer``."""

    @property
    def name(self) -> PartName:
        """Its name in ``degraded``, in metrics and in spans."""
        ...

    def applies_to(self, plan: RecallPlan) -> bool:
        """Whether the recall asks for it."""
        ...

    async def retrieve(self, plan: RecallPlan) -> T_co:
        """Its results.

        Raises:
            VarveError: If its store, its model or Redis is unavailable or refuses the request.
        """
        ...


class PreparedStore:
    """A store that is prepared for the embedding model before the first search, and again after it was unavailable.

    Args:
        store: The memories.
        embedder: The model that the memories were embedded with.
    """

    def __init__(self, store: MemoryStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._is_prepared = False

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """See :meth:`MemoryStore.recall`.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If it refuses the request, or holds points of another model.
        """
        embedder = self._embedder
        try:
            if not self._is_prepared:
                await self._store.prepare(model=embedder.name, dimension=embedder.dimension, late_dimension=embedder.late_dimension)
                self._is_prepared = True
            return await self._store.recall(query)
        except StoreUnavailableError:
            # The store may return with points of another model.
            self._is_prepared = False
            raise

    async def page(self, memory_filter: MemoryFilter, *, after: str | None, limit: int) -> list[Memory]:
        """See :meth:`MemoryStore.page`.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If it refuses the request.
        """
        return [] if memory_filter.passes_nothing else await self._store.page(memory_filter, after=after, limit=limit)

    async def newest(self, memory_filter: MemoryFilter, *, limit: int) -> list[Memory]:
        """See :meth:`MemoryStore.newest`.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If it refuses the request.
        """
        return await self._store.newest(memory_filter, limit=limit)

    async def get(self, scope: TenantScope, ids: Sequence[str], *, at: Sequence[FeedPosition] = ()) -> list[Memory]:
        """See :meth:`MemoryStore.get`.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If it refuses the request.
        """
        return await self._store.get(scope, ids, at=at)


class FurtherRetriever(ABC):
    """A retriever whose best hits get reserved places in the response, as many as its quota in the tenant's method.

    Args:
        store: The memories.
        embedder: The model that the memories were embedded with.
    """

    name: PartName

    def __init__(self, store: PreparedStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def applies_to(self, plan: RecallPlan) -> bool:
        """Whether the recall gives it places among the hits."""
        return self.name in plan.further_paths

    def most_read(self, path: RetrievalPath) -> int:
        """Most memories that it reads from the store for a recall.

        Args:
            path: The quota and the other limits of the tenant's method.
        """
        return path.quota

    @abstractmethod
    async def retrieve(self, plan: RecallPlan) -> list[RecallHit]:
        """See :meth:`Retriever.retrieve`: its hits, best first."""


def with_types(searched: MemoryFilter, types: Sequence[str]) -> MemoryFilter | None:
    """A filter with a method's types; None if it then passes nothing. Without types, the filter itself."""
    if not types:
        return searched
    passed = tuple(each for each in types if not searched.types or each in searched.types)
    return replace(searched, types=passed) if passed else None


def further_hit(memory: Memory, score: float, parts: dict[str, float], *, path: PartName, keyword: str | None = None) -> RecallHit:
    """The hit of a further retriever.

    Args:
        memory: The memory.
        score: Its score, in [0, 1].
        parts: The parts of the score.
        path: The retriever.
        keyword: The keyword that led to it, if the keyword graph found it.
    """
    evidence = evidence_scores(memory, score, _EVIDENCE_DECAY)
    return RecallHit(memory, score, parts, tuple(memory.message_ids), evidence, keyword=keyword, path=path)
