"""Statements after openers, and statements with misspelt keywords or emoji inside."""

import pytest

from extraction.offline.rewriting.openers import without_openers
from extraction.offline.rewriting.spelling import is_misspelling, with_keywords_spelled
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Seriously: I'm a falconer.", ["occupation falconer"]),
        ("Despite what the form says, I live in Vaasa.", ["home Vaasa"]),
        ("Contrary to what my badge claims, I'm a stonemason.", ["occupation stonemason"]),
        ("Short round: I'm Ute, and I live in Jena.", ["name Ute", "home Jena"]),
        ("Since you asked: I live in Szeged.", ["home Szeged"]),
        ("In case it's useful: I'm a potter.", ["occupation potter"]),
        ("Dear team, I live in Mons.", ["home Mons"]),
        ("Lyrics: I live in Memphis.", []),
        ("She says: I'm a falconer.", []),
        ("Imagine this: I'm a falconer.", []),
        ("If the form is right, I live in Vaasa.", []),
        ("According to the form, I live in Vaasa.", []),
        ("Sure, I live in Buckingham Palace. Next question.", []),
    ],
)
def test_only_meaningless_openers_are_skipped(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


def test_greeting_keeps_the_name_after_it() -> None:
    assert without_openers("Hi I'm Dele, I'd like some advice") == "Hi I'm Dele, I'd like some advice"


def test_a_correction_after_another_sentence_is_kept() -> None:
    assert stated("I live in Sofia. Correction: I live in Plovdiv") == ["home Plovdiv"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("i lvie in Gouda", ["home Gouda"]),
        ("wokring as a nurse", ["occupation nurse"]),
        ("my naem is Floor", ["name Floor"]),
        ("i am allregic to peanuts", ["allergy peanuts"]),
        ("im 🌱 vegan 🌱", ["diet vegan"]),
        ("I live 🏡 in Delft 🌷", ["home Delft"]),
        ("I lied in Gouda", []),
        ("i love in Gouda", []),
    ],
)
def test_only_keywords_are_spelled_right(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


def test_values_keep_their_spelling() -> None:
    assert with_keywords_spelled("i lvie in Wokr") == "i live in Wokr"


def test_a_short_misspelt_word_is_another_word() -> None:
    assert not is_misspelling("love", "live")
    assert is_misspelling("vegitarian", "vegetarian")
