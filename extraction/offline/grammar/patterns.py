"""Builds regular expressions from word lists and templates such as ``<I> live in <place>``.

Patterns of rules are :class:`memory.texts.prefiltered_patterns.PrefilteredPattern`, so that a rule costs nothing on a text without its
words.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from memory.texts.prefiltered_patterns import PrefilteredPattern, any_pattern
from memory.texts.required_literals import share_of_texts

_RARE: Final = 0.05
"""Share of texts with a word, as estimated from its length and a list of frequent words."""
_WORD: Final = re.compile("[a-z]+")
_GROUP: Final = 16
"""Entries with rare words that are one alternative."""


def listed(text: str) -> tuple[str, ...]:
    """The comma-separated entries of a text, in order."""
    return tuple(" ".join(entry.split()) for entry in text.split(",") if entry.strip())


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def any_of(*lists: Iterable[str]) -> str:
    """A pattern for any entry of the lists, the longest first.

    A blank matches any white space, an apostrophe may be missing ("dont"), a hyphen may be a blank, and ``*`` is any end of a word.
    """
    entries = dict.fromkeys(entry for each in lists for entry in each)
    return f"(?:{'|'.join(_literal(entry) for entry in sorted(entries, key=len, reverse=True))})"


def either(*patterns: str) -> PrefilteredPattern:
    """Finds any of the patterns, whatever their case."""
    return any_pattern(patterns, re.IGNORECASE)


def whole(*lists: Iterable[str]) -> str:
    """A pattern for any entry of the lists as whole words."""
    return rf"\b{any_of(*lists)}\b"


def cue(*lists: Iterable[str]) -> PrefilteredPattern:
    """Finds any entry of the lists as whole words, whatever their case."""
    return PrefilteredPattern(whole(*lists), re.IGNORECASE, alternatives=whole_apart(*lists))


def whole_apart(*lists: Iterable[str]) -> tuple[str, ...]:
    """The pattern of :func:`whole` as alternatives: one for every few entries with a rare word, and one for each other entry."""
    rare: list[str] = []
    others: list[str] = []
    for entry in dict.fromkeys(entry for each in lists for entry in each):
        is_rare = any(share_of_texts(word) < _RARE for word in _WORD.findall(entry))
        (rare if is_rare else others).append(entry)
    groups = [rare[start : start + _GROUP] for start in range(0, len(rare), _GROUP)]
    return tuple(whole(each) for each in (*groups, *([each] for each in others)))


def template(text: str, classes: Mapping[str, str]) -> str:
    """The pattern for a template, with white space after each token.

    Its tokens are separated by blanks: words of which one stands there (``live|reside``), or a class (``<place>``). A token with a question
    mark may be missing. An underscore stands for a blank within an alternative.

    Args:
        text: The template.
        classes: The patterns of the classes by name.
    """
    return "".join(
        rf"(?:{_token(each[:-1], classes)}\s+)?" if each.endswith("?") else rf"{_token(each, classes)}\s+" for each in text.split()
    )


def _token(token: str, classes: Mapping[str, str]) -> str:
    if token.startswith("<") and token.endswith(">"):
        return classes[token[1:-1]]
    return any_of(each.replace("_", " ") for each in token.split("|"))


def _literal(entry: str) -> str:
    parts = {" ": r"\s+", "'": "['’]?", "-": "[- ]?", "*": r"[\w'’-]*"}
    return "".join(parts.get(character) or re.escape(character) for character in entry)
