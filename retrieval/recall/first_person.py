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

_NO_PERSONS: Final = STOP_WORDS | MONTHS.keys() | WEEKDAYS.keys() | HOLIDAY_WORDS
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


def in_first_person(question: str) -> str:
    """The question with "I" and "my" for the persons it names; as it is where it names none, is too long, or is not in English.

    Every single word with a capital counts for a person, but the first, dates, acronyms, and what another such word stands beside ("New
    York"): who a user's persons are nobody knows yet when a question comes.

    Args:
        question: The text of a query.
    """
    if len(question) > MAX_LENGTH or not _ENGLISH.search(question):
        return question
    words = list(_WORD.finditer(question))
    capitals = {each.start() for each in words if each[1].istitle() and each.start() and each[1].casefold() not in STOP_WORDS}
    parts, end = [], 0
    for index, word in enumerate(words):
        if not _is_person(word):
            continue
        beside = [each for each in (*words[max(0, index - 1) : index], *words[index + 1 : index + 2]) if each.start() in capitals]
        if any(_between(question, word, each) == " " for each in beside):
            continue
        parts += [question[end : word.start()], "my" if word[2] else "I"]
        end = word.end()
    return "".join([*parts, question[end:]])


def _is_person(word: re.Match[str]) -> bool:
    return word[1].istitle() and word[1].casefold() not in _NO_PERSONS and (word.start() > 0 or bool(word[2]))


def _between(text: str, one: re.Match[str], other: re.Match[str]) -> str:
    """What stands between two words; nothing of a name and what it possesses."""
    first, second = sorted((one, other), key=lambda each: each.start())
    return "" if first[2] else text[first.end() : second.start()]
