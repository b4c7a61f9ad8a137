"""Titles with surnames, states in short, school years, roles, breeds and misspelt words, and what only looks like them."""

import pytest

from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My name is Mrs. Okafor.", ["name Mrs. Okafor"]),
        ("Call me Ms Adeyemi, please.", ["name Ms Adeyemi"]),
        ("You can call me Miss Abara.", ["name Miss Abara"]),
        ("I'm Jolanta, the one who emailed yesterday.", ["name Jolanta"]),
        ("I'm Zoe, the girl from upstairs.", ["name Zoe"]),
        ("My name is Mr. Right.", []),
        ("They call me Mr. Fixit.", []),
        ("Don't call me Mrs. Hart.", []),
        ("I'm German, the one who asked about visas.", []),
        ("I'm Neo, the one who saves the matrix.", []),
    ],
)
def test_names_have_titles_or_appositions(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("i live in austin tx", ["home austin tx"]),
        ("im based in leeds uk", ["home leeds uk"]),
        ("i moved to denver co last year", ["home denver co"]),
        ("I live in Austin tx.", ["home Austin tx"]),
        ("i live in oslo me and my cat", ["home oslo"]),
        ("i lived in reno nv", []),
        ("my boss lives in paris tx", []),
        ("i wish i lived in miami fl", []),
    ],
)
def test_towns_have_states_in_short(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I teach third grade.", ["occupation teach third grade"]),
        ("I teach year 5 at a school in Hull.", ["occupation teach year 5"]),
        ("I teach high school chemistry.", ["occupation teach high school chemistry"]),
        ("I'm the accountant at a small brewery.", ["occupation accountant"]),
        ("I'm the vet for our village.", ["occupation vet"]),
        ("I do murals for a living, so my clothes are ruined.", ["occupation do murals"]),
        ("I taught year 5 for ages.", []),
        ("I teach dogs tricks.", []),
        ("I'm the captain now.", []),
        ("I'm the plumber in the family.", []),
        ("I'm the teacher at the party.", []),
        ("I'm the lawyer in this story.", []),
    ],
)
def test_school_years_and_definite_roles_are_jobs(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (["My lil sister Ama starts school."], ["sister Ama"]),
        (["My ex husband Gareth has the kids."], ["ex-husband Gareth"]),
        (["I'm married to a wonderful nurse, Dagny."], ["married to Dagny"]),
        (["I'm engaged to a Dutch lawyer named Femke."], ["engaged to Femke"]),
        (["I'm married to Ana, a nurse."], ["married to Ana"]),
        (["Our little boy's name is Anton."], ["little boy Anton"]),
        (["Our lab is called Biscuit."], ["lab Biscuit"]),
        (["My frenchie is named Bijou."], ["frenchie Bijou"]),
        (["My lab is called Helios. We test vaccines."], []),
        (["Our lab is called BioNova."], []),
        (["I'm married to a man who loves Elvis."], []),
        (["I'm married to a girl from Lagos, Nigeria."], []),
        (["I was married to a sailor called Hugo."], []),
        (["I'd love to be married to a chef called Ramsay."], []),
    ],
)
def test_relations_are_named_in_short_forms(messages: list[str], facts: list[str]) -> None:
    assert stated(*messages) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm intolerent to wheat.", ["allergy wheat"]),
        ("I have a lactose intolerence.", ["allergy lactose"]),
        ("I'm intolerant of fools.", []),
        ("I love most cheeses.", ["like most cheeses"]),
        ("I don't like most fish.", ["dislike most fish"]),
        ("I like most of what you wrote.", []),
        ("I like most of my job.", []),
        ("I'm not keen on olives or capers.", ["dislike olives or capers"]),
        ("I'm not keen on crowds and loud music.", ["dislike crowds and loud music"]),
        ("I'm not keen on it or on that.", []),
        ("I'm not keen on your idea or the other one.", []),
    ],
)
def test_tastes_and_allergies_keep_their_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts
