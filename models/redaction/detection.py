"""Finds personal data of well-defined forms in a text: by pattern, and by check digits where the form has them. Pure.

Names, addresses and other free text are not found: that needs a model.
"""

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from memory.redaction import RedactedKind, RedactionPolicy
from models.errors import ModelConfigurationError
from models.redaction.national_ids import is_national_id
from runtime.errors import missing_extra

_EMAIL: Final = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_IPV4: Final = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)")
_IPV6: Final = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_DIGITS: Final = re.compile(r"\d+")
_COUNTRY: Final = re.compile(r"[A-Za-z]{2}\d{2}")
_NUMBER: Final = re.compile(r"[A-Za-z0-9]+(?:[.+/-][A-Za-z0-9]+)*")
_MOST_WORDS: Final = 10
"""Limit of the words of an IBAN or a number."""
_LONGEST: Final = 48
_CARD: Final = re.compile(r"3\d{13,15}|4(?:\d{12}|\d{15}|\d{18})|2[2-7]\d{14}|5\d{12,18}|6\d{12,18}|8[12]\d{14}|9792\d{12}")
"""The first digits and lengths of card numbers. Times in milliseconds and book numbers have others."""


class Span(NamedTuple):
    """A piece of personal data in a text."""

    start: int
    end: int
    kind: RedactedKind


@dataclass(frozen=True, slots=True)
class Detector:
    """Finds the kinds of a policy.

    Args:
        policy: The kinds, and the country of telephone numbers without a country code.

    Raises:
        ModelConfigurationError: If the extra ``redaction`` is missing.
    """

    policy: RedactionPolicy

    def __post_init__(self) -> None:
        if self.policy.kinds:
            _library("phonenumbers")
            _library("stdnum.luhn")

    def spans(self, text: str) -> list[Span]:
        """The personal data of a text, in order, without overlaps: overlapping pieces are one, of the kind of the longest."""
        found = sorted(each for kind in sorted(self.policy.kinds) for each in _finders()[kind](text, self.policy.region))
        merged: list[Span] = []
        longest = 0
        for span in found:
            length = span.end - span.start
            if merged and span.start < merged[-1].end:
                last = merged.pop()
                kind = span.kind if length > longest else last.kind
                merged.append(Span(last.start, max(last.end, span.end), kind))
                longest = max(longest, length)
            else:
                merged.append(span)
                longest = length
        return merged


_Finder = Callable[[str, str | None], Iterable[Span]]


@cache
def _finders() -> dict[RedactedKind, _Finder]:
    return {
        "email": lambda text, _: _matches(_EMAIL, text, "email", lambda found: True),
        "phone": _phones,
        "iban": lambda text, _: _runs(text, _WORD, "iban", lambda start, end: _is_iban(text[start:end])),
        "card": lambda text, _: _runs(text, _DIGITS, "card", lambda start, end: _is_card(text[start:end])),
        "ip": lambda text, _: (*_matches(_IPV4, text, "ip", _is_address), *_matches(_IPV6, text, "ip", _is_address)),
        "national_id": lambda text, _: _runs(
            text, _NUMBER, "national_id", lambda start, end: is_national_id(text, start, end, library=_library)
        ),
    }


def _matches(pattern: re.Pattern[str], text: str, kind: RedactedKind, is_valid: Callable[[str], bool]) -> Iterator[Span]:
    for match in pattern.finditer(text):
        if is_valid(match[0]):
            yield Span(match.start(), match.end(), kind)


def _runs(text: str, word: re.Pattern[str], kind: RedactedKind, is_valid: Callable[[int, int], bool]) -> Iterator[Span]:
    """The longest valid run of words from each word, where one space or hyphen is between two words."""
    words = [(each.start(), each.end()) for each in word.finditer(text)]
    end_before = 0
    for first, (start, end) in enumerate(words):
        if start < end_before:
            continue
        ends = [end]
        for following, end in words[first + 1 : first + _MOST_WORDS]:
            if text[ends[-1] : following] not in (" ", "-") or end - start > _LONGEST:
                break
            ends.append(end)
        for end in reversed(ends):
            if is_valid(start, end):
                yield Span(start, end, kind)
                end_before = end
                break


def _phones(text: str, region: str | None) -> Iterator[Span]:
    library = _library("phonenumbers")
    if sum(map(str.isdigit, text)) < 7:
        return
    for match in library.PhoneNumberMatcher(text, region, leniency=library.Leniency.VALID):
        # The library takes a bracket before the number along.
        is_bracket = match.raw_string.startswith("(") and match.raw_string.count("(") > match.raw_string.count(")")
        yield Span(match.start + is_bracket, match.end, "phone")


def _is_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not address.is_unspecified


def _is_iban(text: str) -> bool:
    return _COUNTRY.match(text) is not None and _library("stdnum.iban").is_valid(text)


def _is_card(text: str) -> bool:
    digits = text.replace(" ", "").replace("-", "")
    return _CARD.fullmatch(digits) is not None and bool(_library("stdnum.luhn").is_valid(digits))


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelConfigurationError(missing_extra("a redaction of personal data", "redaction")) from error
