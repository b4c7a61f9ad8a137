"""The forms of statements and questions."""

import pytest

from retrieval.redundancy.statement_forms import form_of
from tests.growth import LINEAR, growth


@pytest.mark.parametrize("text", ["I live in Oslo?", "I live in Oslo ?!", "I live in Oslo? ...", "What? I live in Oslo?\n"])
def test_a_last_question_mark_makes_a_question(text: str) -> None:
    assert form_of(text).is_question


@pytest.mark.parametrize("text", ["I live in Oslo.", "", "? I live in Oslo", "I live? in Oslo"])
def test_a_word_after_it_makes_a_statement(text: str) -> None:
    assert not form_of(text).is_question


@pytest.mark.parametrize("unit", ["?", "? ", " ", ".", "what "])
def test_a_form_is_found_in_linear_time(unit: str) -> None:
    assert growth(form_of, lambda size: f"{unit * (size // len(unit))}x", size=20_000) < LINEAR
