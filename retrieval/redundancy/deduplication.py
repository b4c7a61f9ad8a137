"""Deduplicate: merges memories with the same content, so that a duplicate takes no rank and an update is not lost.

Two texts are duplicates if they have the same words in the same order, ignoring case, punctuation, and a few words that carry no fact. Any
other difference may be an update: a number, a negation, a tense, a name. Events with different dates are different events, whatever their
words, and each keeps its own score. So are the same words of a person on different days, since the compared text names the day on which
they were said ("I went to the dentist" may be two visits).
"""

from datetime import datetime

from memory.dates.event_date import days_of
from memory.records import Memory
from retrieval.redundancy.significant_words import significant_words
from retrieval.relevance.traits import traits_of
from retrieval.request import RecallHit

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
        rough = self._key(hit.memory, traits_of(hit.memory).telling)
        if rough not in self._shared:
            alone = self._kept.setdefault(rough, hit)
            if alone is hit:
                return
            # Words are compared only if the characters are equal.
            self._shared.add(rough)
            self._kept[self._key(alone.memory, significant_words(traits_of(alone.memory).text))] = self._kept.pop(rough)
        key = self._key(hit.memory, significant_words(traits_of(hit.memory).text))
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
    return _key_of(memory, significant_words(traits_of(memory).text), memory.date)


def _key_of(memory: Memory, text: tuple[str, ...] | bytes, when: object) -> DuplicateKey:
    return (memory.user, memory.kind, memory.type, memory.entity_key, when, text)


def recency(memory: Memory) -> tuple[datetime, int, str]:
    """Sort key of memories, oldest first."""
    return memory.event_time, memory.version, memory.id
