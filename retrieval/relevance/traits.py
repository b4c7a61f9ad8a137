"""The traits of a memory that the steps of a recall use and that do not depend on the query: they are computed once for each memory."""

import re
import weakref
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memory.records import Memory
from memory.records.wording import attributed_text, further_indexed_text, indexed_text
from memory.texts.language import is_foreign
from memory.texts.scripts import INSIDE_WORD
from memory.texts.terms import NAME_MARK, length_of, terms_of, terms_of_name, with_marked_names
from memory.texts.words import STOP_WORDS
from retrieval.redundancy.significant_words import telling_characters
from retrieval.redundancy.statement_forms import may_correct
from runtime.sized_cache import sized_cache
from stores.lexical_analysis import searched_text

TERM_COLUMNS: Final = 1024
"""Columns that terms are hashed to. A session has some hundred terms, so few share a column."""
_SUBJECT: Final = re.compile(rf"^([^\W\d_][\w.'’{INSIDE_WORD}-]*)")
_WORD: Final = re.compile(rf"[^\W\d_][\w.'’{INSIDE_WORD}-]*")
_NAME: Final = re.compile(r"\b[^\W\d_a-zß-öø-ÿ][^\W\d_]{3,}\b")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_WORDS_CACHED_BYTES: Final = 10_000_000
"""4,400 sentences. The words of memories are kept in their traits."""


class Traits:
    """The traits of one memory. Those that few recalls use are computed when they are first used."""

    def __init__(self, memory: Memory) -> None:
        self.text: str = indexed_text(memory)
        self.evidence: tuple[str, ...] = tuple(memory.message_ids)
        """The ids of its source messages."""
        self.terms: Mapping[str, int] = Counter(terms_of(searched_text(self.text, memory.keywords, further_indexed_text(memory))))
        """The terms of its :func:`stores.lexical_analysis.searched_text` with their counts, as in BM25."""
        self.number_of_terms: int = length_of(self.terms)
        name = _subject(self.text)
        self.subject: str = name.casefold()
        """The name at the start of its text, case-folded. Empty if the text begins with another word."""
        self.subject_terms: frozenset[str] = frozenset(terms_of_name(name))
        self.is_question: bool = _is_question(self.text)
        self.telling: bytes = telling_characters(self.text)
        """See :func:`retrieval.redundancy.significant_words.telling_characters`."""
        shown = attributed_text(memory)
        self.telling_shown: bytes = self.telling if shown == self.text else telling_characters(shown)
        """The same of its :func:`memory.records.wording.attributed_text`."""
        # An entity may name everybody whom the user knows.
        self._any_word_may_name = memory.kind == "event" and not name
        self._content = memory.content
        self._properties: Mapping[str, Any] = memory.properties

    @cached_property
    def lines(self) -> tuple[tuple[str, bytes], ...]:
        """The lines of its properties, each with its telling characters."""
        return tuple((line, telling_characters(line)) for line in lines_of(self._properties))

    @cached_property
    def words(self) -> frozenset[str]:
        """See :func:`words_in`."""
        return _words_in(self.text)

    @cached_property
    def term_columns(self) -> NDArray[np.uint16]:
        """The columns of its terms in a table of :data:`TERM_COLUMNS` columns (feature hashing, Weinberger et al. 2009)."""
        return np.array([zlib.crc32(term.encode()) % TERM_COLUMNS for term in self.terms], dtype=np.uint16)

    @cached_property
    def names(self) -> frozenset[str]:
        """Its words of at least four letters that begin with a capital."""
        return frozenset(_NAME.findall(self.text))

    @cached_property
    def may_correct(self) -> bool:
        """See :func:`retrieval.redundancy.statement_forms.may_correct`."""
        return may_correct(self._content)

    @cached_property
    def is_foreign(self) -> bool:
        """Whether its content is certainly not English (:func:`memory.texts.language.is_foreign`)."""
        return is_foreign(self._content)

    def may_be_about(self, asked: frozenset[str]) -> bool:
        """Whether it may be about one of these case-folded names: its subject, or if it is an event without one, any of its words."""
        return not asked.isdisjoint(self.words) if self._any_word_may_name else self.subject in asked


_TRAITS: Final[dict[int, tuple[Traits, weakref.ref[Memory]]]] = {}
"""By the identity of living memories. Looking up their texts instead would take ten times as long."""


def traits_of(memory: Memory) -> Traits:
    """The traits of a memory. They are kept as long as this object, whose owner bounds their number: :func:`stores.points.memory_of`."""
    key = id(memory)
    kept = _TRAITS.get(key)
    if kept is not None:
        return kept[0]
    traits = Traits(memory)
    # A memory's identity is used again only after this callback.
    _TRAITS[key] = traits, weakref.ref(memory, lambda _: _TRAITS.pop(key, None))
    return traits


def lines_of(properties: Mapping[str, Any]) -> Iterator[str]:
    """The lines of all texts in the properties of a memory."""
    for value in properties.values():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                yield from text.splitlines()


def subject_terms_of(traits: Iterable[Traits]) -> frozenset[str]:
    """The terms of the subjects of some memories."""
    return frozenset[str]().union(*(each.subject_terms for each in traits if each.subject_terms))


@sized_cache(most_bytes=_WORDS_CACHED_BYTES, entry_bytes=500, growth=18)
def words_in(text: str) -> frozenset[str]:
    """The case-folded words of a text. Words with an apostrophe or a full stop are also included without it."""
    return _words_in(text)


def _words_in(text: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(text.casefold().replace("’", "'")))
    # Few words have any: this halves the time.
    marked = [word for word in words if not word.isalnum()]
    return words.union(*((word.rstrip("."), _POSSESSIVE.sub("", word)) for word in marked)) if marked else words


def _subject(content: str) -> str:
    """The name at the start of a text: its speaker or its subject. Empty if the text begins with another word."""
    found = _SUBJECT.match(content)
    if found is None or not found[1][0].isupper():
        return ""
    name = _POSSESSIVE.sub("", found[1]).replace("’", "'")
    if name.casefold() in STOP_WORDS and not with_marked_names(content).startswith(name + NAME_MARK):
        return ""
    return name


def _is_question(content: str) -> bool:
    """Whether a text ends in a question mark, apart from a part in brackets."""
    text = content.rstrip()
    while text.endswith((")", "]")):
        depth = 0
        for index in range(len(text) - 1, -1, -1):
            depth += (text[index] in ")]") - (text[index] in "([")
            if depth == 0:
                break
        if depth or index == 0:
            break
        text = text[:index].rstrip()
    return text.endswith(("?", "？"))
