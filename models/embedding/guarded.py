"""An embedder with one circuit breaker for the whole process."""

from models.embedding.port import Embedder, Embedding
from models.errors import TransientModelError
from runtime.guard import Guard

_QUESTION = "ready"


class GuardedEmbedder:
    """An :class:`models.embedding.port.Embedder` whose calls fail at once while its model is away.

    Args:
        probe_timeout_s: The same for a question whether the model is back.
        retry_s: Time between two such questions, in seconds.
    """

    def __init__(self, *, embedder: Embedder, timeout_s: float, probe_timeout_s: float, retry_s: float) -> None:
        self._embedder = embedder
        self._questions = 0
        self._guard = Guard(
            name="the embedding model",
            probe=self._ask,
            outage=TransientModelError,
            unavailable=TransientModelError,
            timeout_s=timeout_s,
            probe_timeout_s=probe_timeout_s,
            retry_s=retry_s,
        )

    @property
    def name(self) -> str:
        """The model's name, stamped on every point."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return self._embedder.dimension

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        return self._embedder.late_dimension

    async def check(self) -> None:
        """Checks whether the model answered the last call.

        Calls to an endpoint cost money, so after the first check only the calls of other callers count.

        Raises:
            models.errors.TransientModelError: If it did not answer.
        """
        await self.embed_query(_QUESTION)

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        """See :meth:`Embedder.embed_documents`."""
        return await self._guard.run(lambda: self._embedder.embed_documents(texts))

    async def embed_query(self, text: str) -> Embedding:
        """See :meth:`Embedder.embed_query`."""
        return await self._guard.run(lambda: self._embedder.embed_query(text))

    async def close(self) -> None:
        """Frees threads and connections."""
        await self._guard.close()
        await self._embedder.close()

    async def _ask(self) -> None:
        self._questions += 1
        # A text that was asked before would come from the cache.
        await self._embedder.embed_query(f"{_QUESTION} {self._questions}")
