"""Splitting what was said into sentences, and long texts into pieces of bounded size."""

import re
from typing import Final

from memory.tokens import estimate_tokens

QUESTION_MARKS: Final = ("?", "？", "؟", "\u037e")
"""Latin, full-width, Arabic, Greek."""
_FULL_WIDTH_ENDS: Final = "。！？｡"
_ENDS: Final = rf".!?…؟۔।။\u037e{_FULL_WIDTH_ENDS}"
_CLOSING: Final = "\"'”’)]」』）"
_END: Final = re.compile(
    rf"(?:(?<=[{_ENDS}])|(?<=[{_ENDS}][{re.escape(_CLOSING)}]))\s+|(?<=[{_FULL_WIDTH_ENDS}])(?![{_FULL_WIDTH_ENDS}…{re.escape(_CLOSING)}])|\n+"
)
"""No blank follows a full-width mark; where a closing quote does, what was said goes on (``「行く。」と言った``)."""
_ABBREVIATION: Final = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|approx|No)|\b[A-Z])\.$")
_LONGEST_ABBREVIATION: Final = 8
_WHOLE_SENTENCE: Final = 2
"""A sentence of up to so many pieces' size stays whole: cut, it would be understood worse than it is found."""
_CHARACTERS_PER_TOKEN: Final = 16
"""More than any language has: a text of fewer tokens than that is mostly blanks."""


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text, each without white space at its ends, none empty."""
    found: list[list[str]] = []
    for piece in _END.split(text):
        sentence = piece.strip()
        if not sentence:
            continue
        if found and _ends_in_abbreviation(found[-1][-1]):
            found[-1].append(sentence)
        else:
            found.append([sentence])
    return [" ".join(parts) for parts in found]


def pieces_of(text: str, *, tokens: int) -> list[str]:
    """Consecutive sentences joined into pieces of at most ``tokens`` tokens, estimated.

    A longer sentence is a piece of its own up to twice that size; beyond, it is cut between words, and a word that long within.
    """
    parts = [part for sentence in sentences_of(text) for part in _parts_of(sentence, tokens)]
    return _packed(parts, tokens)


def _ends_in_abbreviation(sentence: str) -> bool:
    return _ABBREVIATION.search(sentence, max(0, len(sentence) - _LONGEST_ABBREVIATION)) is not None


def _parts_of(sentence: str, tokens: int) -> list[str]:
    whole = tokens * _WHOLE_SENTENCE
    if len(sentence) <= whole * _CHARACTERS_PER_TOKEN and estimate_tokens(sentence) <= whole:
        return [sentence]
    return _packed([part for word in sentence.split() for part in _parts_of_word(word, tokens)], tokens)


def _parts_of_word(word: str, tokens: int) -> list[str]:
    """A word in parts of at most ``tokens`` characters, so of as many tokens, cut behind a mark where there is one near."""
    if len(word) <= tokens or estimate_tokens(word) <= tokens:
        return [word]
    return re.findall(rf"(?s).{{{tokens // 2},{tokens - 1}}}\W|.{{1,{tokens}}}", word)


def _packed(parts: list[str], tokens: int) -> list[str]:
    """Consecutive parts joined by blanks into as few pieces as hold ``tokens`` tokens each."""
    pieces: list[list[str]] = []
    room = 0
    for part in parts:
        size = estimate_tokens(part)
        if not pieces or size > room:
            pieces.append([])
            room = tokens
        pieces[-1].append(part)
        room -= size
    return [_joined(piece) for piece in pieces]


def _joined(parts: list[str]) -> str:
    return "".join(part if part.endswith(tuple(_FULL_WIDTH_ENDS)) else f"{part} " for part in parts).rstrip()


def questions_of(text: str) -> list[str]:
    """The sentences that ask something."""
    return [sentence for sentence in sentences_of(text) if sentence.rstrip(_CLOSING).endswith(QUESTION_MARKS)]
