"""Embeddings kept by the hash of their text."""

import hashlib
from collections import OrderedDict

from models.embedding.port import Embedding


class EmbeddingCache:
    """The most lately used embeddings, bounded in number. Belongs to one event loop: it takes no lock."""

    def __init__(self, *, entries: int) -> None:
        """Makes an empty cache.

        Args:
            entries: How many embeddings it keeps; 0 keeps none.

        Raises:
            ValueError: If ``entries`` is negative.
        """
        if entries < 0:
            raise ValueError(f"a cache keeps 0 or more embeddings, got {entries}")
        self._entries = entries
        self._kept: OrderedDict[bytes, Embedding] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, text: str) -> Embedding | None:
        """The embedding of a text, if it is kept."""
        key = _key(text)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, text: str, embedding: Embedding) -> None:
        """Keeps an embedding, and lets go of the one unused for longest."""
        key = _key(text)
        self._kept[key] = embedding
        self._kept.move_to_end(key)
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
