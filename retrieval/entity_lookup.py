"""The entities for the extraction of a window: by their ids, or those nearest to its texts (VikingMem 3.1, entity patches)."""

from collections.abc import Sequence

from memory.records import Memory
from models.embedding.port import Embedder
from retrieval.retrievers.base import PreparedStore
from retrieval.retrievers.entities import MAX_OF_TYPE, EntityRetriever
from runtime.clocks import Clock
from stores.port import MemoryFilter, MemoryStore, TenantScope


class EntityLookup:
    """Finds current entities of one generation, without a recall. The first search prepares the store for the embedder's model.

    Args:
        store: The memories.
        embedder: The model that the memories were embedded with.
        prefetch: Candidates of each of dense and BM25.
        clock: Its time decides which entities have expired.
    """

    def __init__(self, *, store: MemoryStore, embedder: Embedder, prefetch: int, clock: Clock) -> None:
        self._store = store
        self._retriever = EntityRetriever(PreparedStore(store, embedder), embedder, prefetch=prefetch)
        self._clock = clock

    async def nearest(
        self,
        scope: TenantScope,
        texts: Sequence[str],
        entity_types: Sequence[str],
        limit: int = MAX_OF_TYPE,
        *,
        shared_types: Sequence[str] = (),
        generation: str = "",
    ) -> list[Memory]:
        """The entities nearest to the texts, at most ``limit`` of each type, best first within a type.

        Args:
            scope: The tenant or user.
            texts: The texts, which make one query together.
            entity_types: Types to search within the scope.
            limit: Most entities of a type.
            shared_types: Types whose entities belong to no single user. They are searched in the whole tenant, whatever the scope's user.
            generation: The generation; empty: the live one.

        Raises:
            VarveError: See :meth:`EntityRetriever.nearest`.
        """
        current = self._current(scope, generation)
        return await self._retriever.nearest(current, texts, own=entity_types, shared=shared_types, limit=limit)

    async def by_id(self, scope: TenantScope, ids: Sequence[str], *, generation: str = "") -> list[Memory]:
        """The entities with some ids, without those outside the scope. Embeds nothing.

        Args:
            scope: The tenant or user.
            ids: The entities' ids.
            generation: The generation; empty: the live one.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If the store refuses the request.
        """
        current = self._current(scope, generation)
        return [entity for entity in await self._store.get(scope, ids) if current.rejected_by(entity) is None]

    def _current(self, scope: TenantScope, generation: str) -> MemoryFilter:
        return MemoryFilter(scope=scope, kinds=("entity",), generation=generation, not_expired_at=self._clock.now())
