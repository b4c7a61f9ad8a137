"""Scripts as parts of regular expressions: scripts without spaces, characters within words, and ends of sentences."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain
from typing import Final

SCRIPTS_WITHOUT_SPACES: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf"
    r"\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai and Lao, Burmese, Khmer, the Tai scripts; Japanese kana, Chinese characters and iteration marks."""
RUN_WITHOUT_SPACES: Final = re.compile(rf"[{SCRIPTS_WITHOUT_SPACES}]+")

HANGUL: Final = r"\uac00-\ud7a3"
"""Korean syllables. Words are separated by spaces and include their particles."""

_WITH_MARKS: Final = ((0x0300, 0x3100), (0xA600, 0xAC00))
"""Ranges with the marks of common scripts. Including the higher planes would make each search ten times slower."""


def _as_ranges(codes: Iterable[int]) -> str:
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = ranges[-1][0], code
        else:
            ranges.append((code, code))
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


MARKS: Final = _as_ranges(
    code for code in chain.from_iterable(range(*each) for each in _WITH_MARKS) if unicodedata.category(chr(code)) in ("Mn", "Mc")
)
r"""Accents, and the vowel signs of the scripts of India, South East Asia, Arabic and Hebrew: they belong to the preceding letter, and
``\w`` matches none of them."""

SENTENCE_ENDS: Final = r"!?…؟۔।॥။។።։\u037e"
"""Marks that end a sentence before a blank, except the full stop."""
FULL_WIDTH_ENDS: Final = "。！？｡"
"""Marks that end a sentence without a following blank."""

INSIDE_WORD: Final = rf"{MARKS}\u200c\u200d"
r"""Characters within words in addition to ``\w``: marks and joiners."""
LETTERS: Final = rf"[^\W\d_]+(?:[{INSIDE_WORD}]+[^\W\d_]*)*"
"""A run of letters with their marks, as a complete expression."""

_LETTER: Final = re.compile(r"[^\W\d_]")
_LATIN_LETTER: Final = re.compile(r"[A-Za-z\xaa-\u024f\u1e00-\u1eff]")


def is_latin(text: str) -> bool:
    """Whether at least half of a text's letters are Latin."""
    return text.isascii() or 2 * len(_LATIN_LETTER.findall(text)) >= len(_LETTER.findall(text))
