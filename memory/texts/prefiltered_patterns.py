"""Regular expressions with a prefilter: hundreds of rules cost one look at a text.

Write ``compiled(r"...", re.IGNORECASE)`` in place of ``re.compile(...)``, :class:`Rewrites` for a table of patterns with replacements, and
:class:`Table` for any other entries with a pattern. Nothing has to be declared: :mod:`memory.texts.required_literals` derives from each
pattern the words and characters that all its matches have. One look at a text finds its words, and with them the patterns of the process
that may match; no other pattern is tried.

The results are those of ``re``. The rarer the words that a pattern demands, the less it costs.
"""

import gc
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from memory.texts.required_literals import DIGIT, LONGEST_LITERAL, MOST_SETS, RequiredLiterals, folded, required_literals

_Entry = TypeVar("_Entry")
Replacement = str | Callable[[re.Match[str]], str]
Rewrite = Callable[[re.Pattern[str], Replacement, str], str]
Derive = Callable[[Sequence[tuple[str, int]]], Iterable[RequiredLiterals]]
"""Returns the required literals of patterns, each with its flags."""

_RUN: Final = re.compile("[a-z]+")
_LONGEST_RUN: Final = 60
"""Letters of a run in which literals are looked for. A longer run may have all of them."""
_DIGITS: Final = frozenset("0123456789")
_KEPT_TEXTS: Final = 256
"""The rules read a window several times, and ask for the same texts again: its messages, their sentences and their clauses."""
_KEPT_WORDS: Final = 20_000


class _Index:
    """The patterns by their required literals.

    A set of patterns is an integer in which each pattern has one bit. The bits for the first sets of literals, the second and so on are
    shifted by the number of patterns each.

    Args:
        literals: The required literals of each pattern.
    """

    def __init__(self, literals: Sequence[RequiredLiterals]) -> None:
        self._count = len(literals)
        self._all = (1 << self._count * MOST_SETS) - 1
        self._of_literal: dict[str, int] = {}
        self._without_literals = 0
        """The patterns without a first set of literals, without a second, and so on."""
        for number, sets in enumerate(literals):
            for place in range(MOST_SETS):
                bit = 1 << (number + place * self._count)
                for literal in sets[place] if place < len(sets) else ():
                    self._of_literal[literal] = self._of_literal.get(literal, 0) | bit
                self._without_literals |= bit if place >= len(sets) else 0
        self._signs = frozenset(each for each in self._of_literal if len(each) == 1 and each not in _DIGITS and not ("a" <= each <= "z"))
        self._of_run = lru_cache(maxsize=_KEPT_WORDS)(self._patterns_of_run)
        self.possible = lru_cache(maxsize=_KEPT_TEXTS)(self._possible)
        """The patterns that may match a text."""

    def _possible(self, text: str) -> int:
        found = self._without_literals
        shape = folded(text)
        for run in set(_RUN.findall(shape)):
            found |= self._of_run(run)
        characters = set(shape)
        for sign in self._signs & characters:
            found |= self._of_literal[sign]
        if not _DIGITS.isdisjoint(characters) or (not shape.isascii() and any(each.isdecimal() for each in characters)):
            found |= self._of_literal.get(DIGIT, 0)
        possible = (1 << self._count) - 1
        for place in range(MOST_SETS):
            possible &= found >> (place * self._count)
        return possible

    def _patterns_of_run(self, run: str) -> int:
        if len(run) > _LONGEST_RUN:
            return self._all
        shown, found = f" {run} ", 0
        for start in range(len(shown)):
            for end in range(start + 1, min(len(shown), start + LONGEST_LITERAL + 2) + 1):
                found |= self._of_literal.get(shown[start:end], 0)
        return found


class _Prefilter:
    """All patterns of the process, in the order in which modules are imported. Literals are derived when a text is first looked at."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._patterns: list[tuple[str, int]] = []
        self._literals: list[RequiredLiterals] = []
        """The required literals of the first patterns."""
        self._index: _Index | None = None
        self.is_disabled = False

    def add(self, patterns: Sequence[str], flags: int) -> int:
        """Adds patterns, and returns the number of the first one."""
        with self._lock:
            self._patterns += ((each, flags) for each in patterns)
            self._index = None
            return len(self._patterns) - len(patterns)

    def possible(self, text: str) -> int:
        """The patterns that may match a text, as bits."""
        if self.is_disabled:
            return -1
        return (self._index or self.prepare(_derived)).possible(text)

    def prepare(self, derive: Derive) -> _Index:
        """Derives the literals of new patterns, and returns the index of all."""
        with self._lock:
            if self._index is None:
                with _without_collections():
                    self._literals += derive(self._patterns[len(self._literals) :])
                    self._index = _Index(self._literals)
            return self._index


@contextmanager
def _without_collections() -> Iterator[None]:
    """Runs a block that makes many objects without cycles: garbage collections would take a third of its time, and find nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _derived(patterns: Sequence[tuple[str, int]]) -> Iterator[RequiredLiterals]:
    return (required_literals(pattern, flags) for pattern, flags in patterns)


_PREFILTER: Final = _Prefilter()


def prepare(derive: Derive = _derived) -> None:
    """Derives the required literals of all patterns now, in some seconds of CPU at most, so that the first text does not wait for it.

    Args:
        derive: Returns what :func:`required_literals` returns for new patterns; it may know some already. Not called without new ones.
    """
    _PREFILTER.prepare(derive)


