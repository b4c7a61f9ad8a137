"""Halves of characters: JSON can name the two halves of an emoji apart, and endpoints cut between them."""

import re
from typing import Final

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_HIGH: Final = ("\ud800", "\udbff")


def join_surrogates(text: str) -> str:
    """The text with each pair of halves made one character, and each half that is alone replaced by U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class SurrogateJoiner:
    """Joins halves across the pieces of a stream."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """The next piece, whole; a first half at its end is held back until the second has come."""
        piece = self._held + piece
        self._held = piece[-1] if piece and _HIGH[0] <= piece[-1] <= _HIGH[1] else ""
        return join_surrogates(piece[: len(piece) - len(self._held)])

    def end(self) -> str:
        """What is still held back, replaced."""
        held, self._held = self._held, ""
        return join_surrogates(held)
