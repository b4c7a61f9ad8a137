"""Numbers in a text with their units, and the numeric properties that they are values of.

A number counts only if its value and its unit are plain. Ranges ("40-45 minutes"), bounds ("up to 5 km") and digits that may be read in two
ways ("1.500 euros") yield nothing, because no value is better than a wrong one.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extraction.offline.events.property_roles import name_words
from memory.dates.number_words import NUMBER_IN_WORDS, number_from_words
from memory.schema import Property
from memory.texts.prefiltered_patterns import Table, compiled
from memory.texts.words import TOPICLESS_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One number."""

    value: float
    is_whole: bool
    """Whether it has no fraction."""
    unit: str
    """The singular of the word after it, in lower case; ``percent`` or a currency's name for a sign; empty if there is none."""
    out_of: float | None = None
    """The best possible value: 10 in "9 out of 10"."""


def quantities_of(text: str) -> Iterator[Quantity]:
    """The numbers of a text in their order; number words only with a unit.

    Args:
        text: English. A comma before three digits separates thousands, before one or two digits decimals.
    """
    matches = ((order, match, read) for order, (form, read) in enumerate(_FORMS.possible(text)) for match in form.finditer(text))
    covered = 0
    for _, match, read in sorted(matches, key=lambda each: (each[1].start(), each[0])):
        if match.start() < covered or _is_inside_token(text, match.start()):
            continue
        covered = match.end()
        quantity = read(match)
        if quantity is not None:
            yield quantity


def _is_inside_token(text: str, start: int) -> bool:
    return start > 0 and text[start].isdigit() and (text[start - 1].isalnum() or text[start - 1] in "_.#")


_Reader = Callable[[re.Match[str]], Quantity | None]
_DIGITS: Final = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,]\d+)?)"
_COUNT: Final = rf"(?:{_DIGITS}|\b{NUMBER_IN_WORDS}\b)"
_HOURS: Final = r"(?:h|hrs?|hours?)\b\.?"
_MINUTES: Final = r"(?:m|mins?|minutes?)\b\.?"
_SECONDS: Final = r"(?:s|secs?|seconds?)\b\.?"
_HALVED: Final = r"(?:hour|minute|second|day|week|month|year|mile|kilomet(?:re|er)|km|litre|liter|kilo|pound|pint)"
_KILOMETRES_OF_RACES: Final = {"half": 21.0975, "whole": 42.195}
"""As the rules of athletics define them."""
_CURRENCIES: Final = {"$": "dollar", "€": "euro", "£": "gbp", "¥": "yen"}
_MULTIPLES: Final = {"k": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9, "thousand": 1e3}
_FRACTIONS: Final = {"¼": 0.25, "½": 0.5, "¾": 0.75}
_MAY_BE_NEGATIVE: Final = frozenset(["degree", "percent"])
_GROUPED_BY_DOT: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_BOUND: Final = compiled(
    r"\b(?:less|more|fewer|greater|longer|shorter|other) than|\bup to|\bat (?:least|most)|"
    r"\b(?:under|over|above|below|within|maximum|minimum|max|min|no|not|"
    r"every|each|per|last|next|first)",
    re.IGNORECASE,
)
_BOUND_BEFORE: Final = compiled(rf"(?:{_BOUND.pattern})\.?\s*$", re.IGNORECASE)
_DURATION_BEFORE: Final = compiled(r"\b(?:for|in|after|took|takes|within|about|lasted)\s*$", re.IGNORECASE)
_HEIGHT: Final = compiled(r"\b(?:tall|height|high|deep|wide|long)\b", re.IGNORECASE)
_LOOKED_BACK: Final = 20
_RAN: Final = r"\b(?:ran|run|jogged|finished|completed|did|walked)\s+(?:an?\s+|my\s+(?:first\s+)?|the\s+)?"


def _quantity(value: float, unit: str) -> Quantity:
    return Quantity(value=value, is_whole=float(value).is_integer(), unit=unit)


def _read_nothing(_match: re.Match[str]) -> None:
    return None


def _number(text: str, unit: str = "") -> float | None:
    """The value of digits or number words; None if they may be read in two ways.

    Args:
        text: The digits or words.
        unit: The unit after them. "1.500 m" are 1500 metres, because nobody measures metres to the millimetre.
    """
    text = text.strip()
    if not text[0].isdigit():
        value = 1 if text.lower() in ("a", "an") else number_from_words(text)
        return None if value is None else float(value)
    if _GROUPED_BY_DOT.fullmatch(text):
        return float(text.replace(".", "")) if unit in ("m", "metre", "meter") else None
    text = re.sub(r"\s", "", text)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text) and not text.startswith("0"):
        text = text.replace(",", "")
    value_of_digits = float(text.replace(",", "."))
    return value_of_digits if value_of_digits < _LARGEST else None


_LARGEST: Final = 1e15


