"""What became of each candidate of a recall: for ``why_not``, and for ``explain``."""

from collections.abc import Mapping, Sequence

from retrieval.recall.request import Fate, RecallHit, RecallResponse
from retrieval.stores.port import ScoredMemory


def fates_of(
    *, rejected: Sequence[ScoredMemory], ranked: Sequence[RecallHit], duplicates: Mapping[str, RecallHit], limit: int
) -> dict[str, Fate]:
    """By the ids of the candidates.

    Args:
        rejected: Those below the threshold.
        ranked: Those that were ranked, best first.
        duplicates: By the id of each candidate that was left out as a duplicate, the hit that was kept.
        limit: How many were returned.
    """
    fates = {each.memory.id: Fate(outcome="below_threshold", score=each.score) for each in rejected}
    for rank, hit in enumerate(ranked, start=1):
        fates[hit.memory.id] = Fate(outcome="returned" if rank <= limit else "rank", score=hit.score, rank=rank)
    for memory_id, kept in duplicates.items():
        fates[memory_id] = Fate(outcome="duplicate", score=kept.score, of=kept.memory.id)
    return fates


def nothing_relevant(candidates: Sequence[ScoredMemory], confidence: float | None, *, trace: bool) -> RecallResponse:
    """The answer of a recall whose candidates do not answer the query.

    Args:
        candidates: All of them: they are rejected together.
        confidence: How likely it was that they do; None: nobody looked.
        trace: Whether it is asked what became of each.
    """
    fates = fates_of(rejected=candidates, ranked=(), duplicates={}, limit=0) if trace else {}
    return RecallResponse(hits=(), rejected=len(candidates), confidence=confidence, fates=fates)


def ranks_of(candidates: Sequence[ScoredMemory]) -> dict[str, dict[str, int]]:
    """By the ids of the candidates, each one's place by each part of its score, and by all together (``store``), from 1.

    Args:
        candidates: With the parts of their scores. One that lacks a part has no place by it.
    """
    ranks: dict[str, dict[str, int]] = {each.memory.id: {} for each in candidates}
    names = dict.fromkeys(name for each in candidates for name in each.parts)
    for name in names:
        having = sorted((each for each in candidates if name in each.parts), key=lambda each, part=name: -each.parts[part])  # type: ignore[misc]
        for rank, each in enumerate(having, start=1):
            ranks[each.memory.id][name] = rank
    for rank, each in enumerate(sorted(candidates, key=lambda each: -each.score), start=1):
        ranks[each.memory.id]["store"] = rank
    return ranks
