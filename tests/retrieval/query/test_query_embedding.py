"""Questions, and many texts, embedded as one query."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from models.embedding.embedder import BatchedEmbedder
from models.embedding.port import Embedding
from models.errors import InputRefusedError
from retrieval.query.query_embedding import MAX_LATE_ROWS, embed_as_asked, embed_query_texts, embed_question
from tests.stores.factories import BagOfWordsEmbedder, embedding, unit


class LimitedEmbedder(BagOfWordsEmbedder):
    """Embeds only the first words of a text, and refuses texts that hold ``refused``."""

    max_words = 4

    def __init__(self, refused: str | None = None) -> None:
        super().__init__()
        self.refused = refused

    async def embed_query(self, text: str) -> Embedding:
        if self.refused is not None and self.refused in text:
            raise InputRefusedError(f"400: {text}")
        return await super().embed_query(" ".join(text.split()[: self.max_words]))


class NotedBackend:
    """Lists the texts of each pass."""

    name = BagOfWordsEmbedder.name
    dimension = BagOfWordsEmbedder.dimension
    late_dimension = BagOfWordsEmbedder.late_dimension
    distinguishes_queries = False

    def __init__(self) -> None:
        self.passes: list[list[str]] = []

    async def documents(self, texts: Sequence[str]) -> list[Embedding]:
        return await self.queries(texts)

    async def queries(self, texts: Sequence[str]) -> list[Embedding]:
        self.passes.append([*texts])
        return [embedding(each) for each in texts]

    async def close(self) -> None:
        pass


async def test_the_last_text_counts_as_much_as_the_first() -> None:
    texts = ["it rains and rains and rains all day long", "and Ann bought a bicycle", "which is red"]
    together = await embed_query_texts(LimitedEmbedder(), texts)
    seen = [embedding("it rains and rains"), embedding("and Ann bought a"), embedding("which is red")]
    assert together.dense == pytest.approx(unit(np.sum([each.dense for each in seen], axis=0)), abs=1e-6)
    assert together.late is not None
    assert len(together.late) == 4 + 4 + 3


async def test_a_single_text_is_embedded_as_a_plain_query() -> None:
    alone, plain = await embed_query_texts(BagOfWordsEmbedder(), ["a red bicycle"]), embedding("a red bicycle")
    assert (alone.dense == plain.dense).all()


async def test_late_vectors_of_all_texts_are_bounded() -> None:
    texts = [" ".join(f"word{text}-{index}" for index in range(100)) for text in range(40)]
    together = await embed_query_texts(BagOfWordsEmbedder(), texts)
    assert together.late is not None
    assert together.late.shape == (MAX_LATE_ROWS, BagOfWordsEmbedder.late_dimension)
    last = embedding(texts[-1]).late
    assert last is not None
    assert (together.late[-1] == last[-1]).all()


async def test_only_the_refused_text_is_left_out() -> None:
    embedder = LimitedEmbedder(refused="x-rated")
    together = await embed_query_texts(embedder, ["a red bicycle", "something x-rated", "in May"])
    without = await embed_query_texts(LimitedEmbedder(), ["a red bicycle", "in May"])
    assert (together.dense == without.dense).all()


async def test_a_query_of_refused_texts_is_refused() -> None:
    with pytest.raises(InputRefusedError):
        await embed_query_texts(LimitedEmbedder(refused=""), ["a red bicycle", "in May"])


async def test_a_question_is_compared_in_the_first_person_too() -> None:
    asked, first_person = embedding("What does Melanie paint?"), embedding("What does I paint?")
    found = await embed_question(BagOfWordsEmbedder(), "What does Melanie paint?")
    assert (found.dense == asked.dense).all()
    assert asked.late is not None
    assert first_person.late is not None
    assert found.late == pytest.approx(np.concatenate([asked.late, first_person.late]))


async def test_without_late_vectors_one_text_is_embedded() -> None:
    class Dense(LimitedEmbedder):
        late_dimension = None  # type: ignore[assignment]

    found = await embed_question(Dense(refused=" I "), "What does Melanie paint?")
    assert (found.dense == embedding("What does Melanie paint?").dense).all()


async def test_all_retrievers_of_a_question_share_one_pass() -> None:
    question, backend = "What does Melanie paint?", NotedBackend()
    embedder = BatchedEmbedder(backend=backend, batch_size=8, cache_entries=0)
    of_entities = asyncio.create_task(embed_as_asked(embedder, question))
    await asyncio.sleep(0)  # The other retriever starts later.
    compared = await embed_question(embedder, question)
    assert [{*each} for each in backend.passes] == [{question, "What does I paint?"}]
    asked = (await of_entities).late
    assert asked is not None
    assert compared.late is not None
    assert len(compared.late) == 2 * len(asked)
    await embedder.close()
