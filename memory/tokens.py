"""A cheap estimate of a text's tokens, for caps and bounds where no tokenizer is installed."""

import re
from typing import Final

_PIECE: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_ASCII_TOKEN: Final = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,2}|[^\w\s]|_")
"""Matches once for each token of a text in ASCII."""
_LATIN_LETTERS_PER_TOKEN: Final = 6
_DIGITS_PER_TOKEN: Final = 2


def estimate_tokens(text: str) -> int:
    """Estimates how many tokens a subword tokenizer makes of a text.

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
