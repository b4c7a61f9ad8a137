"""The terms of stores that were written by analyzer 2, which cut words at vowel signs and knew no word behind an elided article.

A query of such a store has them beside its own, so that what lies there is found as before. Both go with the next raise of
``VECTORS_VERSION``, which refuses these stores.
"""

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import normalize

from memory.words import STOP_WORDS, stem

FORMER_ANALYZER_VERSION: Final = 2

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_RUN: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


def former_terms_of(text: str) -> Iterator[str]:
    """The terms of a text, in order, with repeats."""
    decomposed = normalize("NFKD", text.casefold())
    for word in _WORD.findall(normalize("NFKC", "".join(each for each in decomposed if not "\u0300" <= each <= "\u036f"))):
        end = 0
        for found in _RUN.finditer(word):
            yield from _term(word[end : found.start()])
            run = found.group()
            yield from (run[start : start + 2] for start in range(max(1, len(run) - 1)))
            end = found.end()
        yield from _term(word[end:])


def _term(word: str) -> Iterator[str]:
    bare = word.replace("’", "'").partition("'")[0]
    if bare and bare not in STOP_WORDS:
        yield stem(bare)
