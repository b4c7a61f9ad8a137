"""The script of a text, and the marks that belong to its letters."""

import re

import pytest

from memory.texts.scripts import LETTERS, RUN_WITHOUT_SPACES, is_latin


def test_runs_without_spaces_are_found_next_to_latin() -> None:
    assert RUN_WITHOUT_SPACES.findall("I like 北京烤鸭 and すし of 佐々木 𠮷野家") == ["北京烤鸭", "すし", "佐々木", "𠮷野家"]


@pytest.mark.parametrize("word", ["नमस्ते", "ক্ষমা", "تُدَرِّسُ", "می‌خواهم", "cafe\u0301", "எனக்கு"])
def test_marks_and_joiners_belong_to_their_word(word: str) -> None:
    assert re.findall(LETTERS, f"{word} 12 {word}!") == [word, word]


@pytest.mark.parametrize(
    ("text", "latin"), [("", True), ("42?", True), ("Đà Nẵng", True), ("Ann likes 茶", True), ("我用GPT模型", False), ("Где Ann?", True)]
)
def test_a_text_is_latin_if_half_of_it_is(text: str, latin: bool) -> None:
    assert is_latin(text) is latin
