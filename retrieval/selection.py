"""Cut: selects the hits of a recall from all ranked candidates.

The next hit replaces an event that an entity among the hits covers: the response has its words and its messages already. An event that
an additional entity covers stays, because a caller may use the hits alone; it names this entity.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from memory.records import Memory, RankedCandidate
from retrieval.redundancy.deduplication import duplicate_key
from retrieval.redundancy.entity_coverage import covered_by_entity
from retrieval.redundancy.supersession import with_superseded
from retrieval.relevance.final_score import Scoring
from retrieval.request import CandidateOutcome, Outcome, RecallHit, RecallResponse
from runtime.pieces import map_in_pieces
from stores.port import ScoredMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """All candidates of a recall after the deduplication."""

    hits: Sequence[RecallHit]
    """Best first, without duplicates. Their parts do not have ``time`` and ``business`` yet: most of them are not returned."""
    limit: int
    """Most hits of the response."""
    scoring: Scoring
    rejected: Sequence[ScoredMemory] = ()
    """Candidates with a score of the store below the threshold."""
    duplicates: Mapping[str, RecallHit]
    """By the id of each dropped duplicate, the hit that was kept."""
    confidence: float | None = None
    """See :attr:`RecallResponse.confidence`."""
    trace: bool = False
    """Whether the outcome of each candidate is reported."""
    kept_ranking: tuple[RankedCandidate, ...] = ()
    """See :attr:`RecallResponse.kept_ranking`."""


async def selected(ranked: Ranked, *, entities: Sequence[Memory] = ()) -> RecallResponse:
    """The response.

    Args:
        ranked: All candidates.
        entities: The entities that are returned in addition to the hits.
    """
    hits, covered = cut(ranked.hits, ranked.limit)
    returned = {hit.memory.id for hit in hits}
    additional = [each for each in entities if each.id not in returned]
    repeated = covered_by_entity(hits, additional)

    def completed(hit: RecallHit) -> RecallHit:
        by = repeated.get(hit.memory.id)
        return _with_parts(hit if by is None else hit._replace(repeated_by=by), ranked.scoring)

    return RecallResponse(
        hits=tuple(await map_in_pieces(completed, hits)),
        rejected=len(ranked.rejected),
        duplicates=len(ranked.duplicates),
        confidence=ranked.confidence,
        outcomes=_outcomes(ranked, covered=covered, returned=returned) if ranked.trace else {},
        kept_ranking=ranked.kept_ranking,
        entities=additional,
    )


def cut(ranked: Sequence[RecallHit], limit: int) -> tuple[list[RecallHit], dict[str, str]]:
    """The best hits, and by the id of each event that an entity among them covers, the entity's id.

    Args:
        ranked: All hits, best first.
        limit: Most hits.
    """
    covered: dict[str, str] = {}
    left = list(ranked)
    covering: dict[str, Memory] = {}
    # The next hits replace covered events. An entity among them may cover further events, and is never dropped itself.
    while more := {hit.memory.id: hit.memory for hit in left[:limit] if hit.memory.kind == "entity" and hit.memory.id not in covering}:
        covering |= more
        covered |= covered_by_entity(left, more.values())
        left = [hit for hit in left if hit.memory.id not in covered]
    return with_superseded(ranked, limit, covered=covered), covered


def with_further(ranked: Ranked, further: Sequence[tuple[Sequence[RecallHit], int]]) -> Ranked:
    """The ranked hits, with hits of further retrievers in the last places of the response.

    Args:
        ranked: The candidates. If there are no hits, nothing relevant is known, and no retriever adds any.
        further: For each retriever, its hits, best first, and its quota. Hits that rank in the first places anyway, or are rejected, are
            left out. At least half of the response stays with the ranked hits.
    """
    hits, limit = ranked.hits, ranked.limit
    wanted = min(sum(quota for _, quota in further), limit // 2)
    if not hits or not wanted:
        return ranked
    excluded = {hit.memory.id for hit in hits[: limit - wanted]} | {each.memory.id for each in ranked.rejected}
    known = {duplicate_key(hit.memory): hit.memory.id for hit in hits[:limit]}
    taken: dict[str, RecallHit] = {}
    for found, quota in further:
        most = min(len(taken) + quota, wanted)
        for hit in found:
            is_no_duplicate = known.setdefault(duplicate_key(hit.memory), hit.memory.id) == hit.memory.id
            if is_no_duplicate and hit.memory.id not in excluded and len(taken) < most:
                taken[hit.memory.id] = hit
    rest = [hit for hit in hits if hit.memory.id not in taken]
    first = limit - len(taken)
    return replace(ranked, hits=[*rest[:first], *taken.values(), *rest[first:]])


def _with_parts(hit: RecallHit, scoring: Scoring) -> RecallHit:
    score = scoring.of(hit.memory, hit.parts["origin"])
    return hit._replace(parts={"origin": score.origin, "time": score.time, "business": score.business, **hit.parts})


def _outcomes(ranked: Ranked, *, covered: Mapping[str, str], returned: Collection[str]) -> dict[str, CandidateOutcome]:
    """The outcome of each candidate, by id: the ranked ones, best first, then the duplicates, then the rejected ones."""
    outcomes: dict[str, CandidateOutcome] = {}
    for rank, hit in enumerate(ranked.hits, start=1):
        key = hit.memory.id
        outcome: Outcome = "repeated" if key in covered else "returned" if key in returned else "rank"
        outcomes[key] = CandidateOutcome(outcome=outcome, score=hit.score, rank=rank, of=covered.get(key), parts=hit.parts, ranks=hit.ranks)
    for memory_id, kept in ranked.duplicates.items():
        outcomes[memory_id] = CandidateOutcome(outcome="duplicate", score=kept.score, of=kept.memory.id)
    for each in ranked.rejected:
        outcomes.setdefault(each.memory.id, CandidateOutcome(outcome="below_threshold", score=each.score, parts=each.parts))
    return outcomes
