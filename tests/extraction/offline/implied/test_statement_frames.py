"""Statements in other frames than plain sentences, and sentences that only look like them."""

import pytest

from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My details for the club:\nName: Iva Kos\nTown: Zadar\nJob: welder", ["name Iva Kos", "home Zadar", "occupation welder"]),
        ("About me:\n- Home: Lund\n- Diet: vegan", ["home Lund", "diet vegan"]),
        ("Filled it in:\nname: ida\nallergies: pollen", ["name ida", "allergy pollen"]),
        ("My details:\nTown: TBD\nJob: none\nDiet: vegan", ["diet vegan"]),
        ("New customer details:\nName: Iva Kos\nTown: Zadar", []),
        ("My patient's form:\nName: Tom Ash\nAllergies: nuts", []),
        ("I got this form from a client:\nName: Tom Ash\nTown: Leeds", []),
        ("My character sheet:\nName: Thorin\nHome: Rivendell", []),
        ("My details:\nName: John Doe\nTown: Leeds", []),
        ("Name: Tom Ash\nTown: Leeds", []),
    ],
)
def test_only_forms_about_their_writer_are_read(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("I am Berit, I am the new auditor.",), ["name Berit", "occupation auditor"]),
        (("I'm Mara, good to be here.",), ["name Mara"]),
        (("B: I'm Tom from Leeds.", "I'm Greta from Ulm."), ["name Greta"]),
        (("A: Who is new? Please introduce yourselves.", "i'm Otto and I live in Jena."), ["name Otto", "home Jena"]),
        (("I am Groot.",), []),
        (("I am Dutch, I am the new cook.",), ["occupation cook"]),
        (("B: I'm Tom.", "I'm Happy for you."), []),
        (("B: I'm Bob.", "ok"), []),
    ],
)
def test_an_introduction_names_its_speaker(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I am a judge residing in Metz.", ["home Metz", "occupation judge"]),
        ("By profession I bind books.", ["occupation bind books"]),
        ("Began as a junior chef on Friday.", ["occupation junior chef"]),
        ("Retired baker, 71, from Metz", ["occupation retired baker"]),
        ("By profession I was a cook.", []),
        ("Started as a waiter, now I own the place.", []),
        ("Began as a joke on Friday.", []),
        ("Retired racehorse, 12", []),
        ("By accident I bind books.", []),
    ],
)
def test_an_occupation_is_read_in_other_frames(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Regards from Vaasa, where I've always lived.", ["home Vaasa"]),
        ("Writing from Cork, where I've lived since 2010.", ["home Cork"]),
        ("Split, yes, I live there.", ["home Split"]),
        ("Bergen, that's where I live.", ["home Bergen"]),
        ("Regards from Bath, where I've always wanted to live.", []),
        ("Greetings from Lund, where my sister lives.", []),
        ("Split, no, I don't live there.", []),
        ("If I were in Rome, where I live it up, I'd stay.", []),
        ("Greetings from Nice, where I live it up.", []),
    ],
)
def test_a_relative_clause_states_the_home(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("If I could I'd live in Rome, but I live in Ulm.", ["home Ulm"]),
        ("I wish I had no allergies, but I'm allergic to nuts.", ["allergy nuts"]),
        ("I'd love to be a pilot, but I'm a plumber.", ["occupation plumber"]),
        ("Translate 'I am a cook'. I am a tailor, so I need it.", ["occupation tailor"]),
        ("Translate: I am a cook. I am a tailor.", []),
        ("If I won I'd live in Rome, but I'd be alone.", []),
        ("If I could I'd live in Rome, but I live for work.", []),
        ("Guess who! My name is Otto, I am a chemist from Ulm.", []),
        ("Guess where I live! I live in Rome.", []),
    ],
)
def test_a_statement_after_a_trap_is_read(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I cycle 20 km every Saturday.", ["habit cycle 20 km every Saturday"]),
        ("Every Sunday I bake bread.", ["habit bake bread every Sunday"]),
        ("I never eat after eight.", ["habit never eat after eight"]),
        ("I play the oboe.", ["like to play the oboe"]),
        ("I paint miniatures.", ["like to paint miniatures"]),
        ("I walk on eggshells every day.", []),
        ("I should cycle every Saturday.", []),
        ("I read your mails every day.", []),
        ("I paint walls when asked.", []),
        ("I play the fool.", []),
    ],
)
def test_habits_are_stored_in_their_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("I eat eggs but no poultry.",), ["avoid poultry"]),
        (("No leather or fur, please.",), ["avoid leather or fur"]),
        (("i definitly dont like figs",), ["dislike figs"]),
        (("I used to love beer, but now I hate it.",), ["dislike beer"]),
        (("A: Which foods do you dislike?", "beans and kale"), ["dislike beans and kale"]),
        (("I'm allergic to nuts and carry an inhaler.",), ["allergy nuts"]),
        (("I can't stand noise and leave early.",), ["dislike noise"]),
        (("I eat eggs but no rush.",), []),
        (("No rush please",), []),
        (("I used to love beer, but now you hate it.",), []),
        (("Gluten intolerant guests are coming.",), []),
    ],
)
def test_tastes_end_where_their_clause_ends(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("my husbands name is Jens",), ["husband Jens"]),
        (("I have two boys, Al (3) and Ed (6).",), ["boy Al", "boy Ed"]),
        (("A: Who is Jens?", "my fiancé"), ["fiancé Jens"]),
        (("Married to Jens.",), ["married to Jens"]),
        (("engaged to Lukas since May",), ["engaged to Lukas"]),
        (("her husbands name is Jens",), []),
        (("A: Who is Jens?", "my wife's boss"), []),
        (("A: Who is Picasso?", "my favourite painter"), []),
        (("Married to Jens in another life.",), []),
        (("Married to my job.",), []),
    ],
)
def test_relations_are_read_in_answers_and_lists(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I want to pass the history test on 5 May.", ["goal pass the history test on 5 May"]),
        ("I need to pass B2 in July.", ["goal pass B2 in July"]),
        ("I want to pass the salt.", []),
        ("I want to pass on the test.", []),
        ("My son wants to pass the history test on 5 May.", []),
    ],
)
def test_a_learners_aim_is_a_goal(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        (("Hi, I'm Cat.", "You write it Kat, by the way."), "name Kat"),
        (("My name is Sara.", "Spelled Sarah, sorry."), "name Sarah"),
        (("Hi, I'm Jon.", "It's with an h: John."), "name John"),
        (("Hi, I'm Jon.", "You spell it well."), "name Jon"),
    ],
)
def test_a_spelling_replaces_the_name(messages: tuple[str, ...], name: str) -> None:
    assert stated(*messages)[-1] == name
