"""The memories nearest to a text or a vector, for stages that compare new memories with known ones."""

from dataclasses import replace

from memory.vectors import decode_vector
from models.embedding.port import Embedder, Embedding
from retrieval.retrievers.base import PreparedStore
from runtime.clocks import Clock
from stores.port import MemoryFilter, MemoryStore, RecallQuery, ScoredMemory


class NearestMemories:
    """Finds memories by similarity. Hidden and expired memories are not found.

    Args:
        store: The memories.
        embedder: The model that the memories were embedded with.
        clock: Its time determines which memories have expired.
    """

    def __init__(self, *, store: MemoryStore, embedder: Embedder, clock: Clock) -> None:
        self._store = PreparedStore(store, embedder)
        self._embedder = embedder
        self._clock = clock

    async def find(self, searched: MemoryFilter, *, text: str, vector: str | None, limit: int) -> list[ScoredMemory]:
        """The nearest memories, nearest first; of equally near ones, by id. The score is the cosine, at least 0.

        Args:
            searched: The memories to search.
            text: The text.
            vector: Its dense vector (:mod:`memory.vectors`). None: the text is embedded, as memories are.
            limit: Most memories.

        Raises:
            StoreUnavailableError: If the store does not respond.
            StoreRejectedError: If the store refuses the request, or holds points of another model.
            models.errors.ModelError: If the text cannot be embedded.
        """
        if vector is None:
            (embedding,) = await self._embedder.embed_documents([text])
        else:
            embedding = Embedding(decode_vector(vector), None)
        # Without words and late vectors, the store ranks by the dense vectors only.
        query = RecallQuery(
            filter=replace(searched, not_expired_at=self._clock.now()),
            text="",
            embedding=Embedding(embedding.dense, None),
            limit=limit,
            explain=True,
        )
        found = await self._store.recall(query)
        scored = [each._replace(score=min(1.0, max(0.0, each.parts.get("dense", each.score)))) for each in found]
        return sorted(scored, key=lambda each: (-each.score, each.memory.id))
