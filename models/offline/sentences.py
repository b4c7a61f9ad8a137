"""Splitting what was said into sentences, and long texts into pieces of bounded size."""

import re
from typing import Final

from memory.tokens import estimate_tokens

_END: Final = re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’)\]]))\s+|\n+")
_ABBREVIATION: Final = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|approx|No)|\b[A-Z])\.$")


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text, each without white space at its ends, none empty."""
    found: list[str] = []
    for piece in _END.split(text):
        sentence = piece.strip()
        if not sentence:
            continue
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {sentence}"
        else:
            found.append(sentence)
    return found


def pieces_of(text: str, *, tokens: int) -> list[str]:
    """Consecutive sentences joined into pieces of at most ``tokens`` tokens, estimated; a longer sentence is a piece of its own."""
    pieces: list[list[str]] = []
    room = 0
    for sentence in sentences_of(text):
        size = estimate_tokens(sentence)
        if not pieces or size > room:
            pieces.append([])
            room = tokens
        pieces[-1].append(sentence)
        room -= size
    return [" ".join(piece) for piece in pieces]


def questions_of(text: str) -> list[str]:
    """The sentences that ask something."""
    return [sentence for sentence in sentences_of(text) if sentence.rstrip("\"'”’)]").endswith("?")]
