"""Embedders that need no model."""

import numpy as np

from models.embedding.port import Embedding


class CountingEmbedder:
    """Its vectors depend on a text's letters alone; ``embedded`` counts the texts."""

    name = "letters"
    dimension = 26
    late_dimension = None

    def __init__(self) -> None:
        self.embedded = 0
        self._cache: dict[str, Embedding] = {}

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        self.embedded += len(texts)
        self._cache |= {text: self._embedding(text) for text in texts}
        return [self._cache[text] for text in texts]

    def cached(self, text: str) -> Embedding | None:
        return self._cache.get(text)

    async def embed_query(self, text: str) -> Embedding:
        return self._embedding(text)

    async def close(self) -> None:
        """Nothing to free."""

    def _embedding(self, text: str) -> Embedding:
        letters = np.array([1 + text.count(chr(97 + index)) for index in range(26)], dtype=np.float32)
        return Embedding(dense=letters / np.linalg.norm(letters), late=None)


class RefusingEmbedder:
    """Raises an error on every call."""

    name = "refusing"
    dimension = 2
    late_dimension = None

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        raise self.error

    def cached(self, text: str) -> Embedding | None:
        return None

    async def embed_query(self, text: str) -> Embedding:
        raise self.error

    async def close(self) -> None:
        """Nothing is open."""
