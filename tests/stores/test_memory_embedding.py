"""Vectors of memories as they are stored."""

from typing import Any

import numpy as np

from models.embedding.port import Embedding
from stores.index_writer import embed_memories
from stores.points import MAX_LATE_ROWS
from tests.stores.factories import LATE_DIMENSION, BagOfWordsEmbedder, embedding, memory


class WithoutLate(BagOfWordsEmbedder):
    late_dimension = None  # type: ignore[assignment]  # as an endpoint's model has it

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        return [Embedding(each.dense, None) for each in await super().embed_documents(texts)]


def late(text: str) -> list[Any]:
    rows = embedding(text).late
    assert rows is not None
    return [*rows.tolist()]


async def test_an_event_has_the_tokens_of_its_message_too() -> None:
    alone, with_source, empty = memory("red bicycle"), memory("Ann moved", search_text="off to Oslo"), memory("")
    vectors = await embed_memories(BagOfWordsEmbedder(), [alone, with_source, empty])
    assert [each.late.tolist() for each in vectors if each.late is not None] == [
        late("red bicycle"),
        late("Ann moved") + late("off to Oslo"),
        late(""),
    ]
    assert [each.dense.tolist() for each in vectors] == [embedding(text).dense.tolist() for text in ("red bicycle", "Ann moved", "")]


async def test_a_text_of_several_memories_is_embedded_once() -> None:
    embedder = BagOfWordsEmbedder()
    await embed_memories(
        embedder, [memory("tea", search_text="a cup"), memory("cake", search_text="a cup"), memory("a cup", search_text="tea")]
    )
    assert embedder.embedded == ["tea", "cake", "a cup"]
    assert await embed_memories(embedder, []) == []


async def test_a_model_without_token_vectors_embeds_only_contents() -> None:
    embedder = WithoutLate()
    (vectors,) = await embed_memories(embedder, [memory("tea", search_text="a cup")])
    assert embedder.embedded == ["tea"]
    assert vectors.late is None


async def test_rows_are_as_many_as_a_store_takes() -> None:
    long = " ".join(f"w{number}" for number in range(MAX_LATE_ROWS))
    (vectors,) = await embed_memories(BagOfWordsEmbedder(), [memory("tea", search_text=long)])
    assert vectors.late is not None
    assert vectors.late.shape == (MAX_LATE_ROWS, LATE_DIMENSION)
    assert np.array_equal(vectors.late[0], late("tea")[0])
