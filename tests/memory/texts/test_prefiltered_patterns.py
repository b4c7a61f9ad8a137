"""Patterns that are tried only on texts with their required literals."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memory.texts.prefiltered_patterns import PrefilteredPattern, Rewrites, Table, any_pattern, compiled, prefilter_disabled
from tests.memory.random_patterns import PATTERNS

_TEXT = st.text("abAB i?7'.\n", max_size=14)
_LONG_RUN = "dentist" * 20


def _span(found: re.Match[str] | None) -> tuple[tuple[int, int], ...] | None:
    return None if found is None else tuple(found.regs)


@given(PATTERNS, _TEXT, st.integers(0, 3))
def test_results_equal_those_of_re(pattern: str, text: str, start: int) -> None:
    prefiltered, plain = compiled(pattern, re.IGNORECASE), re.compile(pattern, re.IGNORECASE)
    assert _span(prefiltered.search(text, start)) == _span(plain.search(text, start))
    assert _span(prefiltered.match(text, start)) == _span(plain.match(text, start))
    assert _span(prefiltered.fullmatch(text)) == _span(plain.fullmatch(text))
    assert list(map(_span, prefiltered.finditer(text))) == list(map(_span, plain.finditer(text)))
    assert (prefiltered.findall(text), prefiltered.split(text)) == (plain.findall(text), plain.split(text))
    assert (prefiltered.sub("-", text), prefiltered.sub("-", text, 1)) == (plain.sub("-", text), plain.sub("-", text, 1))


@given(st.lists(PATTERNS, min_size=1, max_size=4), _TEXT)
def test_alternatives_give_the_matches_of_one_pattern(patterns: list[str], text: str) -> None:
    joined = re.compile("|".join(patterns), re.IGNORECASE)
    assert _span(any_pattern(patterns, re.IGNORECASE).search(text)) == _span(joined.search(text))


@given(st.lists(st.tuples(PATTERNS, st.sampled_from(("", "b", "ab ?"))), max_size=4), _TEXT)
def test_rewrites_equal_one_substitution_after_another(rules: list[tuple[str, str]], text: str) -> None:
    expected = text
    for pattern, replacement in rules:
        expected = re.sub(pattern, replacement, expected)
    assert Rewrites(rules).apply(text) == expected


def test_only_entries_with_their_literals_are_tried() -> None:
    table = Table([(r"\bdentist\b", 1), (r"\bbakers?\b", 2), (r"\w", 3)])
    assert [each for _, each in table.possible("Two bakers")] == [2, 3]
    with prefilter_disabled():
        assert [each for _, each in table.possible("Two bakers")] == [1, 2, 3]


def test_a_later_pattern_is_found_in_a_known_text() -> None:
    text = "A cooper makes barrels."
    assert compiled("cooper").search(text) is not None
    assert compiled("barrel").search(text) is not None


def test_a_long_run_of_letters_may_have_every_literal() -> None:
    assert PrefilteredPattern("tistden").search(_LONG_RUN) is not None
