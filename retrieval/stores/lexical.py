"""BM25 as sparse vectors: terms and their weights, without the inverse document frequency, which the engine takes per tenant.

The score of a document D for a query Q (Robertson and Zaragoza 2009, section 3.4) is the sum over the terms t of
``IDF(t) * tf(t, Q) * tf(t, D) * (k1 + 1) / (tf(t, D) + k1 * (1 - b + b * |D| / avgdl))``. The last factor is the document's weight of
a term, the one before it the query's. The engine multiplies both, and the IDF, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, over the N points
of the tenant that have terms at all, n of which have this one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final
from zlib import crc32

from memory.text import RUN_WITHOUT_SPACES
from memory.words import LONGEST_KEPT_WORD, STOP_WORDS, stem

K1: Final = 1.2
B: Final = 0.75
AVERAGE_LENGTH: Final = 20.0
"""avgdl, in terms. A constant, since a true mean would change every stored weight with every new memory; only b's part depends on it."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_APOSTROPHE: Final = re.compile(r"['’]")

ANALYZER_VERSION: Final = 2
"""Of the rules of :func:`terms_of`. Raise it when they change: documents and queries have to be analysed alike, so a store whose points
have terms of another version is refused."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A sparse vector: term numbers (32 bits, ascending, none twice) and their weights."""

    indices: list[int]
    values: list[float]


def searched_text(content: str, keywords: Iterable[str], said: str | None = None) -> str:
    """What a memory is found by: its content, those of its keywords that the content does not spell out, and further words of its message.

    Args:
        content: The memory's.
        keywords: Likewise.
        said: What its first message says, if its content is another text.
    """
    folded = content.casefold()
    text = " ".join((content, *(keyword for keyword in keywords if keyword.casefold() not in folded)))
    return text if said is None else " ".join((text, *_further_words(text, said)))


def _further_words(text: str, said: str) -> Iterator[str]:
    """The words of what was said that bring a term the text lacks, each once."""
    known = set(terms_of(text))
    for word in _WORD.findall(said):
        terms = set(terms_of(word))
        if not terms <= known:
            known |= terms
            yield word


def document_terms(text: str) -> Terms:
    """The weights of a stored text's terms: saturated and normalised by length, as the module says."""
    counts = Counter(terms_of(text))
    norm = K1 * (1 - B + B * counts.total() / AVERAGE_LENGTH)
    return _sparse({term: count * (K1 + 1) / (count + norm) for term, count in counts.items()})


def query_terms(text: str) -> Terms:
    """The weights of a query's terms: how often the query has each."""
    return _sparse({term: float(count) for term, count in Counter(terms_of(text)).items()})


def terms_of(text: str) -> Iterator[str]:
    """The terms of a text, in order, with repeats.

    Words are folded (case, accents, compatibility forms), stop words are dropped, of English words the stem counts. Runs of scripts that
    are written without spaces (Chinese, Japanese, Thai, ...) give their overlapping pairs of characters.
    """
    return chain.from_iterable(map(_terms_of_word, _WORD.findall(_folded(text))))


def _terms_of_word(word: str) -> tuple[str, ...]:
    """A run without spaces is a clause, which hardly comes twice, and has a term for each character: kept, they would fill the memory."""
    is_kept = len(word) <= LONGEST_KEPT_WORD and (word.isascii() or not RUN_WITHOUT_SPACES.search(word))
    return _kept_terms_of_word(word) if is_kept else _cut(word)


@lru_cache(maxsize=65_536)
def _kept_terms_of_word(word: str) -> tuple[str, ...]:
    """A few thousand words are most of what is said: kept, a text of them is read in a third of the time."""
    return _cut(word)


def _cut(word: str) -> tuple[str, ...]:
    terms: list[str] = []
    end = 0
    for run in RUN_WITHOUT_SPACES.finditer(word):
        terms += _term(word[end : run.start()])
        characters = run.group()
        terms += (characters[start : start + 2] for start in range(max(1, len(characters) - 1)))
        end = run.end()
    return (*terms, *_term(word[end:]))


def _term(word: str) -> Iterator[str]:
    bare = _APOSTROPHE.split(word, maxsplit=1)[0]
    if bare and bare not in STOP_WORDS:
        yield stem(bare)


def _folded(text: str) -> str:
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", "".join(each for each in decomposed if not "\u0300" <= each <= "\u036f"))


def _sparse(weights: dict[str, float]) -> Terms:
    numbered: dict[int, float] = {}
    for term, weight in weights.items():
        number = crc32(term.encode("utf-8", "surrogatepass"))
        numbered[number] = numbered.get(number, 0.0) + weight
    return Terms(indices := sorted(numbered), [numbered[each] for each in indices])
