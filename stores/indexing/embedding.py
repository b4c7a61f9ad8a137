"""Embeds memories before they are stored."""

from collections.abc import Sequence

import numpy as np

from memory.records import Memory
from memory.records.wording import further_indexed_text, indexed_text
from models.embedding.port import Embedder, Embedding
from stores.points import MAX_LATE_ROWS


async def embed_memories(embedder: Embedder, memories: Sequence[Memory]) -> list[Embedding]:
    """The vectors of memories, in their order. Each distinct text is embedded once.

    An event that a model worded has the token vectors of its content and of its message, since late interaction compares a query with each
    token separately (docs/internals/adr/0053). Its dense vector is that of the content.

    Args:
        embedder: The model.
        memories: The memories.

    Raises:
        models.errors.ModelError: If the embedder fails.
    """
    has_late = embedder.late_dimension is not None
    texts = [(indexed_text(each), further_indexed_text(each) if has_late else None) for each in memories]
    distinct = list(dict.fromkeys([*(main for main, _ in texts), *(further for _, further in texts if further is not None)]))
    if not distinct:
        return []
    embeddings = dict(zip(distinct, await embedder.embed_documents(distinct), strict=True))
    return [embeddings[main] if further is None else _with_tokens(embeddings[main], embeddings[further]) for main, further in texts]


def _with_tokens(embedding: Embedding, source: Embedding) -> Embedding:
    if source.late is None or embedding.late is None:
        return embedding
    return Embedding(embedding.dense, np.concatenate([embedding.late, source.late])[:MAX_LATE_ROWS])
