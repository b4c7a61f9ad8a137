"""An embedding backend that sees no personal data: texts have placeholders without numbers."""

import asyncio
from collections.abc import Sequence

from memory.redaction import RedactionPolicy
from models.embedding.embedder import EmbeddingBackend
from models.embedding.port import Embedding
from models.redaction.llm import detector_of
from models.redaction.placeholders import without_personal_data


class RedactingBackend:
    """Embeds texts without personal data by another backend. Equal kinds of data then have equal vectors; terms still find the originals.

    Args:
        backend: The other backend; closed with this one.
        policy: The kinds of personal data.

    Raises:
        ModelConfigurationError: If the extra ``redaction`` is missing.
    """

    def __init__(self, backend: EmbeddingBackend, *, policy: RedactionPolicy) -> None:
        self._backend = backend
        self._detector = detector_of(policy)

    @property
    def name(self) -> str:
        """The other backend's name."""
        return self._backend.name

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return self._backend.dimension

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        return self._backend.late_dimension

    @property
    def distinguishes_queries(self) -> bool:
        """See :attr:`EmbeddingBackend.distinguishes_queries`."""
        return self._backend.distinguishes_queries

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """See :meth:`EmbeddingBackend.documents`."""
        return await self._backend.documents(await self._redacted(texts))

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """See :meth:`EmbeddingBackend.queries`."""
        return await self._backend.queries(await self._redacted(texts))

    async def close(self) -> None:
        """Closes the other backend."""
        await self._backend.close()

    async def _redacted(self, texts: Sequence[str]) -> list[str]:
        return await asyncio.to_thread(lambda: [without_personal_data(each, self._detector) for each in texts])
