"""Distinguishes updates from repetitions: compares the dates, numbers, names, negations and properties of two statements."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from pydantic import JsonValue

from memory.texts.scripts import LETTERS
from memory.texts.words import FUNCTION_WORDS, NUMBER_WORDS, stem
from runtime.sized_cache import sized_cache

_WORD: Final = re.compile(rf"\d+(?:[.,:]\d+)*|{LETTERS}(?:['’]{LETTERS})?")
_NEGATION: Final = re.compile(
    r"""not|no|never|none|nobody|nothing|neither|nor|without|cannot|stopped|quit|cancell?ed|refused|failed|lost
    |nicht|keine?n?|nie|ohne|pas|jamais|sans|ne|plus|nunca|sin|ninguno|non|mai|senza|não|sem|niet|geen|нет|не|никогда|без
    |.*n['’]t|.*[不没沒无無未].*|.*ない.*|.*ません.*""",
    re.VERBOSE,
)
_CACHED_BYTES: Final = 4_000_000
"""3,000 values of a sentence."""
_ROUTINE_WORDS: Final = 10
_STATUS_CODE: Final = re.compile(r"(?:[^:\n]{1,200}: )?\W{0,4}[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\W{0,4}")
"""A program's code, alone or after its speaker: "HEARTBEAT_OK"."""
_DAY_SAID: Final = re.compile(r"(.{1,200}?) \(\d{1,2} [A-Z][a-z]+ \d{4}\): ")
"""Speaker and day at the beginning of a quoted message's search text."""
_COUNTS: Final = {word: str(number) for word, number in NUMBER_WORDS.items()} | {"once": "1", "twice": "2"}


@dataclass(frozen=True)
class Statement:
    """A sentence with its properties and its time."""

    content: str
    properties: Mapping[str, JsonValue]
    event_time: datetime
    is_dated: bool = True
    """Whether its date is known."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The stems of its words, in order, without the function words."""
        return _content_words(self.content)

    @cached_property
    def distinct_words(self) -> frozenset[str]:
        """The stems of its words, each once."""
        return frozenset(self.words)

    @cached_property
    def without_day(self) -> str:
        """Its content without the day on which it was said."""
        return without_day_said(self.content)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers in it."""
        return numbers_in(self.content)

    @cached_property
    def names(self) -> frozenset[str]:
        """The capitalised words in it but the first: names, weekdays, months."""
        return frozenset(word for word in _WORD.findall(self.content)[1:] if word[0].isupper() and word.casefold() not in FUNCTION_WORDS)

    @cached_property
    def negations(self) -> int:
        """Number of negating words."""
        tokens = [word.casefold() for word in _WORD.findall(self.content)]
        return sum(_NEGATION.fullmatch(token) is not None for token in tokens)


def numbers_in(text: str) -> frozenset[str]:
    """The numbers in a text, those in words as digits."""
    tokens = (word.casefold() for word in _WORD.findall(text))
    return frozenset(_COUNTS.get(token, token) for token in tokens if token[0].isdigit() or token in _COUNTS)


def differ_in_fact(one: Statement, other: Statement) -> bool:
    """Whether two statements can be no repetition of each other: another day, number, name, negation or property value.

    A name more is no difference, a name instead of another is one. The day is none in a routine.
    """
    if any(_values_differ(value, other.properties[name]) for name, value in one.properties.items() if name in other.properties):
        return True
    return not is_routine(one, other) and (
        (one.is_dated and other.is_dated and one.event_time.date() != other.event_time.date())
        or one.numbers != other.numbers
        or one.negations != other.negations
        or bool(one.names - other.names and other.names - one.names)
    )


def is_routine(one: Statement, other: Statement) -> bool:
    """Whether two statements are a routine, such as a scheduler's prompt: no person says so many equal words, or a code, twice."""
    return one.without_day == other.without_day and may_be_routine(one.content)


def without_day_said(text: str) -> str:
    """A quoted message's search text without the day on which it was said: "Ann (1 May 2024): Hi" becomes "Ann: Hi"."""
    return _DAY_SAID.sub(r"\1: ", text, count=1) if _DAY_SAID.match(text) else text


def may_be_routine(text: str) -> bool:
    """Whether a text that is said twice is a routine: it has ten words, or is nothing but a program's status code."""
    return len(_WORD.findall(text)) >= _ROUTINE_WORDS or is_status_code(text)


def is_status_code(text: str) -> bool:
    """Whether a text is nothing but a program's status code."""
    return _STATUS_CODE.fullmatch(without_day_said(text)) is not None


def says_all_of(one: Statement, other: Statement) -> bool:
    """Whether one statement holds all the words of the other, in the same order; in a routine, the day on which it was said is no word."""
    return (other.distinct_words <= one.distinct_words and _is_subsequence(other.words, one.words)) or is_routine(one, other)


def either_says_all(one: Statement, other: Statement) -> bool:
    """Whether one of two statements holds all the words of the other."""
    return says_all_of(one, other) or says_all_of(other, one)


def share_frame(one: Statement, other: Statement) -> bool:
    """Whether two statements begin and end with the same words, half of those of the shorter at least, and differ between."""
    shorter = min(len(one.words), len(other.words))
    head = _common(one.words, other.words)
    tail = min(_common(one.words[::-1], other.words[::-1]), shorter - head)
    return 2 * (head + tail) >= shorter > 0


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Number of equal words at the beginning of two texts."""
    return next(
        (index for index, (word, another) in enumerate(zip(one, other, strict=False)) if word != another), min(len(one), len(other))
    )


def _values_differ(one: JsonValue, other: JsonValue) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        words, others = _content_words(one), _content_words(other)
        return not (_is_subsequence(words, others) or _is_subsequence(others, words))
    return one != other


@sized_cache(most_bytes=_CACHED_BYTES, entry_bytes=200, growth=12)
def _content_words(text: str) -> tuple[str, ...]:
    tokens = (word.casefold() for word in _WORD.findall(text))
    return tuple(stem(token) for token in tokens if token not in FUNCTION_WORDS)


def _is_subsequence(short: Iterable[str], long: Iterable[str]) -> bool:
    rest = iter(long)
    return all(word in rest for word in short)
