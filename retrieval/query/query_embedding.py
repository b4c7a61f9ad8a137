"""Embeds a question, as asked and in the first person, and several texts as one query.

Retrievers of one recall start in no fixed order, so each asks for all texts of the question at once. The embedder then runs them in one
pass, which takes half of the time of two: most of a pass of a few words is spent on reading the model's weights.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import numpy as np

from memory.vectors import unit_rows
from models.embedding.port import Embedder, Embedding, Vector
from models.errors import InputRefusedError
from retrieval.query.first_person import asked_texts
from runtime.logs import logger

MAX_LATE_ROWS: Final = 256
"""Most late vectors of a query, about as many as a long text has. Each is compared with those of every candidate."""

_log = logger(__name__)


async def embed_question(embedder: Embedder, question: str) -> Embedding:
    """Embeds a question: its dense vector, and the late vectors of all its :func:`retrieval.query.first_person.asked_texts`.

    Args:
        embedder: Embeds each text as a query.
        question: The text of a query.

    Raises:
        models.errors.ModelError: If the embedder fails.
    """
    embeddings = await _embed_asked(embedder, question)
    return embeddings[0] if len(embeddings) == 1 else Embedding(embeddings[0].dense, _joined(embeddings))


async def embed_as_asked(embedder: Embedder, question: str) -> Embedding:
    """Embeds a question as it was asked, for a retriever next to others that use :func:`embed_question`.

    Args:
        embedder: Embeds each text as a query.
        question: The text of a query.

    Raises:
        models.errors.ModelError: If the embedder fails.
    """
    return (await _embed_asked(embedder, question))[0]


async def _embed_asked(embedder: Embedder, question: str) -> list[Embedding]:
    """The embeddings of the question and its other :func:`retrieval.query.first_person.asked_texts`, as far as the model compares them."""
    texts = asked_texts(question)
    if len(texts) == 1 or embedder.late_dimension is None:
        return [await embedder.embed_query(question)]
    return await asyncio.gather(*(embedder.embed_query(each) for each in texts))


async def embed_query_texts(embedder: Embedder, texts: Sequence[str]) -> Embedding:
    """Embeds each text separately, because a model truncates long texts. Combines the mean of the dense vectors and all late vectors.

    Args:
        embedder: Embeds each text as a query.
        texts: At least one.

    Raises:
        models.errors.InputRefusedError: If the embedder refuses all texts. Otherwise the accepted ones are combined.
        models.errors.ModelError: If the embedder fails.
    """
    try:
        embeddings = list(await asyncio.gather(*(embedder.embed_query(each) for each in texts)))
    except InputRefusedError as error:
        # A provider refuses a whole batch because of one text. One by one, it refuses only that text.
        embeddings = await _embed_one_by_one(embedder, texts, error)
    return _combined(embeddings)


async def _embed_one_by_one(embedder: Embedder, texts: Sequence[str], refusal: InputRefusedError) -> list[Embedding]:
    embeddings = []
    for text in texts:
        try:
            embeddings.append(await embedder.embed_query(text))
        except InputRefusedError as error:
            refusal = error
    if not embeddings:
        raise refusal
    _log.warning("query_texts_refused", refused=len(texts) - len(embeddings), error=str(refusal))
    return embeddings


def _combined(embeddings: Sequence[Embedding]) -> Embedding:
    """The normalised mean, and at most :data:`MAX_LATE_ROWS` late vectors at even intervals. No late vectors if an embedding has none."""
    if len(embeddings) == 1:
        return embeddings[0]
    dense = unit_rows(np.mean([each.dense for each in embeddings], axis=0, keepdims=True))[0]
    return Embedding(dense, _joined(embeddings))


def _joined(embeddings: Sequence[Embedding]) -> Vector | None:
    late = [each.late for each in embeddings if each.late is not None]
    return _sampled(np.concatenate(late)) if len(late) == len(embeddings) else None


def _sampled(rows: Vector) -> Vector:
    if len(rows) <= MAX_LATE_ROWS:
        return rows
    return np.take(rows, np.linspace(0, len(rows) - 1, MAX_LATE_ROWS).round().astype(int), axis=0)
