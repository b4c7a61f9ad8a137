"""Windows, and an embedder that needs no model."""

import numpy as np

from memory.records import Message, Window
from models.embedding.port import Embedding


class CountingEmbedder:
    """Gives vectors that depend on the text's letters alone, and remembers how many texts it was given."""

    name = "letters"
    dimension = 26

    def __init__(self) -> None:
        self.embedded = 0

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        self.embedded += len(texts)
        return [self._embedding(text) for text in texts]

    async def embed_query(self, text: str) -> Embedding:
        return self._embedding(text)

    async def close(self) -> None:
        """Nothing to free."""

    def _embedding(self, text: str) -> Embedding:
        letters = np.array([1 + text.count(chr(97 + place)) for place in range(26)], dtype=np.float32)
        return Embedding(dense=letters / np.linalg.norm(letters), late=None)


def window_of(*texts: str, **fields: object) -> Window:
    common = {"tenant": "acme", "user": "mara", "session": "s", "event_time": "2023-05-08T13:56:00Z"} | fields
    return Window(
        id="0f0e0d0c-0000-4000-8000-000000000000",
        tenant="acme",
        user="mara",
        session="s",
        sequence=0,
        messages=[Message.model_validate(common | {"id": f"m{place}", "text": text}) for place, text in enumerate(texts)],
        closed_by="flush",
        source_partition=0,
        first_offset=0,
        last_offset=len(texts) - 1,
    )
