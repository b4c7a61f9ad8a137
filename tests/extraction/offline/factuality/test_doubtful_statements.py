"""Statements about a play, a tool, a fast or another person set no field, and doubt in another clause leaves a statement plain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.offline.facts.place_context import least_score
from extraction.offline.facts.plain_facts import facts_of
from extraction.offline.facts.relations import relations_of
from extraction.offline.factuality.moods import plain_sentences
from extraction.offline.factuality.takebacks import without_taken_back
from extraction.offline.grammar.fact_grammar import MOVED_PLACE
from extraction.offline.rewriting.answers import completed


def stated(*messages: str) -> list[tuple[str, str]]:
    kept = without_taken_back(messages, messages, ["Ann"] * len(messages), [True] * len(messages), [()] * len(messages))
    return [(fact.field.name.lower(), fact.value) for fact in facts_of(plain_sentences(kept))]


@pytest.mark.parametrize(
    "text",
    [
        "I'm Grubnak the swamp goblin and I love mud.",
        "We're pirates and we hate the navy!",
        "I'm Lord Ashcombe and I despise turnips.",
        "My name is Sir Tancred and I like jousts.",
        "I'm Odo the Meek, I hate swords.",
        "I hate vampires! Your turn.",
        "Okay, next scene. I live in Verona.",
        "I love gold. Go on with the tale.",
    ],
)
def test_a_played_part_has_no_tastes(text: str) -> None:
    assert stated(text) == []


def test_words_of_tales_in_real_life_are_plain() -> None:
    assert stated("I'm a huge fan of dragon films.") == [("like", "dragon films")]
    assert stated("I work as a robot engineer.") == [("occupation", "robot engineer")]


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Basel, the font, and the page looks calm.",
        "We moved to Basel (the new compiler), all is fine.",
        "We moved to Basel (the theme, not the town), all is fine.",
        "We moved to Basel and the pages load at once.",
        "We moved to Basel for the drawings.",
        "We moved to Basel, our readers are happier.",
        "We moved to Basel since the bundle shrank.",
    ],
)
def test_a_move_needs_a_persons_reasons(text: str) -> None:
    assert least_score("Basel", MOVED_PLACE, text) > 1


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Basel.",
        "We moved to Basel in May.",
        "We moved to Basel last autumn with our twins.",
        "I moved to Basel for a new job.",
        "I moved to Basel and I love it.",
        "I moved to Basel, the city of bridges.",
        "I moved to Basel, the winters are mild.",
    ],
)
def test_a_persons_move_may_be_a_home(text: str) -> None:
    assert least_score("Basel", MOVED_PLACE, text) < 1


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My favourite poet is W. H. Auden.", [("like", "My favourite poet is W. H. Auden")]),
        ("My name is J. R. Okafor.", [("name", "J. R. Okafor")]),
        ("I live in St. Pölten.", [("home", "St. Pölten")]),
        ("I live in Washington D.C.", [("home", "Washington D.C.")]),
        ("I love Dr. Pepper.", [("like", "Dr. Pepper")]),
        ("My favourite band is AC/DC.", [("like", "My favourite band is AC/DC")]),
        ("I work as a Sr. developer.", []),
        ("My favourite poet is e.e. cummings.", []),
    ],
)
def test_an_initial_ends_no_value(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "It's Ramadan, so I don't drink coffee.",
        "Dry January, so I don't drink wine.",
        "I'm vegan this month.",
        "I don't eat meat for the next two weeks.",
        "On Fridays I don't eat meat.",
        "On a juice cleanse I don't eat solids.",
        "I don't eat cheese while I'm nursing.",
        "I'm pescatarian at home but not at my aunt's.",
    ],
)
def test_a_diet_of_a_period_is_no_habit(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I've been vegan for nine years.", [("diet", "vegan")]),
        ("I went vegan in March.", [("diet", "vegan")]),
        ("I don't eat meat at all.", [("avoid", "meat")]),
        ("I never drink wine, not even at Christmas.", [("avoid", "wine")]),
    ],
)
def test_a_diet_without_an_end_is_stored(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("My cousin Ulla, no wait, my niece Ulla, sings.", [("niece", "Ulla")]),
        ("My dad Sven, actually stepdad Sven, cooks.", [("stepdad", "Sven")]),
        ("My dog Bo, scratch that, my neighbour's dog Bo, barks.", []),
        ("My aunt Ulla, or is she my godmother, sings.", []),
        ("My wife Tara (ex-wife actually) left.", []),
        ("My ex-husband is called Tom.", [("ex-husband", "Tom")]),
        ("My bf Tom cooks.", [("bf", "Tom")]),
        ("My landlord Mr. Ivanov called.", [("landlord", "Mr. Ivanov")]),
        ("My brother Tom has a dog, Tom walks it.", [("brother", "Tom")]),
    ],
)
def test_the_last_relation_of_a_name_counts(text: str, relations: list[tuple[str, str]]) -> None:
    found = [(fact.relation, fact.value) for fact in facts_of(plain_sentences([text]))]
    assert found == relations


def test_relations_are_read_from_a_single_sentence() -> None:
    assert list(relations_of("My aunt Ida, sorry, my godmother Ida, paints.")) == [("godmother", "Ida")]


@pytest.mark.parametrize(
    "text", ["I live near Graz.", "We live just outside Graz.", "I live north of Graz.", "My house is in a hamlet near Graz."]
)
def test_a_place_nearby_is_no_home(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm a glazier, and my back is basically ruined.", [("occupation", "glazier")]),
        ("I'm allergic to bees, clearly a problem here.", [("allergy", "bees")]),
        ("Apparently, I'm allergic to bees.", []),
        ("I'm a vegan, maybe.", []),
        ("I live in Graz, I think.", []),
        ("I'm technically a glazier.", []),
    ],
)
def test_a_doubt_counts_for_its_clause(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Good to know for the party: I'm allergic to kiwi.", [("allergy", "kiwi")]),
        ("For the cake: I'm allergic to almonds.", [("allergy", "almonds")]),
        ("Diet: I'm vegan.", [("diet", "vegan")]),
        ("Heads-up for Sunday: I don't eat lamb.", [("avoid", "lamb")]),
        ("For the poster: I love Graz.", []),
        ("For my nephew: I hate peas.", []),
        ("Tom, 9:15: I'm a vegan.", []),
        ("I found this online: I'm a chef and I hate thyme.", []),
    ],
)
def test_a_topic_before_a_colon_is_ones_own(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm vegan, please tell the cook.", [("diet", "vegan")]),
        ("I don't eat pork, could you let Marta know?", [("avoid", "pork")]),
        ("I live in Graz, tell them the parcel goes there.", [("home", "Graz")]),
        ("Tell them I'm a vegan.", []),
        ("My friends tell me I'm a vegan.", []),
    ],
)
def test_a_request_to_pass_on_leaves_the_statement(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Snails? No way, I hate them.", [("dislike", "Snails")]),
        ("Pottery is my thing. I love it.", [("like", "Pottery")]),
        ("Kiwi? I'm allergic to it.", [("allergy", "Kiwi")]),
        ("This song? I love it!", []),
        ("Really? I love it.", []),
        ("Coffee? My wife loves it.", []),
        ("Monday? I hate it when they start early.", []),
    ],
)
def test_a_pronoun_takes_the_topic_just_named(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (["I live in Rome", "lol just kidding"], []),
        (["I'm vegan", "says my sister, not me"], []),
        (["I'm a nurse from Cork", "that's the first line of my story"], []),
        (["I'm allergic to bees", "translate that please"], []),
        (["I'm a vegan", "haha no I'm not"], []),
        (["I live in Rome", "that's where the food is"], [("home", "Rome")]),
        (["I hate olives", "sorry, long day"], [("dislike", "olives")]),
        (["I'm vegan", "not that it matters"], [("diet", "vegan")]),
        (["I'm a baker", "wait, did you see the news?"], [("occupation", "baker")]),
    ],
)
def test_a_later_message_may_withdraw_a_statement(messages: list[str], facts: list[tuple[str, str]]) -> None:
    assert stated(*messages) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("As a baker, I get up at three.", [("occupation", "baker")]),
        ("As a baker I hated Mondays.", []),
        ("I'm a tailor based in Graz.", [("occupation", "tailor"), ("home", "Graz")]),
        ("I met fans of bands based in Graz.", []),
        ("Dairy intolerant here 😅 any ideas?", [("diet", "Dairy intolerant")]),
        ("Nurse here 👋", [("occupation", "Nurse")]),
        ("In two years I'm a lawyer.", []),
        ("As of June I work as a clerk.", []),
        ("I live in Graz during term.", []),
        ("My favourite brother from Frasier is Niles.", []),
        ("I'm a teacher in this example.", []),
    ],
)
def test_work_and_homes_in_other_words(text: str, facts: list[tuple[str, str]]) -> None:
    assert sorted(stated(text)) == sorted(facts)


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Lovely! Which town is home for you?", "Graz", "I live in Graz"),
        ("What's your son's name?", "Timo, he's 4", "My son's name is Timo, he's 4"),
        ("Is there food you don't like?", "celery", "I dislike celery"),
        ("May I ask your name?", "Of course, it's Lotte", "My name is Lotte"),
        ("What's your name in the game?", "Foxtail", "Foxtail"),
        ("Where do you live?", "Close to Graz", "Close to Graz"),
    ],
)
def test_answers_after_a_pleasantry_are_completed(question: str, answer: str, statement: str) -> None:
    assert completed(question, answer) == statement


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("It has to be scheduled, like a study block, or I get lost.", []),
        ("I did the stretches first, like we agreed.", []),
        ("I hate tea but like coffee.", [("dislike", "tea"), ("like", "coffee")]),
        ("I like breaking up my work into small parts.", []),
        ("I love going to the gym.", []),
        ("I enjoy talking to strangers.", [("like", "talking to strangers")]),
        ("I really appreciate your patience with figures.", []),
    ],
)
def test_a_comparison_or_half_an_act_is_no_taste(text: str, facts: list[tuple[str, str]]) -> None:
    assert stated(text) == facts


def test_a_period_named_before_limits_a_habit() -> None:
    assert stated("It's Lent. I don't eat sweets.") == []
    assert stated("It's Monday. I don't eat sweets.") == [("avoid", "sweets")]


WORDS = (
    "I I'm my we moved to Basel , . ? : ; ( - like love vegan allergic nuts sister Ida no wait sorry D. C. St. it them Lent for as a baker "
    "living in near apparently maybe 😅 you tell please it's 'm *"
)


@given(st.lists(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join), max_size=3))
def test_any_order_of_words_is_read(messages: list[str]) -> None:
    assert all(value.strip() for _, value in stated(*messages))
