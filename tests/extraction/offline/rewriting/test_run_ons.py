"""Clauses that no mark and no conjunction joins are apart, and relative clauses are not."""

import pytest

from extraction.offline.rewriting.run_ons import with_run_ons_apart
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("i live in ohio i have two dogs", "i live in ohio. i have two dogs"),
        ("well i work at a bank i hate it i want to be a singer", "well i work at a bank. i hate it. i want to be a singer"),
        ("hey my name is sam i am from texas", "hey my name is sam. i am from texas"),
        ("i love cats my favorite food is sushi", "i love cats. my favorite food is sushi"),
        ("my favorite color is blue what is yours", "my favorite color is blue. what is yours"),
        ("I'm a vegan I don't eat cheese", "I'm a vegan. I don't eat cheese"),
    ],
)
def test_a_new_subject_and_verb_begin_a_clause(text: str, apart: str) -> None:
    assert with_run_ons_apart(text) == apart


@pytest.mark.parametrize(
    "text",
    [
        "The dogs I have are all rescues",
        "I love the city I live in",
        "it is a car i own with my brother",
        "I think I have a cold",
        "My mum says I am lazy",
        "When I was young I had a dog",
        "Last year I was in Rome",
        "the more I work the less I have",
        "so what i do is i make soup",
        "I like tea and I drink it daily",
    ],
)
def test_a_clause_within_a_clause_stays(text: str) -> None:
    assert with_run_ons_apart(text) == text


def test_run_on_statements_are_facts() -> None:
    assert stated("hi i am tom i work as a baker i love chess do you") == ["name Tom", "occupation baker", "like chess"]
