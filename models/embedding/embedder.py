"""The embedder that all of Varve uses: any backend, with batches and a cache around it."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from models.embedding.batching import MicroBatcher
from models.embedding.port import Embedding
from models.errors import ModelError


class EmbeddingBackend(Protocol):
    """A model or an endpoint that embeds one batch at a time of each kind."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        ...

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        ...

    @property
    def distinguishes_queries(self) -> bool:
        """Whether a text has other vectors as a query than as a document."""
        ...

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch of texts to be stored."""
        ...

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch of queries."""
        ...

    async def close(self) -> None:
        """Frees threads and connections."""
        ...


class EmbeddingCache:
    """An LRU cache of embeddings by text. Belongs to one event loop: it takes no lock.

    Args:
        entries: How many embeddings it keeps; 0 keeps none.

    Raises:
        ValueError: If ``entries`` is negative.
    """

    def __init__(self, *, entries: int) -> None:
        if entries < 0:
            raise ValueError(f"a cache keeps 0 or more embeddings, got {entries}")
        self._capacity = entries
        self._entries: OrderedDict[bytes, Embedding] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, text: str) -> Embedding | None:
        """The embedding of a text; None on a miss."""
        key = _cache_key(text)
        embedding = self._entries.get(key)
        if embedding is not None:
            self._entries.move_to_end(key)
        return embedding

    def put(self, text: str, embedding: Embedding) -> None:
        """Stores an embedding, and evicts the least recently used."""
        key = _cache_key(text)
        self._entries[key] = embedding
        self._entries.move_to_end(key)
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)


class BatchedEmbedder:
    """An :class:`models.embedding.port.Embedder` over a backend, which it owns.

    Queries and documents have separate batchers, so a query waits at most for the document batches that are running. They share one cache
    if the backend embeds both the same way.

    Args:
        batch_size: Texts in one batch, at least 1.
        cache_entries: Embeddings cached, of documents and of queries each where the backend distinguishes them; 0 caches none.
        document_concurrency: Batches of documents that the backend may run at the same time, at least 1.
        query_concurrency: Batches of queries that it may run at the same time, at least 1.
    """

    def __init__(
        self,
        *,
        backend: EmbeddingBackend,
        batch_size: int,
        cache_entries: int,
        document_concurrency: int = 1,
        query_concurrency: int = 1,
    ) -> None:
        self._backend = backend
        self._document_cache = EmbeddingCache(entries=cache_entries)
        self._query_cache = EmbeddingCache(entries=cache_entries) if backend.distinguishes_queries else self._document_cache
        self._document_batcher = MicroBatcher(
            embed_batch=backend.documents,
            batch_size=batch_size,
            concurrency=document_concurrency,
            on_embedding=self._document_cache.put,
        )
        self._query_batcher = MicroBatcher(
            embed_batch=backend.queries, batch_size=batch_size, concurrency=query_concurrency, on_embedding=self._query_cache.put
        )

    @property
    def name(self) -> str:
        """The model's name, stamped on every point."""
        return self._backend.name

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return self._backend.dimension

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        return self._backend.late_dimension

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        """Embeds texts to be stored."""
        return await _embed(texts, self._document_cache, self._document_batcher)

    def cached(self, text: str) -> Embedding | None:
        """The vectors of a document that was embedded lately; None if the cache has none."""
        return self._document_cache.get(text)

    async def embed_query(self, text: str) -> Embedding:
        """Embeds a query."""
        return (await _embed([text], self._query_cache, self._query_batcher))[0]

    async def close(self) -> None:
        """Stops the batchers and frees the backend."""
        await self._query_batcher.close()
        await self._document_batcher.close()
        await self._backend.close()


async def _embed(texts: Sequence[str], cache: EmbeddingCache, batcher: MicroBatcher) -> list[Embedding]:
    known = {text: cached for text in texts if (cached := cache.get(text)) is not None}
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    try:
        embeddings = await batcher.embed(missing)
    except ModelError as error:
        error.dependency = "embedding"
        raise
    known.update(zip(missing, embeddings, strict=True))
    return [known[text] for text in texts]


def _cache_key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
