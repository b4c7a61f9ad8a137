"""Misspelt names in questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.query.spelling import corrected, is_misspelling
from tests.stores.factories import memory

NOTES = [memory("My colleague John likes Agnes."), memory("We met Marcin in Bergen."), memory("Anna spoke to Anne.")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does Jonh like?", "What does John like?"),
        ("Is Agness at home?", "Is Agnes at home?"),
        ("What happened in Bergan?", "What happened in Bergen?"),
        ("Is bergan nice?", None),
        ("What does John like?", None),
        ("What does Joan like?", None),
        ("Who is Martin?", None),
        ("Who is Annika?", None),
        ("What happened?", None),
    ],
)
def test_one_slip_is_corrected(question: str, expected: str | None) -> None:
    assert corrected(question, NOTES) == expected


def test_two_similar_names_leave_it_open() -> None:
    names = [memory("We met Rosalind."), memory("We met Rosalynd.")]
    assert corrected("Where is Rosalund?", names) is None
    assert corrected("Where is Rosalund?", names[:1]) == "Where is Rosalind?"


@pytest.mark.parametrize(("one", "other"), [("daniel", "daniela"), ("joan", "john"), ("maria", "marie"), ("jim", "tim"), ("ann", "anna")])
def test_similar_names_are_two_names(one: str, other: str) -> None:
    assert not is_misspelling(one, other)
    assert not is_misspelling(other, one)


@given(st.text("abcd", max_size=8), st.text("abcd", max_size=8))
def test_a_misspelling_is_mutual(one: str, other: str) -> None:
    assert is_misspelling(one, other) == is_misspelling(other, one)
