"""Sentences: where they end, how long texts are cut into pieces, and the words that open, continue and close a topic."""

import re
from collections.abc import Iterable
from typing import Final

from memory.texts.prefiltered_patterns import compiled
from memory.texts.scripts import FULL_WIDTH_ENDS, SENTENCE_ENDS
from memory.texts.text import MOST_TOKENS_OF_CHARACTER, estimate_tokens

QUESTION_MARKS: Final = ("?", "？", "؟", "\u037e")
"""Latin, full-width, Arabic, Greek."""
_ENDS: Final = rf".{SENTENCE_ENDS}{FULL_WIDTH_ENDS}"
_CLOSING_MARKS: Final = "\"'”’)]」』）"
_END: Final = re.compile(
    rf"(?:(?<=[{_ENDS}])|(?<=[{_ENDS}][{re.escape(_CLOSING_MARKS)}]))\s+|(?<=[{FULL_WIDTH_ENDS}])(?![{FULL_WIDTH_ENDS}…{re.escape(_CLOSING_MARKS)}])|\n+"
)
"""No blank follows a full-width mark; after a closing quote the sentence continues (``「行く。」と言った``)."""
_ABBREVIATION: Final = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Mt|Ft|Sr|Jr|vs|etc|e\.g|i\.e|approx|No)|\b[A-Z])\.$")
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
    """A word in parts of at most ``tokens`` tokens, or of one character, cut after a near mark if there is one."""
    if len(word) * MOST_TOKENS_OF_CHARACTER <= tokens or estimate_tokens(word) <= tokens:
        return [word]
    parts = _parts_of_length(word, tokens)
    if all(estimate_tokens(part) <= tokens for part in parts):
        return parts
    return _parts_of_length(word, max(1, tokens // MOST_TOKENS_OF_CHARACTER))


def _parts_of_length(word: str, tokens: int) -> list[str]:
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
    return "".join(part if part.endswith(tuple(FULL_WIDTH_ENDS)) else f"{part} " for part in parts).rstrip()


def questions_of(text: str) -> list[str]:
    """The sentences that ask something."""
    return questions_among(sentences_of(text))


def questions_among(sentences: Iterable[str]) -> list[str]:
    """Those of the sentences that ask something."""
    return [each for each in sentences if each.rstrip(_CLOSING_MARKS).endswith(QUESTION_MARKS)]


_CLOSING_WORDS: Final = compiled(
    r"\b(?:bye|goodbye|welcome|(?:great|nice|good|wonderful|lovely|pleasant) (?:day|time|trip|evening|night|one|stay|rest)|"
    r"enjoy|have fun|no problem|my pleasure|glad (?:i|to)|anything else|that ?['’]?s all|that is all|that will be all|"
    r"take care|see you|thank(?:s| you))\b",
    re.IGNORECASE,
)
_REPLYING: Final = re.compile(
    r"^(?:yes|no|yeah|yep|yup|nope|nah|ok|okay|sure|great|thanks|thank|cool|nice|wow|lol|haha|ha|really|oh|me too|that|it|they|he|she|"
    r"awesome|good|right|sounds|same|true|perfect|alright|i see|i know|i do|i am|i did|not|very|so|of course|absolutely|definitely|"
    r"because|maybe|but|well)\b",
    re.IGNORECASE,
)
_POINTING_BACK: Final = compiled(r"\b(?:it|its|that|they|them|their|those|he|she|him|her|one|ones|there|too|this|these)\b", re.IGNORECASE)


def closes(text: str) -> bool:
    """Whether a text thanks, wishes well or says goodbye."""
    return _CLOSING_WORDS.search(text) is not None


def replies(text: str) -> bool:
    """Whether a text begins as an answer or a reaction does."""
    return _REPLYING.match(text.lstrip()) is not None


def points_back(text: str) -> bool:
    """Whether a text has a word that refers to something before it."""
    return _POINTING_BACK.search(text) is not None


def asks(text: str) -> bool:
    """Whether a text holds a question."""
    return any(mark in text for mark in QUESTION_MARKS)


def ends_in_question(text: str) -> bool:
    """Whether a text's last sentence is a question."""
    return text.rstrip().endswith(QUESTION_MARKS)
