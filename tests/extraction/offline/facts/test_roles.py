"""People by the part that they play for the writer, and names after nouns that name no person."""

import pytest

from extraction.offline.facts.relations import relations_of


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Our childminder, Bronwyn, is retiring.", ("childminder", "Bronwyn")),
        ("My driving instructor Ken says I'm ready.", ("driving instructor", "Ken")),
        ("My physio, a lovely woman called Asha, helps.", ("physio", "Asha")),
        ("Remind Petra - she's my accountant - of it.", ("accountant", "Petra")),
        ("A colleague of mine, Luca, is ill.", ("colleague", "Luca")),
        ("The wife's called Jo.", ("wife", "Jo")),
        ("Boss is called Shug.", ("boss", "Shug")),
        ("My husband he is name Daniel.", ("husband", "Daniel")),
        ("My neighbour Señora Puig brings oranges.", ("neighbour", "Señora Puig")),
        ("Our cat, Professor Whiskers, is old.", ("cat", "Professor Whiskers")),
        ("Bruno the labrador is at my sister's.", ("labrador", "Bruno")),
    ],
)
def test_a_role_gives_the_relation(text: str, relation: tuple[str, str]) -> None:
    assert relation in list(relations_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "My printer Canon is broken.",
        "My favourite author Tolkien is dead.",
        "My old coach Ken retired.",
        "My boss called Anna today.",
        "Our teacher called Tom to the board.",
        "My therapist is called Merlot.",
        "My trip to Rome was short.",
        "My hero Messi scored.",
    ],
)
def test_other_nouns_give_none(text: str) -> None:
    assert list(relations_of(text)) == []
