"""The embedded default: all-MiniLM-L6-v2 in this process, dense and late vectors from one pass."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from models.embedding.conversion import ComputeType
from models.embedding.encoder import MiniLMEncoder
from models.embedding.pooling import pool_tokens
from models.embedding.port import Embedding
from models.embedding.weights import DIMENSION, MODEL_NAME


class MiniLMBackend:
    """Runs the encoder in a thread for queries and one for documents."""

    def __init__(self, *, cache: Path, compute_type: ComputeType, threads: int, late_tokens: int) -> None:
        """Loads the model, converting it first where the cache lacks it.

        Args:
            cache: The folder that the converted model is kept in.
            compute_type: The arithmetic of the linear layers.
            threads: Threads of one call of the model.
            late_tokens: Late vectors kept per document, at least 1.

        Raises:
            ModelConfigurationError: If the weights are missing or not the published ones.
            ValueError: If a number is out of range.
        """
        if threads < 1 or late_tokens < 1:
            raise ValueError(f"threads and late_tokens are at least 1, got {threads} and {late_tokens}")
        self._encoder = MiniLMEncoder(cache=cache, compute_type=compute_type, threads=threads)
        self._late_tokens = late_tokens
        self._query_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-query")
        self._document_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-document")

    @property
    def name(self) -> str:
        """The model's name."""
        return MODEL_NAME

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return DIMENSION

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch; each text's late vectors are pooled to ``late_tokens`` rows."""
        return await asyncio.get_running_loop().run_in_executor(self._document_thread, self._encode, texts, self._late_tokens)

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch; late vectors are one per token."""
        return await asyncio.get_running_loop().run_in_executor(self._query_thread, self._encode, texts, None)

    async def close(self) -> None:
        """Ends the threads."""
        self._query_thread.shutdown(wait=False, cancel_futures=True)
        self._document_thread.shutdown(wait=False, cancel_futures=True)

    def _encode(self, texts: Sequence[str], late_tokens: int | None) -> list[Embedding]:
        return [
            Embedding(dense=dense, late=tokens if late_tokens is None else pool_tokens(tokens, late_tokens))
            for dense, tokens in self._encoder.encode(texts)
        ]
