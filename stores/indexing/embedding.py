"""Embeds memories as they are stored."""

from collections.abc import Sequence

import numpy as np

from memory.records import Memory
from models.embedding.port import Embedder, Embedding
from stores.points import MAX_LATE_ROWS


async def embed_memories(embedder: Embedder, memories: Sequence[Memory]) -> list[Embedding]:
    """The vectors of memories, in their order: each text is embedded once.

    An event whose first message says something in other words has the token vectors of both texts: a query is compared with each token by
    itself (docs/internals/adr/0049). Its dense vector is that of its content.

    Args:
        embedder: The model.
        memories: What is to be stored.

    Raises:
        models.errors.ModelError: What the embedder raised.
    """
    has_late = embedder.late_dimension is not None
    said = {each.said: None for each in memories if each.said is not None and has_late}
    texts = list(dict.fromkeys([*(each.content for each in memories), *said]))
    if not texts:
        return []
    embeddings = dict(zip(texts, await embedder.embed_documents(texts), strict=True))
    return [
        _with_tokens(embeddings[each.content], embeddings[each.said]) if each.said in said else embeddings[each.content]
        for each in memories
    ]


def _with_tokens(embedding: Embedding, said: Embedding) -> Embedding:
    if said.late is None or embedding.late is None:
        return embedding
    return Embedding(embedding.dense, np.concatenate([embedding.late, said.late])[:MAX_LATE_ROWS])
