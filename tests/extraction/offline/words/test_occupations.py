"""Nouns that name an occupation, and traits, wishes and things with the same endings."""

import pytest

from extraction.offline.words.occupations import is_occupation, is_possible_job


@pytest.mark.parametrize(
    "phrase",
    [
        "nurse",
        "bridge engineer",
        "oyster farmer",
        "cheesemonger",
        "hydrologist",
        "notary public",
        "stay-at-home dad",
        "Air Traffic Controller",
    ],
)
def test_names_of_occupations_are_known(phrase: str) -> None:
    assert is_occupation(phrase)


@pytest.mark.parametrize(
    "phrase",
    [
        "light sleeper",
        "aspiring actor",
        "big spender",
        "people pleaser",
        "feminist",
        "ex-banker",
        "runner",
        "cooker",
        "terrible singer",
        "",
        "genius",
    ],
)
def test_traits_and_wishes_are_no_occupations(phrase: str) -> None:
    assert not is_occupation(phrase)


@pytest.mark.parametrize(
    ("phrase", "is_job"), [("lamplighter", True), ("professional napper", False), ("team", False), ("head of security", True)]
)
def test_any_plausible_noun_may_be_a_job(phrase: str, is_job: bool) -> None:
    assert is_possible_job(phrase) is is_job
