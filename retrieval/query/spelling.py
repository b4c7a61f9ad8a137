"""Misspelt names in a question: "Jonh" for John, if the memories name John and no Jonh."""

import re
from collections.abc import Iterable
from typing import Final

from memory.records import Memory
from retrieval.query.first_person import names_in
from retrieval.relevance.traits import traits_of

_LEAST_SWAPPED: Final = 4
_LEAST_ADDED: Final = 5
_LEAST_REPLACED: Final = 6
"""Shorter names that differ in such a way are often two names: Joan and John."""
_VOWELS: Final = frozenset("aeiouy")


def corrected(question: str, candidates: Iterable[Memory]) -> str | None:
    """The question with the names of its candidates instead of misspelt ones. None: it has no misspelt name.

    A name is misspelt if no candidate contains it, and exactly one name of the candidates differs from it by two swapped letters, by one
    letter more or fewer, or by one other vowel.

    Args:
        question: The text of a query.
        candidates: The candidates of the query.
    """
    names = names_in(question)
    if not names:
        return None
    unknown, traits = {*names}, [*map(traits_of, candidates)]
    for memory_traits in traits:
        unknown -= memory_traits.words
        if not unknown:
            return None
    known = frozenset[str]().union(*(each.names for each in traits))
    text = question
    for name in unknown:
        similar = {each for each in known if is_misspelling(name, each.casefold())}
        if len(similar) == 1:
            text = re.sub(rf"\b{re.escape(name)}\b", similar.pop(), text, flags=re.IGNORECASE)
    return None if text == question else text


def is_misspelling(one: str, other: str) -> bool:
    """Whether two case-folded names are probably one name: they differ by one slip of the finger.

    Names that differ in their first letter, in a consonant (Martin, Marcin) or in an ending (Daniel, Daniela) are two names.

    Args:
        one: A name.
        other: Another name.
    """
    if one == other or one[:1] != other[:1] or abs(len(one) - len(other)) > 1:
        return False
    start = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if len(one) == len(other):
        if one[start:] == other[start + 1 : start + 2] + other[start : start + 1] + other[start + 2 :]:
            return len(one) >= _LEAST_SWAPPED
        is_inner_vowel = start < len(one) - 1 and {one[start], other[start]} <= _VOWELS
        return len(one) >= _LEAST_REPLACED and one[start + 1 :] == other[start + 1 :] and is_inner_vowel
    shorter, longer = sorted((one, other), key=len)
    is_ending = start == len(shorter) and longer[-1] in "aio"
    return len(longer) >= _LEAST_ADDED and shorter[start:] == longer[start + 1 :] and not is_ending
