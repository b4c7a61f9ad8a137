"""One query of many texts: what lies beyond the part of a text that a model sees would count for nothing if they were embedded as one."""

import asyncio
from collections.abc import Sequence
from typing import Final

import numpy as np

from models.embedding.pooling import unit_rows
from models.embedding.port import Embedder, Embedding, Vector
from models.errors import InputRefusedError
from runtime.logs import logger

LATE_ROWS: Final = 256
"""Late vectors of a query, at most: about what one long text has. Each is compared with those of every candidate."""

_log = logger(__name__)


async def embed_together(embedder: Embedder, texts: Sequence[str]) -> Embedding:
    """Embeds each text, and joins them: the mean of the dense vectors, and late vectors of all.

    Args:
        embedder: Embeds each as a query.
        texts: At least one.

    Raises:
        models.errors.InputRefusedError: If the embedder takes none of the texts; where it takes some, those are joined.
        models.errors.ModelError: What else the embedder raised.
    """
    try:
        embeddings = list(await asyncio.gather(*(embedder.embed_query(each) for each in texts)))
    except InputRefusedError as error:
        # The refusal is of a whole batch: one by one, only those are refused that are to blame.
        embeddings = await _embed_one_by_one(embedder, texts, error)
    return joined(embeddings)


async def _embed_one_by_one(embedder: Embedder, texts: Sequence[str], refusal: InputRefusedError) -> list[Embedding]:
    embeddings = []
    for text in texts:
        try:
            embeddings.append(await embedder.embed_query(text))
        except InputRefusedError as error:
            refusal = error
    if not embeddings:
        raise refusal
    _log.warning("texts that the embedding model refuses are left out of a query", refused=len(texts) - len(embeddings), why=str(refusal))
    return embeddings


def joined(embeddings: Sequence[Embedding]) -> Embedding:
    """One embedding of many: the normalised mean, and at most :data:`LATE_ROWS` late vectors, taken evenly; none where one has none."""
    if len(embeddings) == 1:
        return embeddings[0]
    dense = unit_rows(np.mean([each.dense for each in embeddings], axis=0, keepdims=True))[0]
    late = [each.late for each in embeddings if each.late is not None]
    return Embedding(dense, _thinned(np.concatenate(late)) if len(late) == len(embeddings) else None)


def _thinned(rows: Vector) -> Vector:
    if len(rows) <= LATE_ROWS:
        return rows
    return np.take(rows, np.linspace(0, len(rows) - 1, LATE_ROWS).round().astype(int), axis=0)
