"""A question about somebody as that person would ask it: "What do I paint?" for "What does Melanie paint?".

Whom a memory is about the ranking sees by other means. A name draws the vectors of all words beside it towards every memory that has the
name; without it they are compared by what is asked, and in the words in which people speak of themselves.
"""

import re
from typing import Final

from memory.dates.calendar import MONTHS, WEEKDAYS
from memory.dates.holidays import HOLIDAY_WORDS
from memory.words import STOP_WORDS

MAX_LENGTH: Final = 300
"""Of a question, in characters: what is longer is a pasted text, and costs too much to compare twice."""

_DATES: Final = MONTHS.keys() | WEEKDAYS.keys() | HOLIDAY_WORDS
_ENGLISH: Final = re.compile(
    r"\b(?:what|when|where|who|whose|which|why|how|do|does|did|have|has|had|is|are|were|can|could|should|would|might)\b", re.IGNORECASE
)
"""None is a word of German, whose nouns all have capitals."""
_WORD: Final = re.compile(r"(?<![\w'’.-])([^\W\d_]{2,})(['’]s)?(?![\w'’-])")


def asked_texts(question: str) -> tuple[str, ...]:
    """What late interaction compares of a question: itself, and, where it names persons, the question as they would ask it.

    Args:
        question: The text of a query.
    """
    return tuple(dict.fromkeys((question, in_first_person(question))))


def names_in(question: str) -> frozenset[str]:
    """The words of a question that may be names, folded: those with a capital but the first, dates and acronyms.

    Args:
        question: The text of a query.
    """
    return frozenset(found[1].casefold() for found in _WORD.finditer(question) if found.start() and _may_be_name(found[1])) - _DATES


def _may_be_name(word: str) -> bool:
    return word.istitle() and word.casefold() not in STOP_WORDS


def in_first_person(question: str) -> str:
    """The question with "I" and "my" for the persons it names; as it is where it names none, is too long, or is not in English.

    Every single word with a capital counts for a person, but the first, dates, acronyms, and one that another such word stands beside ("New
    York", "Ann's Honda"): who a user's persons are nobody knows yet when a question comes.

    Args:
        question: The text of a query.
    """
    if len(question) > MAX_LENGTH or not _ENGLISH.search(question):
        return question
    names = [each for each in _WORD.finditer(question) if _may_be_name(each[1])]
    starts = {each.start() for each in names}
    ends = {each.end() for each in names if each.start() or each[2]}
    parts, end = [], 0
    for name in names:
        is_part = name.start() - 1 in ends or (not name[2] and name.end() + 1 in starts)
        if is_part or name[1].casefold() in _DATES or not (name.start() or name[2]):
            continue
        parts += [question[end : name.start()], "my" if name[2] else "I"]
        end = name.end()
    return "".join([*parts, question[end:]])