def _read_score(match: re.Match[str]) -> Quantity | None:
    value, best = _number(match["score"]), _number(match["best"])
    if value is None or best is None:
        return None
    return Quantity(value=value, is_whole=value.is_integer(), unit="", out_of=best)


def _read_clock(match: re.Match[str]) -> Quantity | None:
    """``1:45:30`` is a duration, unless it is the time of day."""
    if re.search(
        r"\b(?:at|until|till|from|since|by)\s*$", match.string[max(0, match.start() - _LOOKED_BACK) : match.start()], re.IGNORECASE
    ):
        return None
    return _quantity(3600 * int(match["hours"]) + 60 * int(match["minutes"]) + int(match["seconds"]), "second")


def _read_short_clock(match: re.Match[str]) -> Quantity | None:
    """``1:30 hours``, ``5:20 min``. Without a unit it is mostly the time of day."""
    unit = (match["unit"] or "").lower()
    if not unit:
        return None
    seconds = 60 * int(match["large"]) + int(match["small"])
    return _quantity(seconds, "minute" if unit.startswith("h") else "second")


def _read_hours_and_minutes(match: re.Match[str]) -> Quantity | None:
    hours, minutes = _number(match["hours"]), _number(match["minutes"])
    return None if hours is None or minutes is None or minutes >= 60 else _quantity(60 * hours + minutes, "minute")


def _read_minutes_and_seconds(match: re.Match[str]) -> Quantity | None:
    minutes, seconds = _number(match["minutes"]), _number(match["seconds"])
    return None if minutes is None or seconds is None or seconds >= 60 else _quantity(60 * minutes + seconds, "second")


def _read_quarters(match: re.Match[str]) -> Quantity:
    return _quantity(60 * bool(match["hour"]) + (45 if match["three"] else 15), "minute")


def _read_fraction(match: re.Match[str]) -> Quantity | None:
    return _quantity(int(match["whole"] or 0) + int(match["part"]) / int(match["of"]), singular(match["unit"]))


def _read_half(match: re.Match[str]) -> Quantity | None:
    return _quantity(0.5, singular(match["unit"]))


def _read_and_a_half(match: re.Match[str]) -> Quantity | None:
    value = _number(match["number"], singular(match["unit"]))
    return None if value is None or not value.is_integer() else _quantity(value + 0.5, singular(match["unit"]))


def _read_race(match: re.Match[str]) -> Quantity:
    return _quantity(_KILOMETRES_OF_RACES["half" if match["half"] else "whole"], "km")


def _read_kilometres(match: re.Match[str]) -> Quantity | None:
    """``a 5k run``."""
    value = _number(match["digits"])
    return None if value is None else _quantity(value, "km")


def _read_money(match: re.Match[str]) -> Quantity | None:
    value = _number(match["digits"])
    if value is None or _BOUND_BEFORE.search(match.string[max(0, match.start() - _LOOKED_BACK) : match.start()]):
        return None
    return _quantity(value * _MULTIPLES.get((match["multiple"] or "").lower(), 1), _CURRENCIES[match["currency"]])


def _read_single(match: re.Match[str]) -> Quantity | None:
    unit = "percent" if match["percent"] else "degree" if match["degrees"] else singular(match["unit"] or "")
    if not unit and not match["digits"]:
        return None
    value = _number(match["digits"] or match["words"], unit)
    before = match.string[max(0, match.start() - _LOOKED_BACK) : match.start()]
    if value is None or match["more"] or _BOUND_BEFORE.search(before):
        return None
    if unit == "m" and (
        _DURATION_BEFORE.search(before) or (_GROUPED_BY_DOT.fullmatch(match["digits"] or "") and _HEIGHT.search(match.string))
    ):
        # "for 30m" are minutes.
        return None
    value = value * 1000 if match["thousands"] else value + _FRACTIONS.get(match["fraction"] or "", 0)
    if match["sign"] and unit not in _MAY_BE_NEGATIVE:
        return None
    return _quantity(-value if match["sign"] else value, unit)


