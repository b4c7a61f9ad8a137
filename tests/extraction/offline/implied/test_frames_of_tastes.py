"""Tastes and reactions in every order of a clause, and clauses of the same words that state none."""

import pytest

from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I've fallen in love with sourdough baking.", ["like sourdough baking"]),
        ("I can't function before coffee.", ["like coffee"]),
        ("You'll find me hiking most weekends.", ["like hiking"]),
        ("I crochet to relax.", ["like to crochet"]),
        ("Rugby is my whole personality.", ["like rugby"]),
        ("I'd rather read than watch TV.", ["like to read"]),
        ("I have no interest in football.", ["dislike football"]),
        ("Cilantro tastes like soap to me.", ["dislike cilantro"]),
        ("I wouldn't touch an oyster with a barge pole.", ["dislike oyster"]),
        ("I have no interest in the offer you sent.", []),
        ("You'll find me crying in the corner.", []),
        ("I'd rather read the file than guess.", []),
        ("My brother has no interest in football.", []),
        ("If I had no interest in football I'd say so.", []),
        ("I can't stop the printer.", []),
    ],
)
def test_classes_of_words_state_tastes(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Bee stings put me in hospital.", ["allergy bee stings"]),
        ("I come out in hives when I eat strawberries.", ["allergy strawberries"]),
        ("It makes me sick when I drink milk.", ["dislike milk"]),
        ("One bite of shrimp and I'm in A&E.", ["allergy shrimp"]),
        ("My throat closes up with cashews.", ["allergy cashews"]),
        ("My doctor told me to cut out sugar.", ["avoid sugar"]),
        ("I'm not allowed grapefruit with my tablets.", ["avoid grapefruit"]),
        ("Grapefruit is dangerous with my tablets.", ["avoid grapefruit"]),
        ("The doctor told my dad to cut out sugar.", []),
        ("My doctor told me to cut out sugar, but I ignored it.", []),
        ("I stopped eating meat, then started again.", []),
        ("It makes me sick when I see this.", []),
        ("Aspirin is a no-no for my dog.", []),
    ],
)
def test_reactions_are_read_in_every_order(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Needles? I can't even look at them.", ["dislike needles"]),
        ("Ever since the baby I can't face fish.", ["dislike fish"]),
        ("My favourite? Pistachio ice cream.", ["like Pistachio ice cream"]),
        ("I love hiking, baking and old films.", ["like hiking", "like baking", "like old films"]),
        ("Truth be told, I hate parties.", ["dislike parties"]),
        ("She hates jazz and so do I.", ["dislike jazz"]),
        ("Spicy food and I don't get along.", ["dislike spicy food"]),
        ("I'm not vegan any more, just vegetarian.", ["diet vegetarian"]),
        ("Golf? Boring.", ["dislike golf"]),
        ("Mushrooms? My sister can't stand them.", []),
        ("Maria, I love it!", []),
        ("The plan? I love it.", []),
        ("Since the update I can't log in.", []),
        ("Do you like tea, coffee and cake?", []),
    ],
)
def test_topics_and_times_belong_to_their_clause(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I report to Chidi, and Tove reports to me.", ["manager Chidi", "direct report Tove"]),
        ("My niece and nephew, Lily and Max, visited.", ["niece Lily", "nephew Max"]),
        ("I have two kids, the boy is Mateo and the girl is Inés.", ["boy Mateo", "girl Inés"]),
        ("My TA, Shanice, keeps me sane.", ["TA Shanice"]),
        ("I live with a budgerigar called Winston.", ["budgerigar Winston"]),
        ("My boyfriend Idris calls it 'airplane mode'.", ["boyfriend Idris"]),
        ("My city, Bristol, is hilly.", ["home Bristol"]),
        ("My bank, Barclays, is slow.", []),
        ("The boy is Harry Potter.", []),
        ("Chidi reports to Ana.", []),
    ],
)
def test_people_are_known_by_their_part(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Never book Ryanair for me.", ["dislike Ryanair"]),
        ("Please stop recommending me thrillers.", ["dislike thrillers"]),
        ("Always book aisle seats.", ["like aisle seats"]),
        ("Don't order pizza tonight.", []),
        ("Never add comments to the code.", []),
        ("Stop sending emails.", []),
    ],
)
def test_standing_orders_state_tastes(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm now in Graz, so I work from here.", []),
        ("Here I am cleaning offices.", ["occupation clean offices"]),
        ("I drive the number 9 tram.", ["occupation drive the number 9 tram"]),
        ("I got a job at the library.", ["occupation at the library"]),
        ("I'm writing a thesis while working part-time in a bookshop.", ["occupation in a bookshop"]),
        ("While working in a hospital, my aunt met my uncle.", []),
        ("Going home to Turku on Friday.", ["home Turku"]),
        ("We're staying put in Halle.", ["home Halle"]),
        ("Been in Rome for two days.", []),
    ],
)
def test_work_and_homes_in_more_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Do call me Bea.", ["name Bea"]),
        ("Quick intro: Petra, data analyst, eight years at the utility.", ["name Petra", "occupation data analyst"]),
        ("For the minutes: I'm Dana, head of procurement.", ["name Dana", "occupation head of procurement"]),
        ("It's Marguerite, but Daisy is fine.", ["name Daisy"]),
        ("She came out looking like a Joy, so Joy it is.", []),
        ("Intro: Python, a tutorial.", []),
        ("I'm a nurse, I mean a midwife.", ["occupation midwife"]),
    ],
)
def test_names_in_more_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts
