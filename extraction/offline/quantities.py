"""Numbers in a text with their units, and the numeric properties that they are values of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extraction.offline.property_roles import name_words
from memory.dates.calendar import NUMBERS
from memory.schema import Property
from memory.words import TOPICLESS_WORDS

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
    """Whether it has no fraction."""
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


_FAMILIES: Final[tuple[dict[str, float], ...]] = (
    {"ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600},
    {"day": 1, "week": 7},
    {"m": 1, "metre": 1, "meter": 1, "km": 1000, "kilometre": 1000, "kilometer": 1000, "mile": 1609.344, "mi": 1609.344},
    {"g": 1, "gram": 1, "kg": 1000, "kilo": 1000, "kilogram": 1000, "lb": 453.592, "pound": 453.592},
)
"""Units that are converted into each other, each by its size."""
_MONEY_UNITS: Final = frozenset(["dollar", "euro", "pound", "yen", "buck", "usd", "eur", "gbp"])
_MONEY_WORDS: Final = frozenset(["price", "cost", "amount", "paid", "spent", "budget", "fee", "salary", "total", "revenue"])
_RANGE: Final = re.compile(r"[Ff]rom (\d+(?:\.\d+)?)(?: \([^)]*\))? to (\d+(?:\.\d+)?)")
_COUNTED_PROPERTY: Final = frozenset(["quantity", "count", "number"])
_COUNTED_UNITS: Final = frozenset(["pair", "piece", "box", "bottle", "pack", "set", "copy", "unit", "item"])


def number_for(field: Property, quantities: Sequence[Quantity]) -> float | None:
    """The first number that is a value of a property, in its unit; None if no number plainly is.

    A number counts if its unit is a word of the property's name or of its description, or can be converted into one; if it is money and
    the property is; if it is on the scale that the description names ("From 1 to 10").
    """
    scale = _RANGE.search(field.description)
    low, high = (float(scale[1]), float(scale[2])) if scale else (None, None)
    for quantity in quantities:
        value = _converted(field, quantity, high)
        if value is None or (field.value_type == "int64" and not value.is_integer()):
            continue
        if low is not None and high is not None and not low <= value <= high:
            continue
        return value
    return None


def _converted(field: Property, quantity: Quantity, high: float | None) -> float | None:
    words = {singular(word) for word in name_words(field.name)}
    if quantity.out_of is not None:
        return quantity.value if high is not None and quantity.out_of == high else None
    if not quantity.unit:
        return None
    if quantity.unit in _MONEY_UNITS and words & _MONEY_WORDS:
        return quantity.value
    if words & _COUNTED_PROPERTY and quantity.unit in _COUNTED_UNITS:
        return quantity.value
    described = {singular(word) for word in re.findall(r"[a-z]{3,}", field.description.lower()) if word not in TOPICLESS_WORDS}
    for family in _FAMILIES:
        own = next((unit for unit in family if unit in words), None) or next((unit for unit in family if unit in described), None)
        if quantity.unit in family and own is not None:
            return round(quantity.value * family[quantity.unit] / family[own], 6)
    return quantity.value if quantity.unit in words else None
