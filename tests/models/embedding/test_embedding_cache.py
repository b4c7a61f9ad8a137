import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.embedding.embedder import EmbeddingCache
from models.embedding.port import Embedding


def embedding(number: float) -> Embedding:
    return Embedding(dense=np.array([number], dtype=np.float32), late=None)


@given(texts=st.lists(st.text(max_size=3), max_size=60), entries=st.integers(0, 5))
def test_the_cache_keeps_the_most_recently_used(texts: list[str], entries: int) -> None:
    cache = EmbeddingCache(entries=entries)
    used: list[str] = []
    for index, text in enumerate(texts):
        cache.put(text, embedding(index))
        used = [each for each in used if each != text] + [text]

    assert len(cache) == min(entries, len(used))
    kept = set(used[-entries:] if entries else [])
    assert {text for text in used if cache.get(text) is not None} == kept


def test_a_read_counts_as_use() -> None:
    cache = EmbeddingCache(entries=2)
    cache.put("a", embedding(1))
    cache.put("b", embedding(2))
    cache.get("a")

    cache.put("c", embedding(3))

    assert cache.get("b") is None
    assert cache.get("a") is not None


def test_a_negative_cache_size_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        EmbeddingCache(entries=-1)
