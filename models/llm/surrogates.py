"""Surrogates: JSON can escape the two halves of an emoji separately, and endpoints split streams between them."""

import re
from typing import Final

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_HIGH: Final = ("\ud800", "\udbff")


def join_surrogates(text: str) -> str:
    """The text with each surrogate pair joined to one character, and each lone surrogate replaced by U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class SurrogateJoiner:
    """Joins surrogate pairs across the pieces of a stream."""

    def __init__(self) -> None:
        self._pending = ""

    def add(self, piece: str) -> str:
        """The next piece; a high surrogate at its end is held back until the low one arrives."""
        piece = self._pending + piece
        self._pending = piece[-1] if piece and _HIGH[0] <= piece[-1] <= _HIGH[1] else ""
        return join_surrogates(piece[: len(piece) - len(self._pending)])

    def end(self) -> str:
        """The surrogate still held back, replaced."""
        pending, self._pending = self._pending, ""
        return join_surrogates(pending)
