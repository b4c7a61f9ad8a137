"""BM25 as sparse vectors: terms and their weights, without the inverse document frequency, which the engine takes per tenant.

The score of a document D for a query Q (Robertson and Zaragoza 2009, section 3.4) is the sum over the terms t of
``IDF(t) * tf(t, Q) * tf(t, D) * (k1 + 1) / (tf(t, D) + k1 * (1 - b + b * |D| / avgdl))``. The last factor is the document's weight of
a term, the one before it the query's. The engine multiplies both, and the IDF, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, over the N points
of the tenant that have terms at all, n of which have this one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from memory.terms import length_of, terms_of, words_of
from stores.former_terms import former_terms_of

K1: Final = 1.2
B: Final = 0.75
AVERAGE_LENGTH: Final = 20.0
"""avgdl, in terms. A constant, since a true mean would change every stored weight with every new memory; only b's part depends on it."""

ANALYZER_VERSION: Final = 3
"""Of the rules of :func:`memory.terms.terms_of`. Raise it when they change: documents and queries have to be analysed alike, so
a store whose points have terms of another version is refused, or asked by its own, too (:mod:`stores.former_terms`)."""


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
    for word in words_of(said):
        terms = set(terms_of(word))
        if not terms <= known:
            known |= terms
            yield word


def document_terms(text: str) -> Terms:
    """The weights of a stored text's terms: saturated and normalised by length, as the module says."""
    counts = Counter(terms_of(text))
    length = counts.total() if text.isascii() else length_of(counts)
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return _sparse({term: count * (K1 + 1) / (count + norm) for term, count in counts.items()})


def query_terms(text: str, *, analyzer: int = ANALYZER_VERSION) -> Terms:
    """The weights of a query's terms: how often the query has each.

    Args:
        text: The query's.
        analyzer: The version that the store began with: of an older one it may have points that only former terms find.
    """
    counts = Counter(terms_of(text))
    if analyzer < ANALYZER_VERSION:
        counts |= Counter(former_terms_of(text))
    return _sparse({term: float(count) for term, count in counts.items()})


def _sparse(weights: dict[str, float]) -> Terms:
    numbered: dict[int, float] = {}
    for term, weight in weights.items():
        number = crc32(term.encode("utf-8", "surrogatepass"))
        numbered[number] = numbered.get(number, 0.0) + weight
    return Terms(indices := sorted(numbered), [numbered[each] for each in indices])
