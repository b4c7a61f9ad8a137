"""Deduplicate: merges memories with the same content, so that a duplicate takes no rank and an update is not lost.

Two texts are duplicates if they have the same words in the same order, ignoring case, punctuation, and a few words that carry no fact. Any
other difference may be an update: a number, a negation, a tense, a name. Events with different dates are different events, whatever their
words, and each keeps its own score.
"""

import re
import string
import unicodedata
from datetime import datetime
from typing import Final

from memory.dates.event_date import days_of
from memory.records import Memory
from memory.records.wording import indexed_text
from retrieval.request import RecallHit
from runtime.sized_cache import sized_cache

_WEIGHTLESS: Final = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "and", "so", "also", "just", "really", "very", "quite", "well", "oh")
)
_WORD: Final = re.compile(r"\w+(?:[.,:/'’-]\w+)*|[^\w\s.,;:!?\"'’()\[\]…–—-]|(?<!\w)-(?=\d)")

_CACHED_BYTES: Final = 12_000_000
"""8,000 sentences."""

_TELLING: Final = frozenset(string.ascii_lowercase + string.digits) - frozenset("".join(_WEIGHTLESS))
"""Characters that occur in no weightless word, and in a text only within words."""
_NOT_TELLING: Final = bytes(code for code in range(128) if chr(code) not in _TELLING)

DuplicateKey = tuple[str | None, str, str, str | None, object, tuple[str, ...] | bytes]


class Deduplication:
    """Keeps the newest of duplicate memories, with the best score and the evidence of all.

    Args:
        by_day: Whether memories of different days are never duplicates. Needed if the query asks for a time: then a memory of the
            requested day scores higher than one with the same words from another day.
    """

    def __init__(self, *, by_day: bool = False) -> None:
        self._by_day = by_day
        self._kept: dict[DuplicateKey, RecallHit] = {}
        self._left_out: dict[str, DuplicateKey] = {}
        self._shared: set[DuplicateKey] = set()

    def add(self, hit: RecallHit) -> None:
        """Adds a hit."""
        rough = self._key(hit.memory, telling_characters(indexed_text(hit.memory)))
        if rough not in self._shared:
            alone = self._kept.setdefault(rough, hit)
            if alone is hit:
                return
            # Words are compared only if the characters are equal.
            self._shared.add(rough)
            self._kept[self._key(alone.memory, significant_words(indexed_text(alone.memory)))] = self._kept.pop(rough)
        key = self._key(hit.memory, significant_words(indexed_text(hit.memory)))
        other = self._kept.setdefault(key, hit)
        if other is hit:
            return
        newer, older = (hit, other) if recency(hit.memory) > recency(other.memory) else (other, hit)
        scores = dict(zip(newer.evidence, newer.evidence_scores, strict=True))
        for message, score in zip(older.evidence, older.evidence_scores, strict=True):
            scores[message] = max(score, scores.get(message, score))
        evidence = sorted(scores, key=lambda message: -scores[message])
        # The words are the same, so the better score also applies to the newer memory; its parts explain it.
        best = newer if newer.score >= older.score else older
        self._kept[key] = newer._replace(
            score=best.score,
            parts=best.parts,
            ranks=best.ranks,
            evidence=tuple(evidence),
            evidence_scores=tuple(scores[each] for each in evidence),
        )
        self._left_out[older.memory.id] = key

    def _key(self, memory: Memory, text: tuple[str, ...] | bytes) -> DuplicateKey:
        return _key_of(memory, text, days_of(memory.event_time, memory.date) if self._by_day else memory.date)

    @property
    def left_out(self) -> dict[str, RecallHit]:
        """By the id of each dropped duplicate, the hit that was kept."""
        return {memory_id: self._kept[key] for memory_id, key in self._left_out.items()}

    def ranked(self) -> list[RecallHit]:
        """The kept hits, best first."""
        return sorted(self._kept.values(), key=lambda hit: (-hit.score, hit.memory.id))


def duplicate_key(memory: Memory) -> DuplicateKey:
    """A key that is equal for duplicates: memories of one user, kind, type, entity and date, with the same words."""
    return _key_of(memory, significant_words(indexed_text(memory)), memory.date)


def _key_of(memory: Memory, text: tuple[str, ...] | bytes, when: object) -> DuplicateKey:
    return (memory.user, memory.kind, memory.type, memory.entity_key, when, text)


@sized_cache(most_bytes=_CACHED_BYTES, entry_bytes=300, growth=10)
def significant_words(text: str) -> tuple[str, ...]:
    """The case-folded words of a text that carry its fact, in their order; all words if none does."""
    words = _WORD.findall(_folded(text))
    significant = tuple([word for word in words if word not in _WEIGHTLESS])
    return significant or tuple(words)


def telling_characters(text: str) -> bytes:
    """Characters that are equal for texts with equal significant words, and for few others; computed in a tenth of the time."""
    return _folded(text).encode("ascii", "ignore").translate(None, _NOT_TELLING)


def _folded(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def recency(memory: Memory) -> tuple[datetime, int, str]:
    """Sort key of memories, oldest first."""
    return memory.event_time, memory.version, memory.id
