"""The best approximate span is the nearest of all spans."""

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from operators.span import best_approximate_span

LETTERS = st.text("ab c", max_size=12)


@given(LETTERS, st.text("ab c", min_size=1, max_size=6))
def test_no_span_is_nearer(text: str, search: str) -> None:
    span = best_approximate_span(text, search)
    assert 0 <= span.start <= span.end <= len(text)
    assert span.distance == Levenshtein.distance(search, text[span.start : span.end])
    every = (Levenshtein.distance(search, text[start:end]) for end in range(len(text) + 1) for start in range(end + 1))
    assert span.distance == min(every)


@given(st.text(max_size=30), st.text(min_size=1, max_size=70), st.text(max_size=30))
def test_what_stands_there_exactly_is_found(before: str, search: str, after: str) -> None:
    span = best_approximate_span(before + search + after, search)
    assert span.distance == 0
    assert (before + search + after)[span.start : span.end] == search


def test_small_errors_of_a_model_do_not_matter() -> None:
    text = "Lives in Paris with her sister.\nWorks as a baker at Tomas' bakery.\nLikes peppermint tea."
    span = best_approximate_span(text, "works as baker at Thomas' bakery.")
    assert text[span.start : span.end] == "Works as a baker at Tomas' bakery."
    assert span.distance == 4


def test_letters_beyond_ascii_and_long_searches_are_found() -> None:
    text = "Она живёт в Москве. " * 20 + "Она живёт в Париже с сестрой."
    span = best_approximate_span(text, "Она живет в Париже с сестрой.")
    assert (text[span.start : span.end], span.distance) == ("Она живёт в Париже с сестрой.", 1)


def test_a_whole_word_is_preferred_to_a_part_of_one() -> None:
    assert best_approximate_span("party and art", "art").start == 10
    text = "likes teas a lot"
    span = best_approximate_span(text, "like teas")
    assert text[span.start : span.end] == "likes teas"
