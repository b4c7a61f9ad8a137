"""What became of each candidate of a recall: for ``why_not``, and for ``explain``."""

from collections.abc import Collection, Mapping, Sequence

from retrieval.request import CandidateOutcome, Outcome, RecallHit
from stores.port import ScoredMemory


def fates_of(
    *,
    rejected: Sequence[ScoredMemory],
    duplicates: Mapping[str, RecallHit],
    ranked: Sequence[RecallHit],
    told: Mapping[str, str],
    returned: Collection[str],
) -> dict[str, CandidateOutcome]:
    """By the ids of the candidates: those that were ranked, best first, then those that a duplicate stands for, then the rejected ones.

    Args:
        rejected: Those below the threshold.
        duplicates: By the id of each candidate that was left out as a duplicate, the hit that was kept.
        ranked: Those that were ranked, best first.
        told: By the id of each of these that an entity repeats, the entity's.
        returned: The ids of those that are returned.
    """
    fates: dict[str, CandidateOutcome] = {}
    for rank, hit in enumerate(ranked, start=1):
        key = hit.memory.id
        outcome: Outcome = "repeated" if key in told else "returned" if key in returned else "rank"
        fates[key] = CandidateOutcome(outcome=outcome, score=hit.score, rank=rank, of=told.get(key), parts=hit.parts, ranks=hit.ranks)
    for memory_id, kept in duplicates.items():
        fates[memory_id] = CandidateOutcome(outcome="duplicate", score=kept.score, of=kept.memory.id)
    for each in rejected:
        fates.setdefault(each.memory.id, CandidateOutcome(outcome="below_threshold", score=each.score, parts=each.parts))
    return fates


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
