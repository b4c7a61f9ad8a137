"""The embedder that all of Varve uses: any backend, with batches, pooling and a cache around it."""

from collections.abc import Sequence
from typing import Protocol

from models.embedding.batching import MicroBatcher
from models.embedding.cache import EmbeddingCache
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

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch of texts to be stored."""
        ...

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch of queries."""
        ...

    async def close(self) -> None:
        """Frees threads and connections."""
        ...


class BatchedEmbedder:
    """An :class:`models.embedding.port.Embedder` over a backend.

    Queries and documents gather in batchers of their own, so a query waits behind at most the document batches that are running.
    """

    def __init__(
        self,
        *,
        backend: EmbeddingBackend,
        batch_size: int,
        cache_entries: int,
        document_batches_at_once: int = 1,
        query_batches_at_once: int = 1,
    ) -> None:
        """Puts batchers and caches around a backend, which it owns from then on.

        Args:
            backend: The model or endpoint.
            batch_size: Texts in one batch, at least 1.
            cache_entries: Embeddings kept, of documents and of queries each; 0 keeps none.
            document_batches_at_once: Batches of documents that the backend may be asked for at the same time, at least 1.
            query_batches_at_once: The same of queries.

        Raises:
            ValueError: If a number is out of range.
        """
        self._backend = backend
        self._kept_documents = EmbeddingCache(entries=cache_entries)
        self._kept_queries = EmbeddingCache(entries=cache_entries)
        self._documents = MicroBatcher(
            run=backend.documents, batch_size=batch_size, at_once=document_batches_at_once, keep=self._kept_documents.put
        )
        self._queries = MicroBatcher(run=backend.queries, batch_size=batch_size, at_once=query_batches_at_once, keep=self._kept_queries.put)

    @property
    def name(self) -> str:
        """The model's name, stamped on every point."""
        return self._backend.name

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return self._backend.dimension

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        """Embeds texts to be stored; the late vectors are pooled to the configured count.

        Raises:
            models.errors.ModelError: What the backend raised.
        """
        return await _embed(texts, self._kept_documents, self._documents)

    async def embed_query(self, text: str) -> Embedding:
        """Embeds a query; the late vectors are one per token.

        Raises:
            models.errors.ModelError: What the backend raised.
        """
        return (await _embed([text], self._kept_queries, self._queries))[0]

    async def close(self) -> None:
        """Stops the batchers and frees the backend."""
        await self._queries.close()
        await self._documents.close()
        await self._backend.close()


async def _embed(texts: Sequence[str], kept: EmbeddingCache, batcher: MicroBatcher) -> list[Embedding]:
    known = {text: found for text in texts if (found := kept.get(text)) is not None}
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    try:
        embeddings = await batcher.embed(missing)
    except ModelError as error:
        error.dependency = "embedding"
        raise
    known.update(zip(missing, embeddings, strict=True))
    return [known[text] for text in texts]
