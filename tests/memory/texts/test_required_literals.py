"""The literals that a regular expression requires."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.texts.required_literals import DIGIT, folded, required_literals
from tests.memory.random_patterns import PATTERNS

_TEXT = st.text("abcAB iİıé?!7'’.\n", max_size=12)


def has_literal(literal: str, text: str) -> bool:
    """Whether a text has a literal, by the definition."""
    if literal == DIGIT:
        return any(each.isdecimal() for each in text)
    if len(literal) == 1 and not literal.isalpha():
        return literal in text
    begin, end = "(?<![a-z])" if literal.startswith(" ") else "", "(?![a-z])" if literal.endswith(" ") else ""
    return re.search(f"{begin}{literal.strip()}{end}", folded(text)) is not None


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"\b(?:live|reside) near\b", [{" live ", " reside "}, {" near "}]),
        (r"\ballerg(?:y|ies|ic)\b", [{" allergy ", " allergies ", " allergic "}]),
        (r"\ballerg\w*", [{" allerg"}]),
        (r"(?<!\w)dentist(?!\w)", [{" dentist "}]),
        (r"never(?: mind)?", [{"never", "never "}]),
        ("[🙄😏]", [{"🙄", "😏"}]),
        (r"\d{2} years", [{" years"}, {DIGIT}]),
        (r"dentist(?= by trade)", [{"dentist"}, {" trade"}, {" by "}]),
    ],
)
def test_required_literals_are_words_and_signs(pattern: str, literals: list[set[str]]) -> None:
    assert sorted(map(sorted, required_literals(pattern, re.IGNORECASE))) == sorted(map(sorted, literals))


@pytest.mark.parametrize("pattern", [r"\w+", "(?:dentist)?", "dentist|.", "(?!dentist)", "[^a]", r"(a)?(?(1)dentist|baker)", ""])
def test_a_pattern_may_need_nothing(pattern: str) -> None:
    assert required_literals(pattern) == ()


def test_folding_keeps_each_match_of_a_letter() -> None:
    others = "".join(map(chr, range(sys.maxunicode + 1)))
    for letter in "abcdefghijklmnopqrstuvwxyz":
        assert {folded(each) for each in re.findall(letter, others, re.IGNORECASE)} == {letter}


def test_folding_makes_no_letter_of_two_characters() -> None:
    assert all(len(folded(chr(each))) == 1 for each in range(sys.maxunicode + 1) if not 0xD800 <= each <= 0xDFFF)


@given(PATTERNS, _TEXT, st.sampled_from((0, re.IGNORECASE, re.IGNORECASE | re.MULTILINE)))
def test_every_match_has_all_literals(pattern: str, text: str, flags: int) -> None:
    if re.search(pattern, text, flags) is not None:
        assert all(any(has_literal(each, text) for each in literals) for literals in required_literals(pattern, flags))