_FORMS: Final = Table(
    (
        # Dates, versions, addresses of machines, phone numbers.
        (r"\d+(?:[./-]\d+){2,}|\+?\d{3,}(?:-\d{2,})+|\d+(?:\s*[x×]\s*\d+)+", _read_nothing),
        # Numbers as Germans write them, and rates.
        (r"\d{1,3}(?:\.\d{3})+,\d+", _read_nothing),
        (rf"{_DIGITS}\s*(?:k?m|miles?|min(?:ute)?s?|h|hours?|steps)\s*(?:/|\bper\b)\s*[a-z]+", _read_nothing),
        (rf"(?:\b(?P<whole>\d+)\s+)?(?P<part>[13])/(?P<of>[24])\s+(?:of an?\s+)?(?P<unit>{_HALVED})s?\b", _read_fraction),
        (r"\d+\s*(?:feet|foot|ft|')\s*\d+(?:\s*(?:inch(?:es)?|\"))?", _read_nothing),
        (rf"(?P<score>\d+(?:\.\d+)?|\b{NUMBER_IN_WORDS}\b)\s*(?:out of|/)\s*(?P<best>\d+|{NUMBER_IN_WORDS}\b)(?!/)", _read_score),
        (r"(?P<hours>\d{1,2}):(?P<minutes>[0-5]\d):(?P<seconds>[0-5]\d)(?![\d:])", _read_clock),
        (r"(?P<large>\d{1,3}):(?P<small>[0-5]\d)(?![\d:])(?:\s*(?P<unit>h|hrs?|hours?|min|mins|minutes?)\b)?", _read_short_clock),
        (rf"(?P<hours>{_COUNT}|\ban?)\s*(?:{_HOURS},?\s*(?:and\s+)?(?P<minutes>{_COUNT})\s*{_MINUTES})", _read_hours_and_minutes),
        (r"(?P<hours>\d{1,2})\s?h\s?(?P<minutes>[0-5]\d)(?:\s?m|\s?min)?\b", _read_hours_and_minutes),
        (rf"(?P<minutes>{_COUNT})\s*{_MINUTES},?\s*(?:and\s+)?(?P<seconds>{_COUNT})\s*{_SECONDS}", _read_minutes_and_seconds),
        (r"\b(?P<hour>an hour and )?(?:(?P<three>three[- ]quarters)|(?:a )?quarter)(?(hour)\b| of an hour\b)", _read_quarters),
        (rf"(?:\bfrom\s+)?{_DIGITS}\s*(?:[a-z%]+\.?)?\s*(?:[-–—]|\.\.)\s*[$€£]?{_DIGITS}(?:\s*[a-z%]+)?", _read_nothing),
        (rf"(?:\bfrom\s+)?(?:{_COUNT}|\ban?\b)\s*(?:[a-z%]+\.?)?\s+to\s+{_COUNT}(?:\s*[a-z%]+)?", _read_nothing),
        (rf"(?:{_COUNT}k?|\ban?\b)\s+or\s+{_COUNT}(?:\s*[a-z%]+)?", _read_nothing),
        (rf"\bbetween\s+{_COUNT}\s*(?:[a-z%]+\s+)?and\s+{_COUNT}(?:\s*[a-z%]+)?", _read_nothing),
        (
            r"\b(?:a )?half[- ](?:an?[- ])?"
            rf"(?P<unit>{_HALVED})s?\b",
            _read_half,
        ),
        (rf"(?P<number>{_COUNT}|\ban?)\s+and\s+a\s+half\s+(?P<unit>[a-z]+)", _read_and_a_half),
        (rf"(?P<number>{_COUNT}|\ban?)\s+(?P<unit>[a-z]+)\s+and\s+a\s+half\b", _read_and_a_half),
        (
            rf"{_RAN}(?P<half>half[- ])?marathon\b(?!\s+(?:training|runner|plan|of))",
            _read_race,
        ),
        (rf"(?P<digits>{_DIGITS})\s?k\b(?=\s+(?:run|race|jog|walk|ride|swim|row|hike|loop)\b)", _read_kilometres),
        (rf"{_RAN}(?P<digits>{_DIGITS})\s?k\b", _read_kilometres),
        (rf"(?P<currency>[$€£¥])\s?(?P<digits>{_DIGITS})(?:\s?(?P<multiple>k|m|mn|bn|million|billion|thousand)\b)?", _read_money),
        (
            rf"(?P<sign>(?<![\w)%])[-−]|\bminus\s+)?(?:(?P<digits>{_DIGITS})(?P<fraction>[¼½¾])?(?P<thousands>k\b)?|\b(?P<words>{NUMBER_IN_WORDS}|an?)\b)"
            r"(?:\s*(?P<percent>%)|\s*(?P<degrees>°)\s*[CF]?\b|\s*(?P<more>\+)|(?:[\s-]+|(?=[a-z]))(?P<unit>[a-z]+))?",
            _read_single,
        ),
    ),
    re.IGNORECASE,
)


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
    """The number that is a value of a property, in its unit; None if no number plainly is, or if several different numbers are.

    A number counts if its unit is a word of the property's name or of its description, or can be converted into one; if it is money and
    the property is; if it is on the scale that the description names ("From 1 to 10").
    """
    scale = _RANGE.search(field.description)
    low, high = (float(scale[1]), float(scale[2])) if scale else (None, None)
    values = set()
    for quantity in quantities:
        value = _converted(field, quantity, high)
        if value is None or (field.value_type == "int64" and not value.is_integer()):
            continue
        if low is None or high is None or low <= value <= high:
            values.add(value)
    return values.pop() if len(values) == 1 else None


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
