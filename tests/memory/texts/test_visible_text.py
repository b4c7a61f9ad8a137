"""Text that a terminal may print: it acts on nothing in it."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.texts.visible_text import visible
from tests.acting_characters import acts

ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from("\0\x07\x1b\x7f\x9b\u061c\u200b\u202e\u2028\u2066\ufeff\U000e0041\ud800"))


@given(ANY_TEXT)
def test_no_character_acts_on_a_terminal(text: str) -> None:
    assert acts(visible(text)) == set()
    assert orjson.loads(f'"{visible(chr(0x1B))}"') == "\x1b"


@pytest.mark.parametrize("text", ["Miso, a cat\n\tof Ann's", "日本語 عربى नमस्ते", "👩\u200d🚀", "a\u00a0b\u3000c", "\\u001b"])
def test_common_text_is_unchanged(text: str) -> None:
    assert visible(text) == text
