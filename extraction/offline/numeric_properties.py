"""Numbers of a text as the values of a type's numeric properties, where unit, scale or name say that they are meant."""

import re
from collections.abc import Sequence
from typing import Final

from extraction.offline.meanings import name_words
from extraction.offline.quantities import Quantity, singular
from extraction.offline.stopwords import STOPWORDS
from memory.schema import Property

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


def number_for(wanted: Property, quantities: Sequence[Quantity]) -> float | None:
    """The first number that is meant for a property; None where no number plainly is.

    It is meant where its unit is a word of the property's name or of the unit that its description gives, or can be converted into it;
    where it is money and the property is; where it lies on the scale that the description names ("From 1 to 10").
    """
    scale = _RANGE.search(wanted.description)
    low, high = (float(scale[1]), float(scale[2])) if scale else (None, None)
    for quantity in quantities:
        value = _as_meant(wanted, quantity, high)
        if value is None or (wanted.value_type == "int64" and not value.is_integer()):
            continue
        if low is not None and high is not None and not low <= value <= high:
            continue
        return value
    return None


def _as_meant(wanted: Property, quantity: Quantity, high: float | None) -> float | None:
    words = {singular(word) for word in name_words(wanted.name)}
    if quantity.out_of is not None:
        return quantity.value if high is not None and quantity.out_of == high else None
    if not quantity.unit:
        return None
    if quantity.unit in _MONEY_UNITS and words & _MONEY_WORDS:
        return quantity.value
    if words & _COUNTED_PROPERTY and quantity.unit in _COUNTED_UNITS:
        return quantity.value
    described = {singular(word) for word in re.findall(r"[a-z]{3,}", wanted.description.lower()) if word not in STOPWORDS}
    for family in _FAMILIES:
        own = next((unit for unit in family if unit in words), None) or next((unit for unit in family if unit in described), None)
        if quantity.unit in family and own is not None:
            return round(quantity.value * family[quantity.unit] / family[own], 6)
    return quantity.value if quantity.unit in words else None
