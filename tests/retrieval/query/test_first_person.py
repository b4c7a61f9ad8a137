"""Questions about somebody, as that person would ask them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.query.first_person import MAX_LENGTH, asked_texts, in_first_person, names_in


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does Melanie paint?", "What does I paint?"),
        ("Melanie's kids: what do they like?", "my kids: what do they like?"),
        ("When did Melanie and Caroline’s dog meet?", "When did I and my dog meet?"),
        ("Did Zoë go? Did Ann?", "Did I go? Did I?"),
    ],
)
def test_named_persons_are_the_subject_of_first_person(question: str, expected: str) -> None:
    assert in_first_person(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What was painted at sunrise?",
        "Melanie painted what?",
        "Which trip to New York was in May, which at Christmas, which on Monday?",
        "What does LGBTQ stand for?",
        "Was hat Melanie im Urlaub gemacht?",
        "What did Ann-Marie say?",
    ],
)
def test_texts_without_a_name_are_unchanged(question: str) -> None:
    assert asked_texts(question) == (question,)


def test_a_possession_is_no_person() -> None:
    assert in_first_person("Where does Ann's Honda stand?") == "Where does my Honda stand?"


def test_a_pasted_text_is_not_compared_twice() -> None:
    question = "What does Melanie paint?"
    assert len(asked_texts(question.ljust(MAX_LENGTH))) == 2
    assert len(asked_texts(question.ljust(MAX_LENGTH + 1))) == 1


@given(st.lists(st.sampled_from(["What", "did", "Ann", "Ann's", "Bob’s", "York", "May", "my", "I", "paint", "?", "."]), max_size=12))
def test_nothing_but_names_is_replaced(words: list[str]) -> None:
    replaced = {"Ann": "I", "York": "I", "Ann's": "my", "Bob’s": "my"}
    found = in_first_person(" ".join(words)).split(" ") if words else []
    assert all(new in (old, replaced.get(old)) for new, old in zip(found, words, strict=True))


@given(st.text(max_size=60))
def test_any_text_is_compared_unchanged(question: str) -> None:
    assert asked_texts(question)[0] == question


@pytest.mark.parametrize(
    ("question", "names"),
    [("What does O’Connor keep?", {"o'connor"}), ("Is Will at O'Brien's house?", {"will", "o'brien"}), ("Will Ann come? Where?", {"ann"})],
)
def test_names_with_apostrophes_and_function_words(question: str, names: set[str]) -> None:
    assert names_in(question) == names
