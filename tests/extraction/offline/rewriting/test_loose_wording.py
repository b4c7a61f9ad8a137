"""Facts in loose wording, and the plays, games, mockery and losses that look like them."""

from datetime import UTC, datetime

import pytest

from extraction.drafts import DropCounter
from extraction.offline.facts.endings import Ending
from extraction.offline.facts.profile_facts import user_statements
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.turns import turns_of
from memory.records import Message


def facts(*texts: str) -> list[tuple[str, str]]:
    """The facts of a conversation; a text that begins with "A:" is the assistant's."""
    messages = [
        Message(
            tenant="acme", user="pat", session="s1", id=f"m{number}", role="assistant" if text.startswith("A:") else "user",
            speaker="assistant" if text.startswith("A:") else "pat", text=text.removeprefix("A:"),
            event_time=datetime(2026, 3, 1, 10, number, tzinfo=UTC),
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip
    stated, _ = user_statements(turns_of(messages, recalled=frozenset(), tally=DropCounter()), "pat")
    return [(each.field.name.lower(), each.value) for each in stated]


@pytest.mark.parametrize(
    "conversation",
    [
        (
            "Let's do some interview practice.",
            "A:Please introduce yourself.",
            "Thank you for having me. I'm a tax advisor and I live in Brno.",
        ),
        ("Let's do a small lesson: introductions at a party.", "A:Hello! Who are you?", "My name is Petra. I work as a surgeon."),
        ("English lesson, please. Topic: my job.", "A:Let's start. What is your job?", "I am a baker and I live in Izmir."),
        ("I'm preparing for an interview. Ask me typical questions.", "A:Who are you?", "I'm a risk analyst and I live in Basel."),
    ],
)
def test_an_announced_exercise_sets_nothing(conversation: tuple[str, ...]) -> None:
    assert facts(*conversation) == []


def test_a_lesson_in_the_past_is_no_exercise() -> None:
    assert ("occupation", "baker") in facts("I had a lesson this morning.", "A:Nice. Are you working too?", "Yes, I'm a baker.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I just love scrubbing burnt pans. Who needs a social life anyway.", []),
        ("I really love filling in forms. Best hobby ever.", []),
        ("I love unclogging the shower drain, it's the highlight of my week. What a treat.", []),
        ("I love baking bread. Best hobby ever.", [("like", "baking bread")]),
        ("I love swimming. It keeps me sane.", [("like", "swimming")]),
    ],
)
def test_mocked_praise_is_no_taste(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In Hearthvale Chronicles, I farm, I live in Mossford and I'm married to Ilse.", []),
        ("In Harvestella, I grow cabbages, I have a cat named Pudding, and I married Tom.", []),
        ("In Palia I'm a fisherman and I'm engaged to Jel.", []),
        ("In Portugal, I work as a nurse and my wife Ines teaches.", [("occupation", "nurse"), ("relation", "Ines")]),
    ],
)
def test_a_game_covers_all_clauses(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("statement", "value", "is_over"),
    [
        ("I left the law firm last month", "paralegal", True),
        ("Quit the kitchen job!", "line cook", True),
        ("I quit bartending", "bartender", True),
        ("I quit smoking", "teacher", False),
        ("I left the kitchen door open", "baker", False),
    ],
)
def test_a_job_that_was_quit_is_over(statement: str, value: str, *, is_over: bool) -> None:
    assert Ending(statement, 0).ends(Field.OCCUPATION, value) is is_over