@contextmanager
def prefilter_disabled() -> Iterator[None]:
    """Tries every pattern on every text, for tests that compare the results."""
    _PREFILTER.is_disabled = True
    try:
        yield
    finally:
        _PREFILTER.is_disabled = False


class Table(Generic[_Entry]):
    """Entries with a pattern each, in order. A pattern is compiled when a text first has its literals.

    Args:
        entries: Each after its pattern.
        flags: Those of ``re``, for all patterns.
    """

    def __init__(self, entries: Iterable[tuple[str, _Entry]], flags: int = 0) -> None:
        self._entries = tuple(entries)
        self._flags = flags
        self._compiled: list[re.Pattern[str] | None] = [None] * len(self._entries)
        self._first = _PREFILTER.add([pattern for pattern, _ in self._entries], flags)
        self.all_bits = ((1 << len(self._entries)) - 1) << self._first
        """All entries, as bits of ``_Prefilter.possible``."""

    def __getitem__(self, number: int) -> tuple[re.Pattern[str], _Entry]:
        pattern, entry = self._entries[number]
        if (ready := self._compiled[number]) is None:
            ready = self._compiled[number] = re.compile(pattern, self._flags)
        return ready, entry

    def possible(self, text: str) -> Iterator[tuple[re.Pattern[str], _Entry]]:
        """The entries whose pattern may match a text, in order."""
        left = self._bits(text)
        while left:
            yield self[(left & -left).bit_length() - 1]
            left &= left - 1

    def rewritten(self, text: str, rewrite: Callable[[re.Pattern[str], _Entry, str], str]) -> str:
        """The text after each entry in order.

        Args:
            text: A text.
            rewrite: Rewrites a text by one entry. It returns a text without a match of the pattern as it is.
        """
        left = self._bits(text)
        while left:
            bit = left & -left
            before = text
            text = rewrite(*self[bit.bit_length() - 1], before)
            left ^= bit
            if text != before:
                left = self._bits(text) & -(bit << 1)
        return text

    def _bits(self, text: str) -> int:
        return (_PREFILTER.possible(text) & self.all_bits) >> self._first


class PrefilteredPattern:
    """A pattern that is tried only on texts with its required literals.

    Its methods are those of ``re.Pattern``, without an end of the search.

    Args:
        pattern: The regular expression.
        flags: Those of ``re``.
        alternatives: Patterns with their own required literals, which begin matches where the pattern does. Default: the pattern alone.
    """

    def __init__(self, pattern: str, flags: int = 0, *, alternatives: Sequence[str] = ()) -> None:
        self.pattern = pattern
        self.flags = flags
        self._table = Table(((each, None) for each in alternatives or (pattern,)), flags)
        self._bits = self._table.all_bits
        self._has_alternatives = len(alternatives) > 1

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself, which is tried on every text."""
        return re.compile(self.pattern, self.flags)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The leftmost match."""
        if not _PREFILTER.possible(text) & self._bits:
            return None
        if not self._has_alternatives:
            return self.compiled.search(text, start)
        begins = [found.start() for each, _ in self._table.possible(text) if (found := each.search(text, start)) is not None]
        return self.compiled.match(text, min(begins)) if begins else None

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The match that begins at ``start``."""
        return self.compiled.match(text, start) if _PREFILTER.possible(text) & self._bits else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The match of the whole text."""
        return self.compiled.fullmatch(text) if _PREFILTER.possible(text) & self._bits else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches."""
        return self.compiled.finditer(text) if _PREFILTER.possible(text) & self._bits else iter(())

    def findall(self, text: str) -> list[Any]:
        """The texts of all matches, or of their groups."""
        return self.compiled.findall(text) if _PREFILTER.possible(text) & self._bits else []

    def split(self, text: str) -> list[str | Any]:
        """The parts of a text between the matches."""
        return self.compiled.split(text) if _PREFILTER.possible(text) & self._bits else [text]

    def sub(self, replacement: Replacement, text: str, count: int = 0) -> str:
        """The text with its matches replaced.

        Args:
            replacement: A template, or a function of a match.
            text: The text.
            count: How many matches are replaced, from the left. 0: all.
        """
        return self.compiled.sub(replacement, text, count) if _PREFILTER.possible(text) & self._bits else text


def compiled(pattern: str, flags: int = 0) -> PrefilteredPattern:
    """A pattern in place of ``re.compile(pattern, flags)``."""
    return PrefilteredPattern(pattern, flags)


def any_pattern(patterns: Sequence[str], flags: int = 0) -> PrefilteredPattern:
    """Finds any of the patterns, as one pattern with ``|`` between them does, but tries only those whose required literals a text has."""
    return PrefilteredPattern("|".join(patterns), flags, alternatives=patterns)


def _all_replaced(pattern: re.Pattern[str], replacement: Replacement, text: str) -> str:
    return pattern.sub(replacement, text)


class Rewrites:
    """Rules that rewrite a text one after the other.

    Args:
        rules: Patterns, each with what replaces its matches.
        flags: Those of ``re``, for all patterns.
        rewrite: Applies one rule to a text. Default: replaces all matches.
    """

    def __init__(self, rules: Iterable[tuple[str, Replacement]], flags: int = 0, *, rewrite: Rewrite = _all_replaced) -> None:
        self._table = Table(rules, flags)
        self._rewrite = rewrite

    def apply(self, text: str) -> str:
        """The text after all rules."""
        return self._table.rewritten(text, self._rewrite)
