r"""The required literals of a regular expression: words and characters without which it cannot match.

The pattern ``\b(?:i|we) (?:live|reside) in\b`` needs "i" or "we", "live" or "reside", and "in". :func:`required_literals` derives these
sets from the pattern, so each match has a literal of each set, by construction. A text with the literals need not have a match.

Literals are compared with texts in the form of :func:`folded`. A literal is

- a run of letters from a to z, with a blank before it where the run must begin there, and one after it where it must end: ``" live "`` is a
  whole word, ``" allerg"`` the begin of one;
- or one character that is no letter, such as ``?``. :data:`DIGIT` stands for all digits.
"""

# The standard library's own parser, as Hypothesis uses it. Its modules have these names since Python 3.11.
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby
from math import prod
from typing import Any, Final

from memory.texts.words import TOPICLESS_WORDS

RequiredLiterals = tuple[frozenset[str], ...]
"""Sets of literals. A text has a match only if it has a literal of each set."""

DIGIT: Final = "0"
MOST_SETS: Final = 3
LONGEST_LITERAL: Final = 20
"""Letters of a literal."""
_EDGE: Final = " "
"""Something that is no letter from a to z, or the begin or the end of the text."""
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz")
_LIKE_LETTERS: Final = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
"""The other characters that match a letter from a to z whatever the case: dotted and dotless i, long s, the sign of Kelvin."""
_MOST_ALTERNATIVES: Final = 64
"""Strings that are multiplied out for a sequence of alternatives."""
_LONGEST: Final = 80
_KEPT_STRINGS: Final = 10_000
"""Patterns share word lists."""
_MOST_CHARACTERS: Final = 24
_USELESS: Final = 0.99
"""Estimated share of texts from which a set says too little."""
_PLAIN: Final = frozenset("\t\n\r\f\v '’-.,!")
"""Characters that are too frequent, or stand for each other too often, to be literals."""
_FREQUENT_WORDS: Final = """
i you we it a an the to in on of at and or but is are am my me for with so not that this was have be do
"""
_FREQUENT: Final = frozenset(_FREQUENT_WORDS.split())

_SHARES_OF_PARTS: Final = (1.0, 0.9, 0.5, 0.2, 0.005)
"""Estimated shares of texts that have one, two, three, four, or more letters within a word."""

_Strings = frozenset[str]


def folded(text: str) -> str:
    """A text with every character that matches a letter from a to z, whatever the case, in place of that letter."""
    if not text.isascii():
        for character, letter in _LIKE_LETTERS.items():
            text = text.replace(character, letter)
    return text.lower()


def required_literals(pattern: str, flags: int = 0) -> RequiredLiterals:
    """The sets of literals that a pattern requires, the rarest first; empty if it requires none.

    Args:
        pattern: A regular expression for texts.
        flags: Those of ``re``.
    """
    walk = _Walk()
    walk.sequence(sre_parser.parse(pattern, flags))
    walk.close()
    return tuple(walk.rarest(MOST_SETS))


