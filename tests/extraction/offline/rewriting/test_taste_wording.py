"""Tastes, allergies and confirmations in unusual wording, and sentences that only look like them."""

import pytest

from extraction.offline.facts.list_corrections import without_item
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Penicillin allergy, please note!", ["allergy Penicillin"]),
        ("Note: walnut allergy.", ["allergy walnut"]),
        ("Last year I was diagnosed with a cobalt allergy.", ["allergy cobalt"]),
        ("In case it matters: I am sorbitol intolerant.", ["allergy sorbitol"]),
        ("I get an allergic reaction to wool every time.", ["allergy wool"]),
        ("Doctors confirmed that I am allergic to kiwi.", ["allergy kiwi"]),
        ("My stomach can't handle lactose.", ["allergy lactose"]),
        ("Nothing with feathers please, I am allergic to them!", ["allergy feathers"]),
        ("My son was diagnosed with a cobalt allergy.", []),
        ("I was tested for a cashew allergy.", []),
        ("I had an allergic reaction to a bad joke.", []),
        ("Nothing with feathers happened.", []),
    ],
)
def test_allergies_are_read_in_many_wordings(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("really into falconry these days", ["like falconry"]),
        ("Puppet shows? Hate them.", ["dislike puppet shows"]),
        ("Sudoku? Not my thing.", ["dislike Sudoku"]),
        ("Big on ska.", ["like ska"]),
        ("My go-to drink is rooibos.", ["like rooibos"]),
        ("I avoid chrome wherever I can.", ["avoid chrome"]),
        ("There's nothing like fresh bread.", ["like fresh bread"]),
        ("I like very much to do the gardening.", ["like gardening"]),
        ("I like very much.", []),
        ("New phone? I love it.", []),
        ("Puppet shows? My kids hate them.", []),
        ("Puppet shows? Do you hate them?", []),
        ("My brother is odd. Big on ska.", []),
        ("Nothing beats a hot bath, my gran used to say.", []),
        ("My go-to was rooibos until they stopped selling it.", []),
    ],
)
def test_tastes_are_read_in_many_wordings(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("question", "answer", "facts"),
    [
        ("So you live in Odense?", "yes, right", ["home Odense"]),
        ("You're a welder, aren't you?", "that's right", ["occupation welder"]),
        ("Your name is Ida?", "yes", ["name Ida"]),
        ("So you don't eat pork?", "right", ["avoid pork"]),
        ("So you live in Odense?", "yeah right", []),
        ("So you live in Odense?", "yes, I wish", []),
        ("So you don't eat pork?", "yes", []),
        ("So you used to live in Odense?", "yes", []),
        ("So he lives in Odense?", "yes, right", []),
        ("What is your brother like?", "Big on ska.", []),
    ],
)
def test_a_confirmed_question_states_a_fact(question: str, answer: str, facts: list[str]) -> None:
    assert stated(f"A: {question}", answer) == facts


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("I'm allergic to plums and rye.", "forget the rye, that's my nephew"), ["allergy plums"]),
        (("I'm allergic to plums, rye and soy.", "sorry, not rye, that's my nephew"), ["allergy plums and soy"]),
        (("I like golf.", "scratch golf, that was my brother"), []),
        (("I'm allergic to plums and rye.", "don't forget the rye"), ["allergy plums and rye"]),
        (("I like golf and polo.", "forget the polo shirt, it's too small"), ["like golf and polo"]),
        (("I love cold porridge.", "yeah, not really, that was irony"), []),
    ],
)
def test_later_words_remove_the_named_taste(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts


def test_a_list_without_its_only_item_is_empty() -> None:
    assert (without_item("oats", "oat"), without_item("figs and oats", "rye")) == ("", None)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I prefer to stay inside.", ["like to stay inside"]),
        ("I don't like working as a waiter.", ["dislike working as a waiter"]),
        ("I love getting outside in my garden.", ["like getting outside in my garden"]),
        ("I hate waiting for buses and trams.", ["dislike waiting for buses"]),
        ("I love working on them.", []),
        ("I enjoy spending time with him.", []),
        ("I like to because it calms me.", []),
        ("I like swimming a lot.", ["like swimming"]),
        ("I like to cook to much to stay slim.", ["like to cook"]),
        ("I swim a lot.", ["habit swim a lot"]),
        ("I love to hike you get fine views.", ["like to hike"]),
        ("where are you from, I'm living in Canada", ["home Canada"]),
        ("I have been over the hill.", []),
    ],
)
def test_an_act_is_kept_whole_or_not(text: str, facts: list[str]) -> None:
    assert stated(text) == facts
