"""Clauses in an unusual order, and sentences that only look like them."""

import time

import pytest

from extraction.offline.rewriting.canonical_clauses import in_usual_order
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("What I like most is sailing.", ["like sailing"]),
        ("One thing I can't stand is fog.", ["dislike fog"]),
        ("If there's one thing I hate, it's drizzle.", ["dislike drizzle"]),
        ("Salsa dancing is what I do to unwind.", ["like Salsa dancing"]),
        ("My guilty pleasure is marzipan.", ["like marzipan"]),
        ("Nothing makes me happier than baking bread.", ["like baking bread"]),
        ("My least favourite vegetable is turnip.", ["dislike turnip"]),
        ("What I like is that it's cheap.", []),
        ("The thing I love most is you.", []),
        ("The food I like least is liver.", []),
        ("In my free time I want to learn Greek.", []),
        ("I can't live without my phone.", []),
    ],
)
def test_clefts_state_tastes(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My wife and I live in Lucca.", ["home Lucca"]),
        ("Me and my son are allergic to eggs.", ["allergy eggs"]),
        ("My husband Tom and I love opera.", ["like opera", "husband Tom"]),
        ("My wife and I might move to Rome.", []),
        ("My sister and I used to live in Cork.", []),
    ],
)
def test_groups_with_the_writer_are_subjects(text: str, facts: list[str]) -> None:
    assert sorted(stated(text)) == sorted(facts)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("As someone who lives in Bergen, I own five raincoats.", ["home Bergen"]),
        ("I'm the kind of person who loves fog.", ["like fog"]),
        ("As someone with a milk allergy I read every label.", ["allergy milk"]),
        ("As someone who lived in Bergen, I know rain.", []),
        ("As someone who hates rain, what would you do?", []),
        ("I'm married to someone who hates opera.", []),
    ],
)
def test_relative_clauses_about_the_writer_are_statements(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("The town I live in is called Hallein.", ["home Hallein"]),
        ("Where I live, in Sligo, the wind never stops.", ["home Sligo"]),
        ("I was born in Pisa but Genoa has been home for years.", ["home Genoa"]),
        ("I grew up in Riga, now home is Narva.", ["home Narva"]),
        ("We just bought a house in Celle and moved in.", ["home Celle"]),
        ("I am by profession saddler.", ["occupation saddler"]),
        ("I earn my bread as a cooper.", ["occupation cooper"]),
        ("They made me shift supervisor.", ["occupation shift supervisor"]),
        ("I gave up sugar two years ago.", ["avoid sugar"]),
        ("I haven't eaten meat since 2012.", ["avoid meat"]),
        ("Rome is now home to 3 million people.", []),
        ("They made me laugh.", []),
        ("I gave up coffee for Lent.", []),
        ("I stopped eating meat for a month.", []),
    ],
)
def test_homes_trades_and_foods_in_other_words(text: str, facts: list[str]) -> None:
    assert stated(text) == facts


def test_sentences_in_usual_order_stay() -> None:
    text = "I live in Bern. Ann told me she would love what I cook most."

    assert in_usual_order(text) == text


@pytest.mark.parametrize("part", ["my wife and ", ", ", "what I love most is ", "in my free time I ", "Rome, "])
def test_repetitive_text_is_read_in_bounded_time(part: str) -> None:
    began = time.process_time()
    in_usual_order(f"I say {part * 2000}"[:2000])

    assert time.process_time() - began < 2
