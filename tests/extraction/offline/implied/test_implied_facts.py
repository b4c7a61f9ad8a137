"""Facts that a clause implies in other words than the grammar's, and clauses of the same words that imply none."""

import pytest

from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Drumming is the only thing that keeps me sane.", ["like drumming"]),
        ("I'm more of a chips man.", ["like chips"]),
        ("nah bro i cant do spicy food", ["avoid spicy food"]),
        ("Saunas stress me out.", ["dislike saunas"]),
        ("Milk gives me hives.", ["allergy milk"]),
        ("I'd rather starve than eat tripe.", ["dislike tripe"]),
        ("Peanuts could kill me.", ["allergy peanuts"]),
        ("i very like badminton", ["like badminton"]),
        ("Mum is cooking octopus, which I secretly loathe.", ["dislike octopus"]),
        ("I can't do Tuesday.", []),
        ("Your jokes make me sick.", []),
        ("My sister says saunas keep her sane.", []),
        ("My dad's simple, strictly tea.", []),
        ("If saunas keep me sane, I'll go.", []),
        ("He wrote: milk gives me hives.", []),
        ("I'm not a family man.", []),
    ],
)
def test_tastes_in_other_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Ship it to my place in Trondheim, please.", ["home Trondheim"]),
        ("My commute from Reading takes an hour.", ["home Reading"]),
        ("I told him I'm not leaving Hull.", ["home Hull"]),
        ("Ghent was home for years, but since January it's Ostend.", ["home Ostend"]),
        ("If I lived in Zurich I would earn more, but I stay with my parents in Plovdiv.", ["home Plovdiv"]),
        ("Tromso, where I've been holed up since spring, is dark.", ["home Tromso"]),
        ("We're over in Rome for the weekend.", []),
        ("Ship it to my sister's place in Bergen.", []),
        ("I love it here in Bern.", []),
        ("We bought a holiday house in Bexhill.", []),
    ],
)
def test_homes_in_other_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Came off nights at the bottling plant at six.", ["occupation at the bottling plant"]),
        ("14 years I've been driving the gritter for the council.", ["occupation driving the gritter"]),
        ("As the only sushi chef in town I go through knives.", ["occupation sushi chef"]),
        ("I am working since three years like welder here.", ["occupation welder"]),
        ("I am graphic designer 10 years.", ["occupation graphic designer"]),
        ("I clean offices at night.", ["occupation clean offices"]),
        ("I'm second mate on a ship and my kids think I live at sea.", ["occupation second mate"]),
        ("As the only woman in the room I stay quiet.", []),
        ("I am working like a nurse.", []),
        ("I'm not a lawyer.", []),
        ("Prompt: I'm lawyer from Boston.", []),
        ("I'm a baker, he said, and my kids think so.", []),
    ],
)
def test_work_in_other_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I collect vinyl.", ["habit collect vinyl"]),
        ("I play bass in a ska band.", ["habit play bass in a ska band"]),
        ("We always go camping in August.", ["habit always go camping in August"]),
        ("I don't smoke.", ["habit don't smoke"]),
        ("I play the victim.", []),
        ("I watch you sleep.", []),
        ("I keep forgetting.", []),
        ("He collects stamps.", []),
    ],
)
def test_acts_in_the_simple_present(text: str, facts: list[str]) -> None:
    assert stated(text) == facts
