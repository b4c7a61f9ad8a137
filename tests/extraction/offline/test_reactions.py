"""Reactions to the messages before become no event, and agreement says the same of its speaker."""

import pytest

from extraction.drafts import DropCounter
from extraction.offline.events.wording import search_text
from extraction.offline.grammar.sentences import sentences_of
from extraction.offline.reactions import reacts, stems_of, substance_of
from extraction.offline.turns import Passage, Turn, passages_of, turns_of
from memory.records import Message


def read(*texts: str) -> tuple[list[Turn], list[list[Passage]]]:
    """The turns and passages of a chat between Ann and Ben, who take turns."""
    messages = [
        Message.model_validate(
            {"tenant": "acme", "user": "ann", "session": "s", "id": f"m{index}", "text": text, "speaker": ("Ann", "Ben")[index % 2]}
            | {"event_time": "2023-05-08T13:56:00Z"}
        )
        for index, text in enumerate(texts)
    ]
    turns = turns_of(messages, recalled=frozenset(), tally=DropCounter())
    return turns, [passages_of(turns, index) for index in range(len(turns))]


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("My family gave me so much love and support.", "Wow, Ann, family love and support is the best!"),
        ("I finished the marathon in Ghent.", "That sounds incredible, I'm so proud of you!"),
        ("I work with a charity for refugees.", "You're making a real difference - keep it up!"),
        ("I have twenty of them.", "oh wow , that is a lot of work"),
        ("We painted it ourselves.", "They're so adorable, aren't they?"),
        ("I lost my job.", "I'm sorry to hear that. I hope things get better for you."),
        ("I lost my job.", "Let me know if you need anything. I'm here for you."),
    ],
)
def test_a_reaction_becomes_no_event(before: str, text: str) -> None:
    assert read(before, text)[1][1] == []


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I love hiking.", "That sounds great, I went to Skye last week."),
        ("Look at my dog!", "So cute! Mine is a poodle."),
        ("I have a cat.", "Great! Her name must be Luna."),
        ("I drink a lot of coffee.", "You should try the acupuncture at the clinic."),
        ("I run every day.", "Nice! It is good for my knees."),
        ("I got you something.", "Thanks! It's a stuffed animal, right?"),
        ("I live in Oslo.", "Good for you! I'm so happy with my new flat."),
        ("Do you like snow?", "It is awful."),
    ],
)
def test_a_statement_next_to_a_reaction_is_kept(before: str, text: str) -> None:
    assert [each.text for each in read(before, text)[1][1]] == [text]


def test_a_number_name_or_day_states_something() -> None:
    said = stems_of(["I ran a race."])
    assert reacts("Your race was amazing!", said)
    assert not reacts("Your race was 9 miles!", said)
    assert not reacts("Your race was yesterday!", said)
    assert not reacts("Your race was with Sofia!", said)


def test_agreement_says_the_same_of_its_speaker() -> None:
    turns, passages = read("That's fun. I love hiking in the Alps.", "Me too!")

    (agreed,) = passages[1]
    assert agreed.text == "Me too!"
    assert search_text(turns[1], agreed) == "Ben (8 May 2023): Ben too! (like Ann: Ann loves hiking in the Alps.)"


def test_agreement_with_no_statement_is_dropped() -> None:
    assert read("Nice to meet you!", "Me too!")[1][1] == []


def test_a_question_after_a_reaction_goes_into_its_answer() -> None:
    turns, passages = read("I keep bees.", "That's amazing, good for you! How many hives do you keep?", "Nine of them.")

    assert passages[1] == []
    assert passages[2][0].turn_before is turns[1]


@pytest.mark.parametrize("text", ["No, do you use solar panels?", "Yes! Have you seen the film with the lighthouse?"])
def test_a_question_that_answers_one_is_kept(text: str) -> None:
    assert read("Do you use solar panels?", text, "Well, on the roof.")[1][1] != []


@pytest.mark.parametrize(
    ("text", "only_asks"),
    [
        ("Great! How old is your cat?", True),
        ("great how old is your cat", True),
        ("My cat is seven. How old is yours?", False),
        ("my cast hurts and smells, what color is your hair?", False),
        ("Are you afraid of heights? I am.", False),
        ("My cat is seven.", False),
    ],
)
def test_a_message_of_questions_states_nothing(text: str, only_asks: bool) -> None:
    assert substance_of(sentences_of(text)).only_asks == only_asks
