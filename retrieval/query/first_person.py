"""Rewrites a question about a person in the first person: "What do I paint?" for "What does Melanie paint?".

A separate feature compares the person. In a question, a name moves the vectors of all words towards every memory with this name. Without
it, the question is compared by its topic, and in the words that people use about themselves.
"""

import re
from functools import lru_cache
from typing import Final

from memory.dates.calendar import MONTHS, WEEKDAYS
from memory.dates.holidays import HOLIDAY_WORDS
from memory.texts.terms import FUNCTION_WORD_NAMES
from memory.texts.words import STOP_WORDS
from retrieval.query.question import KEPT_QUESTIONS

MAX_LENGTH: Final = 300
"""Characters of a question. A longer text was probably pasted, and costs too much to compare twice."""

_DATES: Final = MONTHS.keys() | WEEKDAYS.keys() | HOLIDAY_WORDS
_ENGLISH: Final = re.compile(
    r"\b(?:what|when|where|who|whose|which|why|how|do|does|did|have|has|had|is|are|were|can|could|should|would|might)\b", re.IGNORECASE
)
"""None is a German word: in German, all nouns have capitals."""
_WORD: Final = re.compile(r"(?<![\w'’.-])((?:[^\W\d_]{1,3}['’])?[^\W\d_]{2,})(['’]s)?(?![\w'’-])")
"""A word, or a name such as O'Brien, and a possessive ending."""


@lru_cache(maxsize=KEPT_QUESTIONS)
def asked_texts(question: str) -> tuple[str, ...]:
    """The texts that late interaction compares: the question, and if it names persons, also the question in the first person.

    Args:
        question: The text of a query.
    """
    return tuple(dict.fromkeys((question, in_first_person(question))))


@lru_cache(maxsize=KEPT_QUESTIONS)
def names_in(question: str) -> frozenset[str]:
    """The case-folded words of a question that may be names: those with a capital, except the first word, dates and acronyms.

    Args:
        question: The text of a query.
    """
    return (
        frozenset(found[1].casefold().replace("’", "'") for found in _WORD.finditer(question) if found.start() and _may_be_name(found[1]))
        - _DATES
    )


def _may_be_name(word: str) -> bool:
    return word.istitle() and (word.casefold() not in STOP_WORDS or word.casefold() in FUNCTION_WORD_NAMES)


def in_first_person(question: str) -> str:
    """The question with "I" and "my" instead of persons. Unchanged if it names none, is too long, or is not in English.

    The user's persons are unknown when a question arrives. So each word with a capital counts as a person, except the first word, dates,
    acronyms, and words next to another such word ("New York", "Ann's Honda").

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
