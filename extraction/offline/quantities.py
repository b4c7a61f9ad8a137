"""Numbers in a text, with the unit that is said beside them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from extraction.offline.calendar_words import NUMBERS

_WORDS: Final = {word: number for word, number in NUMBERS.items() if word != "couple"}
_WORD: Final = "|".join(sorted(_WORDS, key=len, reverse=True))
_QUANTITY: Final = re.compile(
    rf"(?P<currency>[$€£¥])?(?P<sign>-)?(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)|\b(?P<word>{_WORD})\b)"
    r"(?P<half> and a half)?(?:\s*(?P<percent>%)|(?:[\s-]+|(?=[a-z]))(?P<unit>[A-Za-z]+))?",
    re.IGNORECASE,
)
_OUT_OF: Final = re.compile(
    rf"(?:(?P<digits>\d+(?:\.\d+)?)|\b(?P<word>{_WORD}))\s*(?:out of|/)\s*(?:(?P<of>\d+)|(?P<of_word>{_WORD})\b)", re.IGNORECASE
)
_CURRENCIES: Final = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One number."""

    value: float
    is_whole: bool
    """Whether it was said without a fraction."""
    unit: str
    """The singular of the word behind it, in lower case; ``percent`` or a currency's name for a sign; empty where there is none."""
    out_of: float | None = None
    """The best that could be: 10 in "9 out of 10"."""


def quantities_of(text: str) -> Iterator[Quantity]:
    """The numbers of a text in their order; number words up to twelve only where a unit follows."""
    rated = {match.start(): match for match in _OUT_OF.finditer(text)}
    covered = 0
    for match in _QUANTITY.finditer(text):
        start = match.start("digits") if match["digits"] else match.start("word")
        if start < covered or _inside_word(text, start):
            continue
        if start in rated:
            scale = rated[start]
            covered = scale.end()
            best = float(scale["of"] or _WORDS[scale["of_word"].lower()])
            yield Quantity(value=_value(scale), is_whole="." not in (scale["digits"] or ""), unit="", out_of=best)
            continue
        unit = _unit(match)
        if match["word"] and not unit:
            continue
        value = _value(match) + (0.5 if match["half"] else 0.0)
        yield Quantity(value=-value if match["sign"] else value, is_whole=value.is_integer(), unit=unit)


def _inside_word(text: str, start: int) -> bool:
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_.") and text[start].isdigit()


def _value(match: re.Match[str]) -> float:
    return float(match["digits"].replace(",", "")) if match["digits"] else float(_WORDS[match["word"].lower()])


def _unit(match: re.Match[str]) -> str:
    if match["currency"]:
        return _CURRENCIES[match["currency"]]
    if match["percent"]:
        return "percent"
    return singular(match["unit"] or "")


def singular(word: str) -> str:
    """A rough singular in lower case: ``minutes`` to ``minute``, ``boxes`` to ``box``."""
    word = word.lower()
    for ending, short in (("ies", "y"), ("xes", "x"), ("ches", "ch"), ("sses", "ss")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + short
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > 3 else word
