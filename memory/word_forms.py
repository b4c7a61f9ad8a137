"""Words whose punctuation or capitals matter: O'Brien, C++, Node.js, T-shirt, AT&T, 3.5, U.S.; the names Will and US.

Documents and queries are split by the same rules, so a spelling rule can only join or separate words of both.
"""

import re
from typing import Final

NAME_MARK: Final = "\x1a"
"""Follows a function word that is a name, so that it stays one after its capitals are folded."""
FUNCTION_WORD_NAMES: Final = frozenset({"will", "can", "do", "an", "who", "so"})
"""Function words that are common given names, surnames or names of groups."""
_ACRONYMS: Final = frozenset({"it", "us", "who"})
"""Function words that are common acronyms."""
_SPELLINGS: Final = (*(each.title() for each in sorted(FUNCTION_WORD_NAMES)), *(each.upper() for each in sorted(_ACRONYMS)))
_FINITE_VERBS: Final = r"(?:is|was|has|had|and|said|told|came|went|got|took|made|gave|does|did|[a-z]{3,}(?<!s)s|[a-z]{2,}ed)"
_CANDIDATE: Final = re.compile(
    rf"(?<=[\w,;'’)]\ )(?:{'|'.join(each.title() for each in sorted(FUNCTION_WORD_NAMES))})(?![\w])"  # inside a sentence
    rf"|\b(?:Will|Can|An)(?=['’]s\b|\ {_FINITE_VERBS}\b)"  # At the start: no auxiliary or article is followed by a finite verb.
    rf"|(?<![\w.])(?:{'|'.join(each.upper() for each in sorted(_ACRONYMS))})(?!\w|\.\w)"
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")

_ELIDED_WORDS: Final = "l d j m t s n qu jusqu lorsqu puisqu quoiqu all dall dell nell sull un quell quest"
_ELIDED: Final = frozenset(_ELIDED_WORDS.split())
"""French and Italian words before an apostrophe, as in Lucene's ElisionFilter. The text after the apostrophe is the word."""
_ENDINGS: Final = frozenset({"", "s", "t", "d", "m", "ll", "re", "ve", "em"})
"""English endings after an apostrophe."""
_NEGATED: Final = re.compile(r"[a-z]+n't$")

_SYMBOLS: Final = frozenset({"+", "++", "#", "*"})
"""Symbols that belong to a single letter before them, as in C#, C++ and A*. Other symbols are markup."""
_INNER: Final = re.compile(rf"[.,&-]|{NAME_MARK}")
_NUMBER: Final = re.compile(r"(\d+)([.,])(\d+)(?![\d.,])(.*)", re.DOTALL)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+$")
_DOTTED: Final = re.compile(r"[^\W\d_](?:\.[^\W\d_])+$")
_DOMAINS: Final = frozenset({"js", "net", "io", "ai", "py", "ts", "rs", "go"})
"""Last parts of product names, as in Node.js. Other words around a full stop lack a blank."""
_SHORT: Final = 2
"""Parts of at most this length are no words of their own: T-shirt, Wi-Fi, e-mail."""


def with_marked_names(text: str) -> str:
    """The text with :data:`NAME_MARK` after each function word that is a name by its capitals: "my friend Will", "in the US"."""
    # The search takes as long as splitting the text, and few texts contain a candidate.
    if not any(each in text for each in _SPELLINGS) or not _CANDIDATE.search(text):
        return text
    others = [word for word in _WORD.findall(text) if word.lower() not in _ACRONYMS]
    # In a text that is mostly in capitals, they mark no acronym.
    if others and 2 * sum(word.isupper() for word in others) >= len(others):
        return text
    return _CANDIDATE.sub(lambda name: name.group() + NAME_MARK, text)


def parts_of(word: str, stop_words: frozenset[str]) -> list[str]:
    """The parts of a folded word that are compared. Empty if only function words are left.

    Args:
        word: With punctuation inside, before or after it. Names that :func:`with_marked_names` found are in capitals in the result, so
            that they differ from the function words.
        stop_words: Parts that are left out.
    """
    if word == ".net":
        return [word]
    word = word.lstrip(".")
    bare = word.rstrip("+#*")
    if len(bare) == 1 and bare.isalpha() and word[1:] in _SYMBOLS:
        return [word]
    word = bare
    if number := _NUMBER.match(word):
        return _number(word, number)
    if _NEGATED.match(word):
        return [word]  # "don't" differs from the name Don, and "won't" from "won".
    bare, *further = _without_apostrophe(word)
    if NAME_MARK in bare:
        bare = NAME_MARK.join(_NAME_AT_START.sub(lambda found: found[1].upper(), bare).split(NAME_MARK))
    if _DOTTED.match(bare):
        return _dotted(bare.replace(".", ""), stop_words)
    parts = [each for each in _INNER.split(bare) if each]
    if len(parts) < _SHORT:
        return _kept([*parts, *further], stop_words)
    if "&" in bare and all(len(each) <= _SHORT for each in parts):
        return [bare]
    joined = _joined(bare, parts, stop_words)
    if joined is None:
        return _kept(parts, stop_words)
    return [joined, *_kept([each for each in parts if len(each) > 1], stop_words)]


_NAME_AT_START: Final = re.compile(rf"([^\W_]+)(?={NAME_MARK})")


def _kept(parts: list[str], stop_words: frozenset[str]) -> list[str]:
    return [each for each in parts if each not in stop_words]


def _without_apostrophe(word: str) -> list[str]:
    """The word without endings such as "'s" and elided articles, and a second form if the apostrophe may be part of it.

    Short first parts belong to the word: "o'brien" is "obrien". Others may be words with an ending ("isparta'da") or not ("hawai'i").
    """
    if "'" not in word:
        return [word]
    bare, *rest = word.split("'")
    while rest and rest[-1] in _ENDINGS:
        rest.pop()
    if not rest:
        return [bare]
    if bare in _ELIDED and len("".join(rest)) > 1:
        return ["".join(rest)]
    joined = "".join((bare, *rest))
    return [joined] if len(bare) <= _SHORT else [bare, joined]


def _number(word: str, found: re.Match[str]) -> list[str]:
    whole, mark, fraction, rest = found.groups()
    if mark == "," and _THOUSANDS.match(word):
        return [word.replace(",", "")]
    if mark == "," and len(fraction) > _SHORT:
        return [each for each in re.split(r"[^\w]", word) if each]
    further = [each for each in re.split(r"[^\w]+", rest) if each]
    return [f"{whole}.{fraction}", *further]


def _dotted(letters: str, stop_words: frozenset[str]) -> list[str]:
    """Letters with full stops: "U.S." is the acronym US, and "a.m." is no word."""
    if letters in _ACRONYMS:
        return [letters.upper()]
    return _kept([letters], stop_words)


def _joined(word: str, parts: list[str], stop_words: frozenset[str]) -> str | None:
    """The parts of a word as one, if they are no words of their own: "tshirt", "wifi", "gpt4", "nodejs"."""
    if len(parts) != _SHORT or any(each in stop_words and len(each) > 1 for each in parts):
        return None
    if "." in word:
        return "".join(parts) if parts[-1] in _DOMAINS else None
    has_short = any(len(each) <= _SHORT and not each.isdigit() for each in parts)
    has_number = parts[-1].isdigit() and not parts[0][0].isdigit()
    return "".join(parts) if "-" in word and (has_short or has_number) else None