class _Walk:
    """Reads a sequence of nodes from left to right, and collects what each match needs.

    Args:
        begins: What is known of the text right before: an edge, or nothing.
    """

    def __init__(self, begins: str = "") -> None:
        self.strings: _Strings = frozenset((begins,))
        """The strings that the nodes since the last gap match, of letters, edges and literals of one character."""
        self.needs: list[frozenset[str]] = []
        self.is_exact = True
        """Whether ``strings`` are all that the whole sequence matches."""

    def sequence(self, nodes: Iterable[tuple[Any, Any]]) -> None:
        """Reads nodes of ``re``'s parser."""
        for is_literal, group in groupby(nodes, _is_literal):
            if is_literal:
                self._append(frozenset((_shape_of([code for _, code in group]),)))
            else:
                for operator, argument in group:
                    self._node(operator, argument)

    def close(self) -> None:
        """Ends the current strings, since nothing is known of what follows."""
        self._need(self.strings)
        self.strings = frozenset(("",))
        self.is_exact = False

    def rarest(self, count: int) -> list[frozenset[str]]:
        """The sets that the fewest texts have a literal of."""
        useful = {each: _share(each) for each in self.needs}
        return sorted((each for each in useful if useful[each] < _USELESS), key=lambda each: (useful[each], len(each), sorted(each)))[
            :count
        ]

    def _node(self, operator: Any, argument: Any) -> None:
        if operator is sre.IN:
            self._set(argument)
        elif operator is sre.AT:
            self._position(argument)
        elif operator is sre.SUBPATTERN:
            self._branches([argument[-1]])
        elif operator is sre.ATOMIC_GROUP:
            self._branches([argument])
        elif operator is sre.BRANCH:
            self._branches(argument[1])
        elif operator in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            self._repetition(*argument)
        elif operator is sre.ASSERT:
            inner = _Walk(self._edge() if argument[0] > 0 else "")
            inner.sequence(argument[1])
            inner.close()
            self.needs += inner.needs
        elif operator is not sre.ASSERT_NOT:
            self.close()
        elif _has_all_word_characters(argument[1]):
            self._append(frozenset((_EDGE,)))

    def _edge(self) -> str:
        return _EDGE if all(_ends_in_edge(each) for each in self.strings) else ""

    def _position(self, kind: Any) -> None:
        if kind in (sre.AT_NON_BOUNDARY, sre.AT_LOC_NON_BOUNDARY, sre.AT_UNI_NON_BOUNDARY):
            self.close()
        else:
            self._append(frozenset((_EDGE,)))

    def _set(self, items: Sequence[tuple[Any, Any]]) -> None:
        characters: list[int] = []
        has_digits = has_others = False
        for operator, argument in items:
            if operator is sre.LITERAL:
                characters.append(argument)
            elif operator is sre.CATEGORY and argument is sre.CATEGORY_DIGIT:
                has_digits = True
            elif operator is sre.CATEGORY and argument in (sre.CATEGORY_SPACE, sre.CATEGORY_NOT_WORD):
                has_others = True
            elif operator is sre.RANGE and not _has_letter(*argument):
                has_digits = has_digits or argument == (ord("0"), ord("9"))
                has_others = has_others or argument != (ord("0"), ord("9"))
            else:
                self.close()
                return
        if has_others or (has_digits and characters) or len(characters) > _MOST_CHARACTERS:
            if any(_sign_of(each) in _LETTERS for each in characters):
                self.close()
            else:
                self._append(frozenset((_EDGE,)))
        else:
            self._characters([*characters, *([ord(DIGIT)] if has_digits else [])])

    def _characters(self, codes: Sequence[int]) -> None:
        self._append(frozenset(map(_sign_of, codes)))

    def _branches(self, branches: Sequence[Iterable[tuple[Any, Any]]]) -> None:
        walks = []
        if len(branches) > 1 and all(map(_is_literal, chain.from_iterable(branches))):
            self._append(frozenset(_shape_of([code for _, code in branch]) for branch in branches))
            return
        for branch in branches:
            walk = _Walk(self._edge())
            walk.sequence(branch)
            walks.append(walk)
        if all(each.is_exact for each in walks):
            self._append(frozenset().union(*(each.strings for each in walks)))
            return
        if len(walks) == 1:
            self.close()
            self.needs += walks[0].needs
            self.strings = walks[0].strings
            return
        self.close()
        for each in walks:
            each.close()
        self.needs += _of_any([each.rarest(2) for each in walks])

    def _repetition(self, fewest: int, most: Any, repeated: Sequence[tuple[Any, Any]]) -> None:
        walk = _Walk()
        walk.sequence(repeated)
        is_edge = walk.is_exact and all(each and not each.strip(_EDGE) for each in walk.strings)
        if walk.is_exact and (most == 1 or is_edge):
            self._append(walk.strings | ({""} if fewest == 0 else set()))
            return
        if fewest > 0:
            self._branches([repeated])
        self.close()

    def _append(self, following: _Strings) -> None:
        if len(self.strings) * len(following) > _MOST_ALTERNATIVES and len(self.strings) > 1 and len(following) > 1:
            edge = self._edge()
            if all(each.startswith(_EDGE) for each in following):
                self.strings = frozenset(_joined(each, _EDGE) for each in self.strings)
            self._need(self.strings)
            self.strings, self.is_exact = frozenset((edge,)), False
        self.strings = frozenset(_joined(one, other) for one in self.strings for other in following)
        if max(map(len, self.strings)) > _LONGEST:
            edge = self._edge()
            self.close()
            self.strings = frozenset((edge,))

    def _need(self, strings: _Strings) -> None:
        """Adds the literals that all strings have, and the rarest other one of each string, as sets."""
        literals = [_literals_in(each) for each in strings]
        shared = frozenset.intersection(*literals)
        self.needs += (frozenset((each,)) for each in shared)
        others = [min(each - shared, key=lambda literal: (_share_of(literal), literal), default="") for each in literals]
        if all(others):
            self.needs.append(frozenset(others))


