"""Many texts as one query: all of them count, and none that is refused takes the others along."""

import numpy as np
import pytest

from models.embedding.port import Embedding
from models.errors import InputRefusedError
from retrieval.recall.joint_query import LATE_ROWS, embed_together
from tests.retrieval.memories_made_up import BagOfWords, embedding, unit


class Choosy(BagOfWords):
    """Sees but the first words of a text, and refuses some; ``asked`` tells what it embedded."""

    sight = 4

    def __init__(self, refused: str | None = None) -> None:
        super().__init__()
        self.refused = refused
        self.asked: list[str] = []

    async def embed_query(self, text: str) -> Embedding:
        if self.refused is not None and self.refused in text:
            raise InputRefusedError(f"400: {text}")
        self.asked.append(text)
        return await super().embed_query(" ".join(text.split()[: self.sight]))


async def test_the_last_text_counts_as_much_as_the_first() -> None:
    texts = ["it rains and rains and rains all day long", "and Ann bought a bicycle", "which is red"]
    together = await embed_together(Choosy(), texts)
    seen = [embedding("it rains and rains"), embedding("and Ann bought a"), embedding("which is red")]
    assert together.dense == pytest.approx(unit(np.sum([each.dense for each in seen], axis=0)), abs=1e-6)
    assert together.late is not None
    assert len(together.late) == 4 + 4 + 3


async def test_one_text_is_embedded_as_ever() -> None:
    alone, plain = await embed_together(BagOfWords(), ["a red bicycle"]), embedding("a red bicycle")
    assert (alone.dense == plain.dense).all()


async def test_late_vectors_are_bounded_and_come_from_all_texts() -> None:
    texts = [" ".join(f"word{text}-{place}" for place in range(100)) for text in range(40)]
    together = await embed_together(BagOfWords(), texts)
    assert together.late is not None
    assert together.late.shape == (LATE_ROWS, BagOfWords.dimension)
    last = embedding(texts[-1]).late
    assert last is not None
    assert (together.late[-1] == last[-1]).all()


async def test_a_text_that_the_model_refuses_is_left_out_alone() -> None:
    embedder = Choosy(refused="x-rated")
    together = await embed_together(embedder, ["a red bicycle", "something x-rated", "in May"])
    without = await embed_together(Choosy(), ["a red bicycle", "in May"])
    assert (together.dense == without.dense).all()


async def test_where_all_are_refused_so_is_the_query() -> None:
    with pytest.raises(InputRefusedError):
        await embed_together(Choosy(refused=""), ["a red bicycle", "in May"])
