"""An embedding backend with a rate limit."""

from collections.abc import Sequence

import numpy as np

from models.embedding.port import Embedding
from models.errors import TransientModelError


class LimitedBackend:
    """Takes so many calls of a window, then fails until the next."""

    name = "limited"
    dimension = 1
    late_dimension = None
    distinguishes_queries = False

    def __init__(self, calls: int) -> None:
        self.calls_left = self.calls_of_a_window = calls
        self.texts: list[str] = []

    def next_window(self) -> None:
        self.calls_left = self.calls_of_a_window

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        if not self.calls_left:
            raise TransientModelError("429")
        self.calls_left -= 1
        self.texts += texts
        return [Embedding(dense=np.array([len(text)], dtype=np.float32), late=None) for text in texts]

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        return await self.documents(texts)

    async def close(self) -> None:
        pass