def _of_any(branches: Sequence[Sequence[frozenset[str]]]) -> list[frozenset[str]]:
    """The sets that a match of any branch needs: unions of a set of each."""
    fewest = min(map(len, branches), default=0)
    return [frozenset().union(*(each[rank] for each in branches)) for rank in range(fewest)]


def _joined(one: str, other: str) -> str:
    return one + other[1:] if one.endswith(_EDGE) and other.startswith(_EDGE) else one + other


def _ends_in_edge(string: str) -> bool:
    return bool(string) and string[-1] not in _LETTERS


def _has_all_word_characters(nodes: Sequence[tuple[Any, Any]]) -> bool:
    r"""Whether nodes match each ``\w``, so that where they do not match no letter is next."""
    return (
        len(nodes) == 1
        and nodes[0][0] is sre.IN
        and (sre.CATEGORY, sre.CATEGORY_WORD) in nodes[0][1]
        and nodes[0][1][0][0] is not sre.NEGATE
    )


def _is_literal(node: tuple[Any, Any]) -> bool:
    return node[0] is sre.LITERAL


def _shape_of(codes: Sequence[int]) -> str:
    """Characters as letters, literals and edges."""
    shape = "".join(map(_sign_of, codes))
    while _EDGE + _EDGE in shape:
        shape = shape.replace(_EDGE + _EDGE, _EDGE)
    return shape


@cache
def _sign_of(code: int) -> str:
    """A character as the letter from a to z that it matches, or as a literal; as an edge if it is no literal or has two cases."""
    sign = chr(code)
    if (letter := folded(sign)) in _LETTERS:
        return letter
    if sign.isdecimal():
        return DIGIT
    return _EDGE if sign in _PLAIN or sign.isspace() or sign.lower() != sign or sign.upper() != sign else sign


def _has_letter(first: int, last: int) -> bool:
    return any(first <= ord(each) <= last for each in (*_LETTERS, *map(str.upper, _LETTERS), *_LIKE_LETTERS))


@lru_cache(maxsize=_KEPT_STRINGS)
def _literals_in(string: str) -> frozenset[str]:
    found: set[str] = set()
    start = 0
    for index in range(len(string) + 1):
        if index < len(string) and string[index] in _LETTERS:
            continue
        if index > start:
            word = string[start : min(index, start + LONGEST_LITERAL)]
            found.add(f"{_EDGE if start else ''}{word}{_EDGE if start + len(word) == index < len(string) else ''}")
        if index < len(string) and string[index] != _EDGE:
            found.add(string[index])
        start = index + 1
    return frozenset(found)


def share_of_texts(word: str) -> float:
    """The estimated share of texts that have a word in lower case. It decides which literals are looked for, not what is necessary."""
    return 0.4 if word in _FREQUENT else 0.1 if word in TOPICLESS_WORDS or len(word) < 3 else 0.003


def _share(literals: frozenset[str]) -> float:
    """The estimated share of texts that have one of a set of literals."""
    return 1 - prod(1 - _share_of(each) for each in literals)


@lru_cache(maxsize=_KEPT_STRINGS)
def _share_of(literal: str) -> float:
    word = literal.strip(_EDGE)
    if not (word.isascii() and word.isalpha()):
        return {"?": 0.4, DIGIT: 0.3}.get(literal, 0.05)
    edges = literal.startswith(_EDGE) + literal.endswith(_EDGE)
    if edges == 2:
        return share_of_texts(word)
    return _SHARES_OF_PARTS[min(len(word), len(_SHARES_OF_PARTS)) - 1] * (0.5 if edges else 1.0)
