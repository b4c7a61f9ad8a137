"""What is asked of any text: its beginning, its estimated tokens, its content's hash, the scripts that are written without spaces."""

import hashlib
import re
from typing import Final

SCRIPTS_WITHOUT_SPACES: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai and Lao, Burmese, Khmer, Japanese kana, Chinese characters: the inside of a regular expression's character class."""
RUN_WITHOUT_SPACES: Final = re.compile(rf"[{SCRIPTS_WITHOUT_SPACES}]+")

_PIECE: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_ASCII_TOKEN: Final = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,2}|[^\w\s]|_")
"""Matches once for each token of a text in ASCII."""
_LATIN_LETTERS_PER_TOKEN: Final = 6
_DIGITS_PER_TOKEN: Final = 2


def content_hash(text: str) -> str:
    """SHA-256 (hex) of a text in UTF-8, runs of white space taken as one blank and none at the ends: equal texts are recognised by it."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def shortened(text: str, longest: int) -> str:
    """The text in at most so many characters; an ellipsis tells where it was cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def estimate_tokens(text: str) -> int:
    """Estimates how many tokens a subword tokenizer makes of a text, for caps and bounds where no tokenizer is installed.

    A run of Latin letters counts one token for each begun six letters, a run of digits one for each begun two, any other letter (a Chinese
    one, say) and any other visible mark one each.
    """
    if text.isascii():
        # The same count in half the time: every message is estimated, and most are in ASCII.
        return len(_ASCII_TOKEN.findall(text))
    return sum(_tokens_of(piece) for piece in _PIECE.findall(text))


def _tokens_of(piece: str) -> int:
    if piece[0].isdigit():
        return -(-len(piece) // _DIGITS_PER_TOKEN)
    if ord(piece[0]) < 0x250:
        return -(-len(piece) // _LATIN_LETTERS_PER_TOKEN)
    return len(piece)
