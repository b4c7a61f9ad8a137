"""Patterns of word lists and templates."""

import re

import pytest

from extraction.offline.grammar.patterns import any_of, cue, listed, template

PARTS = {"I": "(?:i|we)", "place": "[A-Z]\\w+"}


def test_entries_are_words_with_single_blanks() -> None:
    assert listed("a few\n  words, one ,two,") == ("a few words", "one", "two")


@pytest.mark.parametrize("text", ["I live in ", "we happily live in ", "i reside  near "])
def test_a_template_matches_its_forms(text: str) -> None:
    assert re.fullmatch(template("<I> happily? live|reside in|near", PARTS), text, re.IGNORECASE)


@pytest.mark.parametrize("text", ["I in ", "I live ", "I livein "])
def test_a_template_refuses_other_texts(text: str) -> None:
    assert re.fullmatch(template("<I> happily? live|reside in|near", PARTS), text, re.IGNORECASE) is None


@pytest.mark.parametrize("text", ["can't  stand", "cant stand", "can’t stand"])
def test_apostrophes_and_blanks_may_vary(text: str) -> None:
    assert re.fullmatch(any_of(listed("can't stand")), text)


def test_the_longest_entry_matches() -> None:
    assert cue(listed("vegan, vegan food")).search("my vegan food") is not None
    assert re.match(any_of(listed("vegan, vegan food")), "vegan food")[0] == "vegan food"  # type: ignore[index]


def test_an_asterisk_ends_a_word_anyhow() -> None:
    assert cue(listed("sarcas*")).search("that was Sarcasm") is not None
    assert cue(listed("joke")).search("jokers") is None
