"""Selects what a recall answers with. It is the last step: whatever is told elsewhere has left its place to the next by then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory.records import Memory, RankedCandidate
from retrieval.candidate_outcome import fates_of
from retrieval.entity_coverage import covered_by_entity
from retrieval.ranking import Scoring
from retrieval.request import RecallHit, RecallResponse
from retrieval.supersession import with_superseded
from runtime.pieces import map_in_pieces
from stores.port import ScoredMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """All that a recall has ranked."""

    hits: Sequence[RecallHit]
    """Best first, duplicates merged. Of their parts, ``time`` and ``business`` are still to come: most hits are not returned."""
    limit: int
    """Most hits of the answer."""
    scoring: Scoring
    rejected: Sequence[ScoredMemory] = ()
    """Candidates that were left out for a low score of the store."""
    duplicates: Mapping[str, RecallHit]
    """By the ids of the candidates that were left out as duplicates, the hit that stands for them."""
    confidence: float | None = None
    """As in the response."""
    trace: bool = False
    """Whether it is asked what became of each candidate."""
    kept_ranking: tuple[RankedCandidate, ...] = ()
    """As in the response."""


async def selected(ranked: Ranked, *, beside: Sequence[Memory] = ()) -> RecallResponse:
    """The answer.

    Args:
        ranked: What was found.
        beside: The entities that are told beside the hits.
    """
    hits, told = cut(ranked.hits, ranked.limit, beside=beside)
    fates = {}
    if ranked.trace:
        returned = {hit.memory.id for hit in hits}
        fates = fates_of(rejected=ranked.rejected, duplicates=ranked.duplicates, ranked=ranked.hits, told=told, returned=returned)
    return RecallResponse(
        hits=tuple(await map_in_pieces(lambda each: _with_parts(each, ranked.scoring), hits)),
        rejected=len(ranked.rejected),
        duplicates=len(ranked.duplicates),
        confidence=ranked.confidence,
        fates=fates,
        kept_ranking=ranked.kept_ranking,
    )


def cut(ranked: Sequence[RecallHit], limit: int, *, beside: Sequence[Memory] = ()) -> tuple[list[RecallHit], dict[str, str]]:
    """The best hits, and by the ids of those that an entity of the answer repeats, the entity's id.

    Args:
        ranked: All hits, best first.
        limit: Most hits.
        beside: The entities that are told beside the hits. Those among the hits that are returned count as well.
    """
    told = covered_by_entity(ranked, beside)
    left = [hit for hit in ranked if hit.memory.id not in told]
    telling: dict[str, Memory] = {}
    # An event that makes way lets the next hits move up: an entity among them repeats others in turn, and never loses its own place.
    while more := {hit.memory.id: hit.memory for hit in left[:limit] if hit.memory.kind == "entity" and hit.memory.id not in telling}:
        telling |= more
        told |= covered_by_entity(left, more.values())
        left = [hit for hit in left if hit.memory.id not in told]
    return with_superseded(ranked, limit, told=told), told


def _with_parts(hit: RecallHit, scoring: Scoring) -> RecallHit:
    score = scoring.of(hit.memory, hit.parts["origin"])
    return hit._replace(parts={"origin": score.origin, "time": score.time, "business": score.business, **hit.parts})
