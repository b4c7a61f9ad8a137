"""The steps rank and deduplicate of a recall: from scored candidates to hits, best first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.current_state import by_state
from retrieval.deduplication import Deduplication
from retrieval.expansion import noisy_or
from retrieval.plan import RecallPlan
from retrieval.rankers.base import MAX_RERANKED, Scored
from retrieval.ranking import Scoring, evidence_scores, ranks_of
from retrieval.request import RecallHit
from retrieval.selection import Ranked
from retrieval.training.ranked import ranked_candidates, values_of
from retrieval.traits import traits_of
from runtime.pieces import map_in_pieces
from stores.port import ScoredMemory


@dataclass(frozen=True, slots=True)
class RankedCandidates:
    """The output of the step rank."""

    query: Scored
    """The query's own candidates."""
    found: Sequence[ScoredMemory]
    """The accepted candidates of the query and its expansions with S_origin, best first."""
    rejected: Sequence[ScoredMemory]
    """The other candidates, each once."""


def rank(plan: RecallPlan, scored: Sequence[Scored]) -> RankedCandidates:
    """Step 4: the ranker's S_origin for each text, and one ranking of all texts.

    Args:
        plan: The recall.
        scored: The candidates of the query, then those of each expansion.
    """
    query, *expansions = scored
    asked = plan.ranker.rank(query, explain=plan.request.explain)
    if asked is None or (query.confidence is not None and query.confidence < plan.min_confidence):
        return RankedCandidates(query, [], query.found)
    expanded = [plan.ranker.rank(each, explain=plan.request.explain) or [] for each in expansions]
    found = noisy_or(asked, expanded, explain=plan.request.explain)
    found = by_state(query.text, found, explain=plan.request.explain)
    kept = {each.memory.id for each in found}
    rejected = {each.memory.id: each for text in scored for each in text.found if each.memory.id not in kept}
    return RankedCandidates(query, found, [*rejected.values()])


async def deduplicate(plan: RecallPlan, ranked: RankedCandidates) -> Ranked:
    """Step 5: hits with S_final, without duplicates.

    Args:
        plan: The recall.
        ranked: The result of :func:`rank`.
    """
    ranks = ranks_of(ranked.query.found) if plan.request.explain else {}
    deduplication = Deduplication(by_day=plan.names_time)
    decay = plan.ranker.evidence_decay
    await map_in_pieces(lambda each: deduplication.add(_hit(each, plan.scoring, decay, ranks.get(each.memory.id, {}))), ranked.found)
    hits = deduplication.ranked()
    values = values_of(ranked.query.accepted[:MAX_RERANKED], ranked.query.features) if plan.request.keeps_ranking else {}
    return Ranked(
        hits=hits,
        limit=plan.limit,
        scoring=plan.scoring,
        rejected=ranked.rejected,
        duplicates=deduplication.left_out,
        confidence=ranked.query.confidence,
        trace=plan.request.trace,
        kept_ranking=ranked_candidates(hits, values),
    )


def _hit(found: ScoredMemory, scoring: Scoring, decay: float, ranks: Mapping[str, int]) -> RecallHit:
    # If neither time nor business has a weight, these parts are computed later, and only for the hits that are returned.
    score = found.score if scoring.weights.origin_alone else scoring.of(found.memory, found.score).final
    scores = evidence_scores(found.memory, score, decay)
    return RecallHit(found.memory, score, {"origin": found.score, **found.parts}, traits_of(found.memory).evidence, scores, ranks=ranks)
