"""Introductions: greetings with a name, names to be used, and lists of what somebody is."""

import pytest

from extraction.offline.rewriting.introductions import with_introductions
from extraction.offline.rewriting.profile_lists import is_name
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("hey, it's Radmila again", ["name Radmila"]),
        ("Good morning, Eun-ji speaking", ["name Eun-ji"]),
        ("Let me introduce myself. I am Casimir.", ["name Casimir"]),
        ("I'm Edda, nice to meet you", ["name Edda"]),
        ("Just Wren is fine.", ["name Wren"]),
        ("You may know me as Lotte.", ["name Lotte"]),
        ("I'd like you to call me Kit.", ["name Kit"]),
        ("My passport says Konstantin but please use Kostya.", ["name Kostya"]),
        ("Hello, it's Monday again!", []),
        ("I'm Polish and I need help.", []),
        ("I'm known as a hard worker.", []),
        ("Could you call me a taxi?", []),
    ],
)
def test_names_in_introductions(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm Rafał, 35, a tiler in Opole, married to Ewa.", ["name Rafał", "age 35", "occupation tiler", "married to Ewa"]),
        ("I'm Oona, 31, vegan, living in Turku.", ["name Oona", "age 31", "diet vegan", "home Turku"]),
        ("I'm excited, 35, a lover of cheese.", []),
    ],
)
def test_lists_are_read_as_single_statements(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("word", "expected"), [("Tamsin", True), ("Julian", True), ("Dutch", False), ("Catholic", False), ("Happy", False)]
)
def test_peoples_and_states_are_no_names(word: str, *, expected: bool) -> None:
    assert is_name(word) is expected


def test_other_lists_stay() -> None:
    text = "I'm tired, hungry, and out of milk."

    assert with_introductions(text) == text


def test_speaker_is_recognised_in_lower_case() -> None:
    assert stated("hey there, im mara, how's it going") == ["name Mara"]
