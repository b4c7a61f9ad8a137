"""Untrusted text on a terminal: nothing in it moves the cursor or changes the reading direction."""

import unicodedata
from typing import Final

_KEPT: Final = frozenset("\n\t\u200c\u200d")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories: controls, formats (such as direction overrides and zero-width characters), surrogates, line separators."""


def visible(text: str) -> str:
    r"""Escapes each character that a terminal would act on, in the form of JSON: ``\u001b``.

    Line breaks and tabs stay, and the joiners of scripts and emoji.
    """
    if text.isprintable():
        return text
    return "".join(each if each in _KEPT or unicodedata.category(each) not in _HIDDEN else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    encoded = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(encoded[at : at + 2], 'big'):04x}" for at in range(0, len(encoded), 2))
