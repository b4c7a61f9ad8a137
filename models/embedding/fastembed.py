"""Models of fastembed: ONNX on the CPU, downloaded by fastembed itself on first use."""

import asyncio
import importlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from memory.vectors import unit_rows
from models.embedding.port import Embedding, Vector
from models.errors import ModelConfigurationError
from runtime.errors import missing_extra


class FastembedBackend:
    """Embeds with fastembed's dense models. They give no token vectors, so ``late`` is None.

    Args:
        model: A name that fastembed knows, for example ``BAAI/bge-small-en-v1.5``; fastembed downloads it where the cache lacks it.
        dimension: The length its vectors must have.

    Raises:
        ModelConfigurationError: If the ``fastembed`` extra is missing, the name is unknown, the dimension is another, or the model
            cannot be loaded.
    """

    def __init__(self, *, model: str, dimension: int, cache: Path, threads: int) -> None:
        try:
            fastembed = importlib.import_module("fastembed")
        except ImportError as error:
            raise ModelConfigurationError(missing_extra("VARVE_EMBEDDING__KIND=fastembed", "fastembed")) from error
        known = {each["model"]: int(each["dim"]) for each in fastembed.TextEmbedding.list_supported_models()}
        if model not in known:
            raise ModelConfigurationError(
                f"fastembed has no model {model!r}; set VARVE_EMBEDDING__MODEL to one of: {', '.join(sorted(known))}"
            )
        if known[model] != dimension:
            raise ModelConfigurationError(f"{model} gives vectors of length {known[model]}, VARVE_EMBEDDING__DIMENSION says {dimension}")
        try:
            self._model: Any = fastembed.TextEmbedding(model_name=model, cache_dir=str(cache), threads=threads)
        except Exception as error:
            raise ModelConfigurationError(f"fastembed cannot load {model} into {cache}: {error}") from error
        self._name = model
        self._dimension = dimension
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-fast")

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""
        return self._dimension

    @property
    def late_dimension(self) -> int | None:
        """Length of a late vector; None: the model gives none."""
        return None

    @property
    def distinguishes_queries(self) -> bool:
        """True: some of the models do."""
        return True

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch, as passages where the model distinguishes them from queries."""
        return await self._run(self._model.passage_embed, texts)

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds one batch, as queries where the model distinguishes them from passages."""
        return await self._run(self._model.query_embed, texts)

    async def close(self) -> None:
        """Ends the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, embed: Any, texts: Sequence[str]) -> list[Embedding]:
        def rows() -> Vector:
            return unit_rows(np.array(list(embed(list(texts))), dtype=np.float32))

        vectors = await asyncio.get_running_loop().run_in_executor(self._thread, rows)
        return [Embedding(dense=dense, late=None) for dense in vectors]
