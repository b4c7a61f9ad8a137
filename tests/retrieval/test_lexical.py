"""Terms and their BM25 weights."""

import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.terms import terms_of
from retrieval.stores.lexical import AVERAGE_LENGTH, K1, B, document_terms, query_terms, searched_text


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The cats are running", ["cat", "run"]),
        ("Caroline's hobbies", ["carolin", "hobbi"]),
        ("She baked a cake and bakes cakes", ["bake", "cake", "bake", "cake"]),
        ("Café CAFÉ cafe", ["cafe", "cafe", "cafe"]),
        ("on 7 May 2023 at 19:30", ["7", "may", "2023", "19", "30"]),
        ("don't", ["don"]),
        ("what is this", []),
        ("", []),
        ("…!?", []),
        ("我喜欢红色", ["我喜", "喜欢", "欢红", "红色"]),
        ("GPT4模型v2", ["gpt4", "模型", "v2"]),
        ("茶", ["茶"]),
        ("snake_case", ["snake", "case"]),
        ("Straße", ["strass"]),
        ("ﬁne", ["fine"]),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert list(terms_of(text)) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paint", "painting"),
        ("painted", "paints"),
        ("city", "cities"),
        ("box", "boxes"),
        ("stop", "stopped"),
        ("hope", "hoping"),
        ("adopt", "adopting"),
        ("class", "classes"),
        ("charity", "charities"),
        ("study", "studies"),
    ],
)
def test_forms_of_one_word_meet(one: str, other: str) -> None:
    assert list(terms_of(one)) == list(terms_of(other))


@pytest.mark.parametrize(("one", "other"), [("bus", "bu"), ("sing", "s"), ("2023", "2024"), ("news", "new york"), ("red", "r")])
def test_other_words_stay_apart(one: str, other: str) -> None:
    assert list(terms_of(one)) != list(terms_of(other))


def test_a_document_weighs_its_terms_as_bm25_does() -> None:
    text = "tea tea coffee"
    weights = document_terms(text)
    norm = K1 * (1 - B + B * 3 / AVERAGE_LENGTH)
    assert sorted(weights.values) == pytest.approx(sorted([2 * (K1 + 1) / (2 + norm), (K1 + 1) / (1 + norm)]))


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
    beside = dict(zip(*_pair(f"{text} zzzz{more}"), strict=True))
    shared = [index for index in alone if index in beside and index not in set(query_terms(f"zzzz{more}").indices)]
    assert all(beside[index] <= alone[index] for index in shared if len(list(terms_of(f"{text} zzzz{more}"))) > len(list(terms_of(text))))


def _pair(text: str) -> tuple[list[int], list[float]]:
    terms = document_terms(text)
    return terms.indices, terms.values


def test_further_words_of_its_message_count() -> None:
    text = searched_text("Ann moved.", ["home", "moved"], "Ann (8 May): Ann was moving, moving to Oslo's harbour; Oslo!")
    assert text == "Ann moved. home 8 may oslo's harbour"


@given(st.text(), st.lists(st.text()), st.text())
def test_what_was_said_adds_its_terms_and_no_others(content: str, keywords: list[str], said: str) -> None:
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
