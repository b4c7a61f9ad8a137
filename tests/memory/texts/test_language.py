"""English rules need English text."""

import pytest

from memory.texts.language import is_english, is_foreign


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
        "I run a nail salon in Croydon",
        "my fiancé Joaquín proposed in Rome",
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


@pytest.mark.parametrize(
    "text",
    [
        "Wo wohnt Ann?",
        "Où habite Ann ?",
        "¿Dónde vive Ann?",
        "Hvor bor Ann?",
        "Gdzie mieszka Ann?",
        "Cosa beve Mara?",
        "アンはどこに住んでいますか",
        "Где живёт Анна?",
        "Ich wohne in Bergen.",
    ],
)
def test_other_languages_are_foreign(text: str) -> None:
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where is San Pedro de la Luna?",
        "What is la dolce vita?",
        "Bergen?",
        "peanut allergy",
        "Who is Per?",
        "Does Uma drink tea?",
        "My dentist is Doctor Lind.",
        "",
        "for (int i = 0; i < n; i++)",
    ],
)
def test_english_names_and_code_are_not_foreign(text: str) -> None:
    assert not is_foreign(text)
