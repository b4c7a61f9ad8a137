"""The interface of embedding models."""

from dataclasses import dataclass
from typing import Protocol

from memory.vectors import Vector

__all__ = ["Embedder", "Embedding", "Vector"]


@dataclass(frozen=True, slots=True)
class Embedding:
    """One text's vectors, from one pass of the model."""

    dense: Vector
    """Shape ``(dimension,)``, unit length."""
    late: Vector | None
    """Shape ``(tokens, late_dimension)``, each row of unit length: the late-interaction vectors, one per token. None where the model gives
    none."""


class Embedder(Protocol):
    """An embedding model. ``embed_*`` may be called from many tasks at once; small calls are gathered into batches."""

    @property
    def name(self) -> str:
        """The model's name, stored with every point."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        ...

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        ...

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        """Embeds texts to be stored."""
        ...

    def cached(self, text: str) -> Embedding | None:
        """The vectors of a document that was embedded recently, if they are still in memory."""
        ...

    async def embed_query(self, text: str) -> Embedding:
        """Embeds a query."""
        ...

    async def close(self) -> None:
        """Frees threads and connections."""
        ...
