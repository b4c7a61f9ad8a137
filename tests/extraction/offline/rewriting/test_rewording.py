"""Short answers, misspellings, corrected names and labels, before the grammar of plain statements reads them."""

import pytest

from extraction.offline.facts.plain_facts import facts_of
from extraction.offline.factuality.labels import is_label
from extraction.offline.factuality.moods import plain_sentences
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.rewriting.name_corrections import names_writer, with_right_name
from extraction.offline.rewriting.plain_wording import plainly_worded
from extraction.offline.rewriting.short_answers import affirmed, whole_question


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Do you live in Oulu?", "yes", "I live in Oulu"),
        ("Are you a mason?", "yep, for ten years", "I'm a mason"),
        ("Do you like fog?", "can't stand it", "I can't stand fog"),
        ("Do you like fog?", "love it!", "I love fog"),
        ("Are you allergic to milk?", "no, to soy", "I'm allergic to soy"),
        ("Do you live in Oulu?", "Not anymore, I'm in Pori now", "I live in Pori now"),
        ("Is your name Aino?", "yes", "My name is Aino"),
        ("Are you a mason?", "No, a tiler.", "I'm a tiler"),
        ("Do you live in Oulu?", "no", None),
        ("Do you like tea or milk?", "yes", None),
        ("Do you like fog?", "yes, do you?", None),
        ("Any plans?", "yes", None),
    ],
)
def test_a_short_answer_completes_the_question(question: str, answer: str, statement: str | None) -> None:
    assert affirmed(question, answer) == statement


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("Favourite bird?", "What's your Favourite bird?"),
        ("And your job?", "What's your job?"),
        ("Still living in Oulu?", "Do you live in Oulu?"),
        ("Why Oulu?", "Why Oulu?"),
    ],
)
def test_a_short_question_becomes_a_whole_one(short: str, whole: str) -> None:
    assert whole_question(short) == whole


@pytest.mark.parametrize(
    ("text", "worded"),
    [
        ("im alergic to plums", "im allergic to plums"),
        ("Allergies: rye and figs", "my allergies are rye and figs"),
        ("Allergies: none", "Allergies: none"),
        ("I'm vegan and allergic to figs", "I'm vegan and I'm allergic to figs"),
        ("She's vegan and allergic to figs", "She's vegan and allergic to figs"),
        ("I've hated rain all my life", "I hate rain all my life"),
        ("I have lived alone for years", "I have lived alone for years"),
        ("I lived in Kotka before, now it's Pori.", "I lived in Kotka before, now I live in Pori."),
        ("I live in Turku. Well, Raisio to be exact.", "I live in Raisio."),
        ("adopted a puppy, she's called Halla", "got a puppy. My puppy is called Halla"),
    ],
)
def test_a_clause_gets_a_form_of_the_grammar(text: str, worded: str) -> None:
    assert plainly_worded(text) == worded


@pytest.mark.parametrize(
    ("text", "after_name", "name"),
    [
        ("Don't call me Leonard. It's Len.", False, "Len"),
        ("My name's Wilhelmina but please use Mina.", False, "Mina"),
        ("actually Leonard please, it's for work", True, "Leonard"),
        ("Please use Wilhelmina instead.", True, "Wilhelmina"),
        ("Please use Firefox instead.", False, None),
        ("I'm Dutch, but it's Friday.", False, None),
    ],
)
def test_a_corrected_name_becomes_a_plain_statement(text: str, after_name: bool, name: str | None) -> None:
    found = with_right_name(text, after_name=after_name)
    assert found == text if name is None else f"Call me {name}." in found


def test_a_name_is_corrected_only_after_a_name() -> None:
    assert names_writer("You can call me Len.")
    assert not names_writer("I'm in Oulu.")


@pytest.mark.parametrize("label", ["Valheim update: ", "Day 4 in Subnautica: ", "Sims diary: ", "Neverton news: "])
def test_a_label_of_another_world_is_found(label: str) -> None:
    assert is_label(f"{label}I live in a hut")


@pytest.mark.parametrize("label", ["Quick update: ", "Job update: ", "My news: ", "Day 4 of my diet: ", "News: ", "Update for the team: "])
def test_a_label_of_the_own_life_is_none(label: str) -> None:
    assert not is_label(f"{label}I live in a hut")


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("I learn best by drawing things on paper.", "by drawing things"),
        ("I'm an auditory learner.", "auditory learner"),
    ],
)
def test_a_way_of_learning_is_a_fact(text: str, style: str) -> None:
    assert [(each.field, each.value) for each in facts_of(plain_sentences([text]))] == [(Field.LEARNING, style)]
