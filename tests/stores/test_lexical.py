"""Terms and their BM25 weights."""

import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.texts.terms import terms_of
from stores.lexical_analysis import AVERAGE_LENGTH, K1, B, document_terms, query_terms, searched_text


def test_a_document_weighs_its_terms_as_bm25_does() -> None:
    text = "tea tea coffee"
    weights = document_terms(text)
    norm = K1 * (1 - B + B * 3 / AVERAGE_LENGTH)
    assert sorted(weights.values) == pytest.approx(sorted([2 * (K1 + 1) / (2 + norm), (K1 + 1) / (1 + norm)]))


def test_a_chinese_text_is_as_long_as_its_pairs() -> None:
    norm = K1 * (1 - B + B * 4 / AVERAGE_LENGTH)
    assert document_terms("喜欢喝绿茶").values == pytest.approx([(K1 + 1) / (1 + norm)] * 9)


def test_a_query_weighs_its_terms_by_their_number() -> None:
    assert sorted(query_terms("tea tea coffee").values) == [1.0, 2.0]
    assert set(query_terms("tea").indices) <= set(document_terms("green tea").indices)


@given(st.text())
def test_every_text_gives_a_sparse_vector_that_engines_take(text: str) -> None:
    for terms in (document_terms(text), query_terms(text)):
        assert terms.indices == sorted(set(terms.indices))
        assert all(0 <= index < 2**32 for index in terms.indices)
        assert len(terms.indices) == len(terms.values)
        assert all(math.isfinite(value) and value > 0 for value in terms.values)


@given(st.text(), st.text())
def test_longer_texts_weigh_each_term_less(text: str, more: str) -> None:
    alone = dict(zip(*_pair(text), strict=True))
    with_more = dict(zip(*_pair(f"{text} zzzz{more}"), strict=True))
    shared = [index for index in alone if index in with_more and index not in set(query_terms(f"zzzz{more}").indices)]
    assert all(
        with_more[index] <= alone[index] for index in shared if len(list(terms_of(f"{text} zzzz{more}"))) > len(list(terms_of(text)))
    )


def _pair(text: str) -> tuple[list[int], list[float]]:
    terms = document_terms(text)
    return terms.indices, terms.values


def test_further_words_of_its_message_count() -> None:
    text = searched_text("Ann moved.", ["home", "moved"], "Ann (8 May): Ann was moving, moving to Oslo's harbour; Oslo!")
    assert text == "Ann moved. home 8 may oslo's harbour"


@given(st.text(), st.lists(st.text()), st.text())
def test_original_words_add_only_their_own_terms(content: str, keywords: list[str], said: str) -> None:
    own = [*terms_of(searched_text(content, keywords))]
    assert {*terms_of(searched_text(content, keywords, said))} == {*own, *terms_of(said)}
    assert [*terms_of(searched_text(content, keywords, content))] == own


@pytest.mark.parametrize(("texts", "characters"), [(20, 10_000), (2000, 15)])
def test_clauses_without_spaces_take_no_memory(texts: int, characters: int) -> None:
    query_terms("茶")
    tracemalloc.start()
    try:
        for text in range(texts):
            query_terms("".join(chr(0x4E00 + (text * 7919 + place * 31) % 20_000) for place in range(characters)))
        assert tracemalloc.get_traced_memory()[0] < 200_000
    finally:
        tracemalloc.stop()
