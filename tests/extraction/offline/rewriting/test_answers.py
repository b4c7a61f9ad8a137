"""An answer and its question together state what neither states alone."""

import pytest

from extraction.offline.rewriting.answers import completed
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Where do you live?", "Bergen.", "I live in Bergen."),
        ("And where are you based?", "In Ostrava, but I travel.", "I live in Ostrava, but I travel."),
        ("Where do you live?", "Near Bath.", "Near Bath."),
        ("What should I call you?", "Just Mo is fine.", "My name is Mo."),
        ("What do you do for work?", "Landscape gardener", "I work as a Landscape gardener"),
        ("Any allergies?", "Yes, cashews and wheat.", "I'm allergic to cashews and wheat."),
        ("Which food do you hate?", "Okra. Always did.", "I dislike Okra. Always did."),
        ("What's your favourite fruit?", "Mango", "My favourite fruit is Mango"),
        ("what is your favorite band ?", "Queen , definitely", "My favourite band is Queen , definitely"),
        ("Do you have a favourite type of tea?", "Mine is oolong!", "My favourite type of tea is oolong!"),
        ("What kind of films do you like?", "westerns mostly", "I like westerns"),
        ("How old are you?", "Just 19, you?", "I'm 19. you?"),
        ("What is your dog's name?", "Mochi!", "My dog's name is Mochi!"),
        ("Do you have any pets?", "A rabbit named Clover", "I have a rabbit named Clover"),
        ("What don't you eat?", "pork", "I don't eat pork"),
        ("What is your cat called?", "Her name is Brioche.", "My cat's name is Brioche."),
        ("What kind of dog do you have?", "A big one. His name is Otto.", "My dog's name is Otto."),
        ("Do you have a cat?", "yes . her name is mia .", "My cat's name is Mia ."),
    ],
)
def test_a_noun_phrase_completes_the_question(question: str, answer: str, statement: str) -> None:
    assert completed(question, answer) == statement


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where do you live?", "Not telling."),
        ("What's your name?", "Call me Fay"),
        ("Where do you live?", "Why?"),
        ("Where do you live?", "I moved a lot."),
        ("What's your name?", "Guess."),
        ("Do you have any allergies?", "No."),
        ("Where do you live and what do you do?", "Bergen."),
        ("When is your flight?", "Thursday."),
        ("Where do you live?", "Mars 😏"),
        ("What's your brother's job?", "Baker."),
        ("What do you do for a living?", "Complain."),
        ("What's your favourite food?", "Hard to say."),
        ("What kind of dog do you have?", "None. His name is Otto."),
        ("What are your hobbies?", "Oh, I like too many things."),
        ("How old are you?", "19 years in this job"),
    ],
)
def test_other_answers_stay_as_they_are(question: str, answer: str) -> None:
    assert completed(question, answer) == answer


@pytest.mark.parametrize(
    ("messages", "facts"),
    [
        (("B: Where do you live?", "In Bergen"), ["home Bergen"]),
        (("B: How are you? What's your favourite band?", "Queen"), ["like My favourite band is Queen"]),
        (("B: are you a vegan ?", "yes i am"), ["diet vegan"]),
        (("B: I love hiking.", "Me too!"), ["like hiking"]),
        (("B: I love hiking.", "me too . i play chess"), ["like hiking", "like to play chess"]),
        (("B: I love my job.", "Me too!"), []),
        (("B: I love hiking and I'm a nurse.", "Me too!"), []),
        (("A: I love hiking.", "Me too!"), []),
        (("A: Hi all.", "B: Where do you live?", "In Bergen"), []),
    ],
)
def test_another_persons_question_or_statement_completes_the_answer(messages: tuple[str, ...], facts: list[str]) -> None:
    assert stated(*messages) == facts
