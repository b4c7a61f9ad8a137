"""Everyday words and first names that are also names of months and weekdays: may, march, sat, sun, wed."""

import re
from typing import Final

from memory.dates.calendar import MONTH_NAMES, MONTHS, WEEKDAYS

_WORDS: Final = frozenset({"may", "march", "mar", "jan", "sat", "sun", "wed"})
_PREPOSITION: Final = re.compile(
    r"\b(?:in(?: early| late)?|on|since|by|until|till|from|before|after|during|between)(?: the)? $", re.IGNORECASE
)
_BEFORE_DAY: Final = re.compile(r"\b(?:on|since|by|until|till|from|before|after|between)(?: the)? $", re.IGNORECASE)
_MID: Final = re.compile(r"\bmid-$", re.IGNORECASE)
_ORDINAL_OR_OF: Final = re.compile(r"\d(?:st|nd|rd|th)\b|\bof\b", re.IGNORECASE)
_CLAUSE_ENDS: Final = re.compile(r"\s*(?:[.,;:!?)\n]|$)")
_QUESTION_ENDS: Final = re.compile(r"\s*\?")
_POSSESSIVE: Final = re.compile(r"['’]s\b")
_SENTENCE_STARTS: Final = re.compile(r"(?:^|[.!?\n]\s*)$")
_NOUN_FOLLOWS: Final = re.compile(
    r"\s+(?!(?:at|in|is|was|were|and|or|to|till|until|for|with|we|i|he|she|they|it|you|works?|will|would|the|a|an|my|our|when|from|by|if|but|"
    r"this|next|last|around|about|after|before|as|because|there|that|please|then)\b)[a-z]{2,}"
)
_PREPOSITION_REACH: Final = 20
_ABBREVIATIONS: Final = frozenset(
    [*(each for each in MONTHS if each not in MONTH_NAMES), *(each for each in WEEKDAYS if not each.endswith("day"))]
)
_COMPOUND: Final = re.compile(rf"-(?!(?:{'|'.join((*MONTHS, *WEEKDAYS))})\b)[a-z]", re.IGNORECASE)
"""After an abbreviation: it is the first part of another word ("Mar-a-Lago", "sat-nav", "sun-dried")."""


def is_date_like(match: re.Match[str]) -> bool:
    """Whether a match names a date, and does not merely use a word that can also name a month or a weekday.

    "May", "March", "Sat", "Sun", "Wed" and the like name a date if they are capitalised, if a year or an ordinal day is next to them, if a
    preposition precedes them ("in may", "on sat"), or if the clause ("next may") or the question ("last sat?") ends after them. "This may
    have been", "he last sat there", "we march 3 miles", "May 3 people come?" and "this Mar-a-Lago trip" name none.

    Args:
        match: Match of a pattern with the group ``month`` or ``weekday``.
    """
    groups = match.groupdict()
    name = "month" if groups.get("month") else "weekday"
    word = groups.get(name)
    if word is None:
        return True
    text, end = match.string, match.end(name)
    if word.lower() in _ABBREVIATIONS and _COMPOUND.match(text, end):
        return False
    if word.lower() not in _WORDS:
        return True
    return _capitalised_is_date(match, name, word) if word.istitle() else _small_is_date(match, name, word)


def _capitalised_is_date(match: re.Match[str], name: str, word: str) -> bool:
    groups = match.groupdict()
    if groups.get("year") or groups.get("short_year") or groups.get("on_weekday"):
        return True
    begins = match.start() == match.start(name) and _SENTENCE_STARTS.search(_before(match))
    if begins and word in ("May", "March", "Sun", "Sat"):
        return not _NOUN_FOLLOWS.match(match.string, match.end())
    return word in ("May", "March") or not _POSSESSIVE.match(match.string, match.end(name))


def _small_is_date(match: re.Match[str], name: str, word: str) -> bool:
    groups, text, end = match.groupdict(), match.string, match.end(name)
    if groups.get("year") or groups.get("on_weekday") or (groups.get("day") and _ORDINAL_OR_OF.search(match[0])):
        return True
    if groups.get("day"):
        return bool(_BEFORE_DAY.search(_before(match)) or match[0].lower().startswith(("from ", "between ")))
    before = _before(match, match.start(name))
    follows_preposition = bool(_PREPOSITION.search(before) or _MID.search(before))
    if word.lower() == "may" or (name == "weekday" and follows_preposition):
        return (name == "month" and follows_preposition) or _CLAUSE_ENDS.match(text, end) is not None
    return follows_preposition or _QUESTION_ENDS.match(text, end) is not None


def _before(match: re.Match[str], end: int | None = None) -> str:
    """The text shortly before the match, up to its start or to a later place in it."""
    return match.string[max(0, match.start() - _PREPOSITION_REACH) : match.start() if end is None else end]
