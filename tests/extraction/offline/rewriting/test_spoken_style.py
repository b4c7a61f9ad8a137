"""Chat style, regional spelling and dropped subjects in standard English."""

import pytest

from extraction.offline.rewriting.spoken_style import in_standard_english
from tests.extraction.offline.stated_facts import stated


@pytest.mark.parametrize(
    ("said", "standard"),
    [
        ("movin flat nxt wk, see u b4 then", "moving flat nxt week, see you before then"),
        ("Been paintin' fences all week.", "I've been painting fences all week."),
        ("we saw ur cousin n his kids", "we saw your cousin and his kids"),
        ("Cannae thole it, ma heid's sair", "Can't thole it, my heid's sair"),
        ("We bide near ma mither noo", "We live near my mother now"),
        ("Sacked last night.", "I was Sacked last night."),
        ("off to my nan's on sunday", "I'm off to my nan's on sunday"),
        ("I do be tired on Mondays", "I am tired on Mondays"),
        ("Can't stand them seagulls", "I Can't stand seagulls"),
        ("Since March am I living in Graz.", "I am living in Graz."),
    ],
)
def test_spoken_style_becomes_standard(said: str, standard: str) -> None:
    assert in_standard_english(said) == standard


@pytest.mark.parametrize(
    "text",
    [
        "Running is fun and keeps me sane.",
        "Don't eat that!",
        "My ma lives in Wan Chai.",
        "We listened to rock n roll.",
        "Been to Oslo lately?",
        "Hired as a cook.",
        "Option W or option U?",
        "Since when am I your friend?",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert in_standard_english(text) == text


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("Ah'm a plumber an' ah bide in Perth", ["occupation plumber", "home Perth"]),
        ("cannae stand beetroot", ["dislike beetroot"]),
        ("can't stand them leaf blowers", ["dislike leaf blowers"]),
        ("legit obsessed w crosswords", ["like crosswords"]),
        ("bruv i love dumplings", ["like dumplings"]),
        ("For nine years now am I living in Graz.", ["home Graz"]),
    ],
)
def test_facts_are_read_in_spoken_style(message: str, facts: list[str]) -> None:
    assert stated(message) == facts
