"""BM25 as sparse vectors: terms and their weights, without the inverse document frequency, which the engine computes per tenant.

The score of a document D for a query Q (Robertson and Zaragoza 2009, section 3.4) is the sum over the terms t of
``IDF(t) * tf(t, Q) * tf(t, D) * (k1 + 1) / (tf(t, D) + k1 * (1 - b + b * |D| / avgdl))``. The weight of a term in the query is
``tf(t, Q)``; its weight in the document is the rest without the IDF. The engine multiplies both weights and the IDF,
``ln(1 + (N - n + 0.5) / (n + 0.5))``: N is the number of the tenant's points that have terms, n the number of those with this term.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from memory.texts.terms import length_of, terms_of, words_of

K1: Final = 1.2
B: Final = 0.75
AVERAGE_LENGTH: Final = 20.0
"""avgdl, in terms. It is a constant: a true mean would change every stored weight with every new memory."""

ANALYZER_VERSION: Final = 4
"""Version of the rules of :func:`memory.texts.terms.terms_of`. Raise it when they change: documents and queries need the same analysis, so
a store of another version is refused."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A sparse vector: term numbers (32 bits, ascending, unique) and their weights."""

    indices: list[int]
    values: list[float]


def searched_text(content: str, keywords: Iterable[str], source_text: str | None = None) -> str:
    """The indexed text of a memory: its content, the keywords that the content lacks, and the words of its message that add terms.

    Args:
        content: The memory's content.
        keywords: The memory's keywords.
        source_text: The text of its first message, if the content is another text.
    """
    folded = content.casefold()
    text = " ".join((content, *(keyword for keyword in keywords if keyword.casefold() not in folded)))
    return text if source_text is None else " ".join((text, *_additional_words(text, source_text)))


def _additional_words(text: str, source_text: str) -> Iterator[str]:
    """The words of the source text that add a term to the text, each once."""
    known = set(terms_of(text))
    for word in words_of(source_text):
        terms = set(terms_of(word))
        if not terms <= known:
            known |= terms
            yield word


def document_terms(text: str) -> Terms:
    """The term weights of a stored text: saturated, and normalised by length."""
    counts = Counter(terms_of(text))
    length = counts.total() if text.isascii() else length_of(counts)
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return _sparse({term: count * (K1 + 1) / (count + norm) for term, count in counts.items()})


def query_terms(text: str) -> Terms:
    """The term weights of a query: the number of times that the query contains each term."""
    return _sparse({term: float(count) for term, count in Counter(terms_of(text)).items()})


def _sparse(weights: dict[str, float]) -> Terms:
    numbered: dict[int, float] = {}
    for term, weight in weights.items():
        number = crc32(term.encode("utf-8", "surrogatepass"))
        numbered[number] = numbered.get(number, 0.0) + weight
    return Terms(indices := sorted(numbered), [numbered[each] for each in indices])
