"""Embeds memories before they are stored."""

from collections.abc import Sequence

import numpy as np

from memory.records import Memory
from models.embedding.port import Embedder, Embedding
from stores.points import MAX_LATE_ROWS


async def embed_memories(embedder: Embedder, memories: Sequence[Memory]) -> list[Embedding]:
    """The vectors of memories, in their order. Each distinct text is embedded once.

    An event whose first message has another text than its content has the token vectors of both texts, since late interaction compares a
    query with each token separately (docs/internals/adr/0049). Its dense vector is that of the content.

    Args:
        embedder: The model.
        memories: The memories.

    Raises:
        models.errors.ModelError: If the embedder fails.
    """
    has_late = embedder.late_dimension is not None
    source_texts = {each.said: None for each in memories if each.said is not None and has_late}
    texts = list(dict.fromkeys([*(each.content for each in memories), *source_texts]))
    if not texts:
        return []
    embeddings = dict(zip(texts, await embedder.embed_documents(texts), strict=True))
    return [
        _with_tokens(embeddings[each.content], embeddings[each.said]) if each.said in source_texts else embeddings[each.content]
        for each in memories
    ]


def _with_tokens(embedding: Embedding, source: Embedding) -> Embedding:
    if source.late is None or embedding.late is None:
        return embedding
    return Embedding(embedding.dense, np.concatenate([embedding.late, source.late])[:MAX_LATE_ROWS])
