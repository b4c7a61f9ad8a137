"""Varve's embedding model, with its default settings, for systems that run in another Python environment."""

import os
from pathlib import Path

from models.embedding.minilm import MiniLMEncoder
from models.embedding.weights import DIMENSION

SIZE = DIMENSION


class SharedModel:
    """The encoder that Varve's processes run. Calls block, and may come from several threads."""

    def __init__(self) -> None:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "varve"
        self._encoder = MiniLMEncoder(cache=cache, compute_type="int8", threads=1)

    def embed(self, texts: list[str]) -> list[list[float]]:
        """The dense vectors of texts."""
        return [dense.tolist() for dense, _ in self._encoder.encode(texts)]
