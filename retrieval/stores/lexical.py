"""BM25 as sparse vectors: terms and their weights, without the inverse document frequency, which the engine takes per tenant.

The score of a document D for a query Q (Robertson and Zaragoza 2009, section 3.4) is the sum over the terms t of
``IDF(t) * tf(t, Q) * tf(t, D) * (k1 + 1) / (tf(t, D) + k1 * (1 - b + b * |D| / avgdl))``. The last factor is the document's weight of
a term, the one before it the query's. The engine multiplies both, and the IDF, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, over the N points
of the tenant that have terms at all, n of which have this one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from zlib import crc32

from memory.unicode_scripts import RUN_WITHOUT_SPACES

K1: Final = 1.2
B: Final = 0.75
AVERAGE_LENGTH: Final = 20.0
"""avgdl, in terms. A constant, since a true mean would change every stored weight with every new memory; only b's part depends on it."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

_FUNCTION_WORDS: Final = """
a about above after again all also am an and any are as at be because been before being below between both but by can could did do
does doing down during each few for from further had has have having he her here hers herself him himself his how i if in into is
it its itself just me more most my myself no nor not now of off on once only or other our ours ourselves out over own same she
should so some such than that the their theirs them themselves then there these they this those through to too under until up very
was we were what when where which while who whom why will with would you your yours yourself yourselves
"""
STOP_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
"""English function words. They are dropped alike from documents and queries; a text of nothing else has no terms."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A sparse vector: term numbers (32 bits, ascending, none twice) and their weights."""

    indices: list[int]
    values: list[float]


def document_terms(text: str) -> Terms:
    """The weights of a stored text's terms: saturated and normalised by length, as the module says."""
    counts = Counter(terms_of(text))
    norm = K1 * (1 - B + B * counts.total() / AVERAGE_LENGTH)
    return _sparse({term: count * (K1 + 1) / (count + norm) for term, count in counts.items()})


def query_terms(text: str) -> Terms:
    """The weights of a query's terms: how often each is asked for."""
    return _sparse({term: float(count) for term, count in Counter(terms_of(text)).items()})


def terms_of(text: str) -> Iterator[str]:
    """The terms of a text, in order, with repeats.

    Words are folded (case, accents, compatibility forms), function words are dropped, English endings are cut. Runs of scripts that
    are written without spaces (Chinese, Japanese, Thai, ...) give their overlapping pairs of characters.
    """
    for match in _WORD.finditer(_folded(text)):
        yield from _terms_of_word(match.group())


def _terms_of_word(word: str) -> Iterator[str]:
    end = 0
    for run in RUN_WITHOUT_SPACES.finditer(word):
        yield from _term(word[end : run.start()])
        characters = run.group()
        yield from (characters[place : place + 2] for place in range(max(1, len(characters) - 1)))
        end = run.end()
    yield from _term(word[end:])


def _term(word: str) -> Iterator[str]:
    bare = re.split(r"['’]", word, maxsplit=1)[0]
    if bare and bare not in STOP_WORDS:
        yield _stem(bare)


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", "".join(each for each in decomposed if not "\u0300" <= each <= "\u036f"))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Cuts the endings of English plurals and of ``-ed`` and ``-ing`` forms, so that forms of one word meet."""
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("es") and word[:-2].endswith(("s", "x", "z", "ch", "sh")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word[: -len(ending)]
        if word.endswith(ending) and len(root) >= 3 and re.search(r"[aeiouy]", root):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    return word.removesuffix("e")


def _sparse(weights: dict[str, float]) -> Terms:
    numbered: dict[int, float] = {}
    for term, weight in weights.items():
        number = crc32(term.encode("utf-8", "surrogatepass"))
        numbered[number] = numbered.get(number, 0.0) + weight
    return Terms(indices := sorted(numbered), [numbered[each] for each in indices])
