"""Jokes, laughter, hedges, tasks and periods that are about something else than a statement, and those that are about it."""

import time

import pytest

from extraction.offline.factuality.unrelated_cues import without_unrelated_cues
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm a glazier in Tartu. Yesterday I told my kids a joke about a snail.", ["occupation glazier"]),
        ("I live in Graz. Tell me a joke about mountains.", ["home Graz"]),
        ("I live in Pécs. My cooking is a bit of a joke, but we survive.", ["home Pécs"]),
        ("I'm an optician. The weather this week is a joke.", ["occupation optician"]),
        ("I'm vegan, haha no.", []),
        ("I live in Atlantis. That was a joke.", []),
        ("I'm a surgeon. It's a joke, obviously.", []),
        ("Here's a joke: I'm a vegan.", []),
        ("Tell me a joke. I'm a priest and I walk into a bar.", []),
    ],
)
def test_jokes_about_other_things_hide_nothing(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm called Oona lol, nobody spells it right.", ["name Oona"]),
        ("My name is Siddharth haha, good luck spelling that", ["name Siddharth"]),
        ("I'm 34. My dog ate my shoe lol", ["age 34"]),
        ("I'm a nurse, my feet hate it haha.", ["occupation nurse"]),
        ("I'm a nurse. lol", []),
        ("My name is King Julien lol", []),
        ("Call me Queen Bee lol", []),
        ("I'm a professional pillow tester haha", []),
    ],
)
def test_laughter_takes_back_only_its_own_statement(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I live in Malmö and basically never leave it.", ["home Malmö"]),
        ("I'm allergic to cats and might get a dog.", ["allergy cats"]),
        ("I work as a welder and want to retire soon.", ["occupation welder"]),
        ("We live all the way out in Ballina, lol.", ["home Ballina"]),
        ("I'm basically vegan.", []),
        ("I basically live in my car.", []),
        ("I could live in Rome and work as a poet.", []),
        ("I used to live in Rome and work as a poet.", []),
    ],
)
def test_hedges_concern_only_their_own_predicate(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I translate contracts for a living.", ["occupation translate contracts"]),
        ("My job is translating legal texts.", ["occupation translating legal texts"]),
        ("I subtitle films for a living and live in Lille.", ["occupation subtitle films", "home Lille"]),
        ("Can you translate this? I work as a cook.", []),
        ("I'm a translator, please translate: I live in Rome.", []),
        ("Translate: I live in Oslo for a living.", []),
    ],
)
def test_translating_for_a_living_orders_nothing(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


def test_next_message_of_a_translator_is_theirs() -> None:
    assert stated("I'm a translator.", "I live in Brno.") == ["occupation translator", "home Brno"]
    assert stated("Translate everything I send.", "I live in Brno.") == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm cooking for the week, and I'm vegetarian.", ["diet vegetarian"]),
        ("Groceries for the week are done, I'm vegan by the way.", ["diet vegan"]),
        ("I'm vegan for the week.", []),
        ("For the week I don't eat meat.", []),
        ("For the week ahead: I'm vegan.", []),
        ("We're away for the week, I'm vegan there.", []),
    ],
)
def test_plans_for_a_week_limit_no_diet(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My name is Aleksander, but my mum says the long form, friends say Sasha.", ["name Aleksander"]),
        ("I'm called Lizzie, my gran says Elizabeth.", ["name Lizzie"]),
        ("My mum says my name is Zeus.", []),
        ("My dad says I'm a genius chef.", []),
    ],
)
def test_how_relatives_say_a_name_hides_nothing(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Quick one: I'm allergic to kiwi.", ["allergy kiwi"]),
        ("One last thing: my name is Ilse.", ["name Ilse"]),
        ("Planning dinner: I don't eat pork.", ["avoid pork"]),
        ("Booking a table: I'm vegan and my wife isn't.", ["diet vegan"]),
        ("Good morning all: I'm Benedek, I work as a tailor.", ["name Benedek", "occupation tailor"]),
        ("Quick one for my novel: I'm a smuggler in Cádiz.", []),
        ("Writing my novel: I live in a castle in Bran.", []),
        ("Preparing my speech: I live in Rome and I'm a hero.", []),
        ("Booking for my sister: I'm vegan.", []),
        ("Reading her letter: I live in Riga now.", []),
    ],
)
def test_openers_with_a_colon_are_left_out(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "I told my boss a joke " * 400,
        "my " + "good " * 3000 + "is a joke",
        "we plan " * 2000 + "for the week, I'm vegan",
        "call me Ann, my " * 1000 + "mum says",
    ],
)
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    began = time.process_time()
    without_unrelated_cues(text)
    assert time.process_time() - began < 1.0
