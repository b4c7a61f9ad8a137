"""Homes, work, tastes and names as people speak and chat."""

import pytest

from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("I grew up in Turin, but it's Ghent we live in now.", "home Ghent"),
        ("Four of us crammed into a flat over a bakery in Leeds.", "home Leeds"),
        ("The rent in Dublin is killing us.", "home Dublin"),
        ("Commuting Basel-Zürich every day.", "home Basel"),
        ("I taught maths for years, semi-retired now.", "occupation semi-retired"),
        ("I am managing payroll for three hospitals.", "occupation manage payroll"),
        ("3rd year marine biology in Plymouth and loving it", "occupation study marine biology"),
        ("As electrician I see terrible cellars.", "occupation electrician"),
        ("We cannot abide reality shows.", "dislike reality shows"),
        ("I can't digest lentils.", "avoid lentils"),
        ("I've been off the booze since May.", "avoid booze"),
        ("Village life suits me.", "like village life"),
        ("noodles > everything", "like noodles"),
        ("There's nothing better than a peach that is really ripe.", "like peach"),
        ("Even honey I don't take.", "avoid honey"),
        ("Tea I take black.", "like tea black"),
        ("ew slugs. hard no from me", "dislike slugs"),
        ("Mara Okafor here, I have a question", "name Mara Okafor"),
        ("it's mara with one r", "name Mara"),
        ("People call me Kit. Name's Katherine but only the bank uses that.", "name Kit"),
        ("My brother fixes trams, Anton is his name.", "brother Anton"),
        ("My oldest, Ines, studies and Tomas the youngest still naps.", "youngest Tomas"),
    ],
)
def test_a_spoken_frame_states_a_fact(message: str, fact: str) -> None:
    assert fact in stated(message)


@pytest.mark.parametrize(
    "message",
    [
        "It's Ghent we might live in next year.",
        "Two of us in a hotel room in Leeds for the wedding.",
        "The rent in Dublin is a scandal, they say.",
        "He is managing payroll for three hospitals.",
        "As usual I see terrible cellars.",
        "As expected we lost.",
        "I'm off meat for a week.",
        "Tuesday suits me.",
        "That suits me fine.",
        "Could you call him? It's Mara with the flat tyre who asked.",
        "Bob here, I have a question",
        "That painting is amazing!",
        "Leon is his name, the man at the desk.",
        "Would you say noodles > everything?",
    ],
)
def test_similar_sentences_state_none(message: str) -> None:
    assert [each for each in stated(message) if not each.startswith("name Mara")] == []


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("We got a hamster!", "A: Aww! What's its name?", "pickle, after my gran's cat"), ["hamster Pickle"]),
        (("Our dog has a pup now", "A: What did you call him?", "Bruno"), ["pup Bruno"]),
        (("We got a hamster!", "A: Aww! What's its name?", "not decided"), []),
        (("We got a hamster!", "A: Aww! What's its name?", "Does it need one?"), []),
        (("We went to the zoo.", "A: The tiger! What's its name?", "Kira"), []),
    ],
)
def test_the_answer_to_a_name_question_names_it(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts
