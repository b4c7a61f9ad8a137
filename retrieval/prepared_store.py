"""A store that is prepared for the embedding model before it is first searched, and again after it was away."""

from models.embedding.port import Embedder
from stores.errors import StoreUnavailableError
from stores.port import MemoryStore, RecallQuery, ScoredMemory


class PreparedStore:
    """Searches a store whose points are known to be of the embedder's model.

    Args:
        store: The memories.
        embedder: Of the model that the memories were embedded with.
    """

    def __init__(self, store: MemoryStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._is_prepared = False

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """See :meth:`MemoryStore.recall`.

        Raises:
            StoreUnavailableError: If the store does not answer.
            StoreRejectedError: If it refuses the request, or holds points of another model.
        """
        embedder = self._embedder
        try:
            if not self._is_prepared:
                await self._store.prepare(model=embedder.name, dimension=embedder.dimension, late_dimension=embedder.late_dimension)
                self._is_prepared = True
            return await self._store.recall(query)
        except StoreUnavailableError:
            # It may return with points of another model.
            self._is_prepared = False
            raise
