"""Words that carry no meaning of their own, and stems."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.texts.words import FUNCTION_WORDS, LONGEST_KEPT_WORD, NUMBER_WORDS, STOP_WORDS, TOPICLESS_WORDS, stem

FORMS = ["studies", "painted", "classes", "hoping", "charities", "running"]


def test_each_list_of_stop_words_extends_the_one_before() -> None:
    assert FUNCTION_WORDS < STOP_WORDS < TOPICLESS_WORDS


def test_negations_are_no_function_words() -> None:
    assert {"no", "not", "nor"} <= STOP_WORDS - FUNCTION_WORDS


def test_number_words_have_their_numbers() -> None:
    assert [NUMBER_WORDS[word] for word in ("zero", "seven", "twelve", "thousand")] == [0, 7, 12, 1000]


@pytest.mark.parametrize(
    ("one", "other"),
    [("study", "studies"), ("paint", "painting"), ("hope", "hoping"), ("box", "boxes"), ("ann", "ann's"), ("ann's", "ann’s")],
)
def test_forms_of_one_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["2023", "gpt4", "模型", "news", "bus", ""])
def test_words_without_an_ending_keep_their_form(word: str) -> None:
    assert stem(word) == word


@given(st.text())
def test_any_text_has_a_stem(text: str) -> None:
    assert isinstance(stem(text), str)


def test_threads_do_not_disturb_each_others_stems() -> None:
    words = [f"{prefix * LONGEST_KEPT_WORD}{form}" for prefix in (chr(97 + place) for place in range(26)) for form in FORMS] * 20
    alone = [stem(word) for word in words]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(stem, words)) == alone


def test_stems_of_long_words_take_no_memory() -> None:
    stem("warm")
    tracemalloc.start()
    try:
        for number in range(40):
            stem("x" * (5000 + number))
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()
