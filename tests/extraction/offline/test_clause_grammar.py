"""Constructions that state a fact whatever their words: topics as subjects, lists without a verb, aspect, times, and answers to oneself."""

import pytest

from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        # a thing is the subject
        ("The new job at the customs office is going well.", ["occupation at the customs office"]),
        ("My current role with a shipping company keeps me busy.", ["occupation with a shipping company"]),
        ("The move to Ghent went better than expected.", ["home Ghent"]),
        ("My landlord in Utrecht raised the rent again.", ["home Utrecht"]),
        ("He sends people to the petrol station where I work.", ["occupation at the petrol station"]),
        ("My skin can't handle wool.", ["avoid wool"]),
        ("Gluten's a no-go for me.", ["avoid gluten"]),
        # no verb
        ("Ana, 34, nurse from Porto.", ["name Ana", "age 34", "occupation nurse"]),
        ("Occupation: locksmith. Home: Aalst.", ["occupation locksmith", "home Aalst"]),
        # aspect and change
        ("Traded London for Falmouth and have not looked back.", ["home Falmouth"]),
        ("I gave up law to become a baker.", ["occupation baker"]),
        ("I went from barista to brewer in two years.", ["occupation brewer"]),
        ("I never liked jazz until last year, now I adore it.", ["like jazz"]),
        ("I've grown fond of opera lately.", ["like opera"]),
        ("Now that I'm retired I sleep in.", ["occupation retired"]),
        # recurring times in any place
        ("On Tuesdays it's judo.", ["habit do judo on Tuesdays"]),
        ("Mornings I swim, evenings I read.", ["habit swim mornings", "habit read evenings"]),
        ("I restore old radios every weekend.", ["habit restore old radios every weekend"]),
        ("I live since three years in Bergen.", ["home Bergen"]),
        # what the writer answers themselves
        ("My job? Locksmith.", ["occupation Locksmith"]),
        ("Idris? He's my nephew.", ["nephew Idris"]),
        # complements
        ("I like to spend time with my cats.", ["like to spend time with my cats"]),
        ("I work for a property management company.", ["occupation for a property management company"]),
        ("I have a dog named banjo.", ["dog banjo"]),
        ("I'm a keen gardener.", ["like gardening"]),
        ("I'm not much of a drinker.", ["dislike drinking"]),
    ],
)
def test_a_construction_states_its_fact(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "Ana, the nurse from Porto, sent her regards.",
        "Ana, nurse, please come to room 4.",
        "Host: Pieter, 41, baker from Gouda.",
        "The interview at the customs office went well.",
        "The new job at the customs office would be a step up.",
        "left London for Paris this morning, back on Tuesday",
        "swapped Ghent for Lille in the itinerary",
        "I went from room to room.",
        "I work in the evening.",
        "I work for the fun of it.",
        "I walk on eggshells every day.",
        "I had to wait every time.",
        "Robots may take over the world.",
        "My job? Don't ask.",
        "I'm not a teacher.",
        "I gave up hope to become better.",
    ],
)
def test_a_like_construction_states_none(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("A: Do you like hiking?", "God no."), ["dislike hiking"]),
        (("A: Do you like fish?", "not really"), []),
        (("A: Do you still live in Bath?", "No, Bristol these days."), ["home Bristol"]),
    ],
)
def test_a_short_answer_states_its_fact(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts
