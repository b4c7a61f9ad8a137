"""Replaces personal data by placeholders, and puts it back. Pure."""

import re
from collections.abc import Callable
from itertools import count
from typing import Final

from models.redaction.detection import Detector

_PLACEHOLDER: Final = re.compile(r"\[(EMAIL|PHONE|IBAN|CARD|IP|NATIONAL_ID)_(\d{1,9})\]")
LONGEST_PLACEHOLDER: Final = len("[NATIONAL_ID_999999999]")


class Placeholders:
    """The numbered placeholders of one request: equal originals have equal placeholders.

    Args:
        detector: Finds the personal data.
        texts: All texts of the request: a number that one of them has already is not used.
    """

    def __init__(self, detector: Detector, texts: list[str]) -> None:
        self._detector = detector
        taken = frozenset(int(match[2]) for text in texts for match in _PLACEHOLDER.finditer(text))
        # The least free numbers: after the largest one that a text can have, none would be read as a placeholder.
        self._numbers = (number for number in count(1) if number not in taken)
        self._by_original: dict[tuple[str, str], str] = {}
        self._originals: dict[str, str] = {}

    def redacted(self, text: str) -> str:
        """The text with placeholders."""
        return _replaced(text, self._detector, self._placeholder)

    def restored(self, text: str) -> str:
        """A text with the originals of the placeholders that this request has."""
        return _PLACEHOLDER.sub(lambda match: self._originals.get(match[0], match[0]), text)

    def _placeholder(self, original: str, kind: str) -> str:
        known = self._by_original.get((original, kind))
        if known is None:
            known = self._by_original[original, kind] = f"[{kind.upper()}_{next(self._numbers)}]"
            self._originals[known] = original
        return known


def without_personal_data(text: str, detector: Detector) -> str:
    """The text with placeholders that have no number, so that originals of one kind are equal."""
    return _replaced(text, detector, lambda _, kind: f"[{kind.upper()}]")


def _replaced(text: str, detector: Detector, placeholder: Callable[[str, str], str]) -> str:
    parts, end = [], 0
    for span in detector.spans(text):
        parts += [text[end : span.start], placeholder(text[span.start : span.end], span.kind)]
        end = span.end
    return "".join((*parts, text[end:]))