def test_the_job_after_one_that_was_left() -> None:
    assert facts("I left the law firm last month and started as a baker.") == [("occupation", "baker")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I lost my rabbit Flake yesterday.", []),
        ("My hamster Pip is gone, he crossed the rainbow bridge.", []),
        ("My cat Minka was 14. She died on Monday.", []),
        ("My dog Bruno is dead.", []),
        ("My dog Bruno is dead tired.", [("relation", "Bruno")]),
        ("My cat Olive nearly died last year.", [("relation", "Olive")]),
    ],
)
def test_a_dead_pet_is_no_pet(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hi, i'm katja and i need help with my cv", [("name", "Katja")]),
        ("hey i'm zuri, 27, a barber", [("name", "Zuri"), ("age", "27"), ("occupation", "barber")]),
        ("My birth certificate says Elizabeth; everyone knows I go by Betty.", [("name", "Betty")]),
        ("hi i'm broke, i work too much", []),
        ("i'm lost, 34 emails and no reply", []),
        ("i'm lena's brother", []),
        ("going hiking with my brother tom tomorrow", [("relation", "Tom")]),
        ("my dog rufus ate my shoe", [("relation", "Rufus")]),
        ("my brother lost his keys", []),
        ("my friend said hi", []),
    ],
)
def test_names_in_lower_case(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I run a small pottery business from my garage.", [("occupation", "run a small pottery business")]),
        ('I\'m a mason. How do I say "the wall is crooked" in German?', [("occupation", "mason")]),
        ('I\'m a carpenter, how do I write "oak" in Polish?', [("occupation", "carpenter")]),
        ('How do I say "I\'m a mason" in German?', []),
        ("I'm a mason. How do I say that in German?", []),
        ("I'm vegetarian and my parents think it's silly.", [("diet", "vegetarian")]),
        ("They said I'm vegan and my parents laughed.", []),
        ("We are living since 2019 in Tartu.", [("home", "Tartu")]),
        ("We are living already five years in Linz.", [("home", "Linz")]),
        ("I am working since five years as nurse.", [("occupation", "nurse")]),
        ("My aunt is living since three years in Dresden.", []),
        ("I would be living since years in Rome if I could.", []),
    ],
)
def test_loosely_worded_statements(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("conversation", "expected"),
    [
        (("I've moved to Bremen.", "*Bergen, sorry"), [("home", "Bergen")]),
        (("I live in Bremen.", "*in Bergen"), [("home", "Bergen")]),
        (("I live in Bremen.", "*sighs"), [("home", "Bremen")]),
        (("I live in bremen", "*bergen"), []),
        (("My dog Rufus is a beagle.", "Actually no, he's a basset."), [("relation", "Rufus")]),
        (("My brother Tom is here.", "Actually no, it's Tim."), [("relation", "Tim")]),
        (("I'm allergic to shellfish.", "scrap that, it was never shellfish"), []),
        (("I'm allergic to shellfish.", "that turned out to be wrong"), []),
        (("I love tea.", "It turned out to be a nice day."), [("like", "tea")]),
    ],
)
def test_a_chat_correction_changes_the_named_value(conversation: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    assert facts(*conversation) == expected


@pytest.mark.parametrize("text", ["After ten years as a court reporter I've retrained.", "Following a decade as a baker I now rest."])
def test_a_trade_of_ended_years_is_none(text: str) -> None:
    assert facts(text) == []


def test_a_trade_after_ended_years_counts() -> None:
    assert facts("After ten years as a teacher, I work as a baker.") == [("occupation", "baker")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Strawberries bring me out in a rash.", [("allergy", "Strawberries")]),
        ("Walnuts make my throat swell.", [("allergy", "Walnuts")]),
        ("I come out in hives when I eat shrimps.", [("allergy", "shrimps")]),
        ("Mondays give me hives.", []),
        ("I've gone off coffee completely.", [("dislike", "coffee")]),
        ("The alarm has gone off.", []),
        ("I could happily live without jazz.", [("dislike", "jazz")]),
        ("I could do without the noise today.", []),
        ("To top it off, I'm allergic to mould.", [("allergy", "mould")]),
    ],
)
def test_reactions_and_idioms_state_a_taste(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Merhaba! I'm Defne, from Izmir.", "Defne"),
        ("Bonjour, I'm Odile.", "Odile"),
        ("Hey there! New here. I'm Solveig, and I bake.", "Solveig"),
        ("Hi, you can just use Kit.", "Kit"),
        ("What's your name? Mine's Abelard.", "Abelard"),
    ],
)
def test_a_first_contact_names_the_writer(text: str, name: str) -> None:
    assert ("name", name) in facts(text)


@pytest.mark.parametrize("text", ["You can just use Python for that.", "Bonjour, I'm Dutch.", "Hola! I'm tired."])
def test_other_greeting_words_name_no_person(text: str) -> None:
    assert not [each for each in facts(text) if each[0] == "name"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ivo and I have been together for nine years.", [("relation", "Ivo")]),
        ("Ivo and I have been together since 2011.", [("relation", "Ivo")]),
        ("Ivo and I have been together in this office since noon.", []),
        ("My two kids (Mila and Jonah) are asleep.", [("relation", "Mila"), ("relation", "Jonah")]),
        ("I'm her son Yannis and I type for her.", [("name", "Yannis")]),
        ("As a vegetarian, what should I order?", [("diet", "vegetarian")]),
        ("As a vegetarian, what does Tom eat?", []),
    ],
)
def test_known_persons_and_diets_are_mentioned(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text) == expected
