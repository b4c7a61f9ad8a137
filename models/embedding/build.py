"""Builds the embedder that the settings name, and guards an embedder with a circuit breaker."""

from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from memory.redaction import RedactionPolicy
from models.embedding.embedder import BatchedEmbedder, EmbeddingBackend
from models.embedding.port import Embedder, Embedding
from models.errors import ModelConfigurationError, TransientModelError
from runtime.errors import missing_extra
from runtime.guard import Guard
from runtime.settings import EmbeddingSettings

_PROBE: Final = "ready"

_ENDPOINT_QUERY_CONCURRENCY: Final = 4
"""A call to an endpoint mostly waits, and one call that hangs must not block every recall of the process."""
_ENDPOINT_DOCUMENT_CONCURRENCY: Final = 2
_BLAS_THREADS: Final = 1
"""Of numpy's products, which are small here. With a thread for each core they wait for each other more than they compute, as other
processes run on the same cores: on a busy machine, projecting token vectors took thirty times as long. And no sum's rounding depends on
the number of cores."""


class GuardedEmbedder:
    """An :class:`models.embedding.port.Embedder` whose calls fail at once while its model is unavailable.

    Args:
        probe_timeout_s: Time-out of a probe whether the model is available again, in seconds.
        retry_s: Time between two probes, in seconds.
    """

    def __init__(self, *, embedder: Embedder, timeout_s: float, probe_timeout_s: float, retry_s: float) -> None:
        self._embedder = embedder
        self._probes = 0
        self._guard = Guard(
            name="the embedding model",
            probe=self._probe,
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
        await self.embed_query(_PROBE)

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        """See :meth:`Embedder.embed_documents`."""
        return await self._guard.run(lambda: self._embedder.embed_documents(texts))

    def cached(self, text: str) -> Embedding | None:
        """See :meth:`Embedder.cached`."""
        return self._embedder.cached(text)

    async def embed_query(self, text: str) -> Embedding:
        """See :meth:`Embedder.embed_query`."""
        return await self._guard.run(lambda: self._embedder.embed_query(text))

    async def close(self) -> None:
        """Frees threads and connections."""
        await self._guard.close()
        await self._embedder.close()

    async def _probe(self) -> None:
        self._probes += 1
        # A text that was embedded before would come from the cache.
        await self._embedder.embed_query(f"{_PROBE} {self._probes}")


def build_embedder(settings: EmbeddingSettings, *, cache: Path) -> Embedder:
    """Builds the embedder; only the libraries of the chosen kind are imported. From then on numpy multiplies in one thread in this process.

    Args:
        settings: Which model, and how it runs.
        cache: The folder of converted and downloaded models; shared by all processes of a machine.

    Raises:
        ModelConfigurationError: If an extra is missing, or the model and the settings do not fit; says which value to change.
    """
    threadpool_limits(limits=_BLAS_THREADS, user_api="blas")
    is_endpoint = settings.kind == "openai"
    return BatchedEmbedder(
        backend=_backend(settings, cache),
        batch_size=settings.batch_size,
        cache_entries=settings.cache_entries,
        document_concurrency=_ENDPOINT_DOCUMENT_CONCURRENCY if is_endpoint else 1,
        query_concurrency=_ENDPOINT_QUERY_CONCURRENCY if is_endpoint else 1,
    )


def _backend(settings: EmbeddingSettings, cache: Path) -> EmbeddingBackend:
    match settings.kind:
        case "minilm":
            return _minilm(settings, cache)
        case "openai":
            from models.embedding.endpoint import EndpointBackend

            endpoint = EndpointBackend(
                base_url=settings.base_url or "",
                model=settings.model,
                dimension=settings.dimension,
                api_key=settings.api_key.get_secret_value() if settings.api_key else None,
                max_chars=settings.max_chars,
            )
            if not settings.redact:
                return endpoint
            from models.redaction.embedding import RedactingBackend

            return RedactingBackend(endpoint, policy=RedactionPolicy(kinds=settings.redact))
        case "fastembed":
            from models.embedding.fastembed import FastembedBackend

            return FastembedBackend(model=settings.model, dimension=settings.dimension, cache=cache, threads=settings.threads)


def _minilm(settings: EmbeddingSettings, cache: Path) -> EmbeddingBackend:
    try:
        from models.embedding.minilm import MiniLMBackend
        from models.embedding.weights import DIMENSION, MODEL_NAME
    except ImportError as error:
        raise ModelConfigurationError(f"{missing_extra('VARVE_EMBEDDING__KIND=minilm', 'minilm')} ({error})") from error
    if settings.model != MODEL_NAME or settings.dimension != DIMENSION:
        raise ModelConfigurationError(
            f"VARVE_EMBEDDING__KIND=minilm is {MODEL_NAME} of dimension {DIMENSION}; the settings say {settings.model!r} of dimension "
            f"{settings.dimension}: leave both at their defaults or choose another kind"
        )
    return MiniLMBackend(cache=cache, compute_type=settings.compute_type, threads=settings.threads)
