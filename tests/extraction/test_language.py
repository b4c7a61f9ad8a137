"""English rules need English text."""

import pytest

from extraction.language import is_english


@pytest.mark.parametrize(
    "text",
    [
        "I'm a vegetarian.",
        "I am vegan",
        "Call me Ann",
        "My name is Zoë Müller and I live in Zürich.",
        "Our cat is sick.",
        "I swam 2 km in 50 minutes.",
        "We climbed 600 m on Sunday.",
        "Milo died.",
    ],
)
def test_english_is_recognised(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Me gusta el té y vivo en Madrid.",
        "Mieszkam w Krakowie i pracuję w banku.",
        "Mia sorella e i miei genitori vivono a Roma.",
        "Ich wohne in Bergen.",
        "Jeg bor i Bergen.",
        "I går spiste jeg fisk.",
        "I lighed med andre bor jeg i Odense.",
        "Berlin.",
        "我住在奥斯陆。",
    ],
)
def test_other_languages_are_not_english(text: str) -> None:
    assert not is_english(text)
