"""The steps rank and deduplicate of a recall: from scored candidates to hits, best first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from retrieval.plan import RecallPlan
from retrieval.query.expansion import noisy_or
from retrieval.rankers.base import MAX_RERANKED, Scored
from retrieval.redundancy.current_state import by_state
from retrieval.redundancy.deduplication import Deduplication
from retrieval.relevance.final_score import Scoring, evidence_scores, ranks_of
from retrieval.relevance.traits import traits_of
from retrieval.request import RecallHit
from retrieval.selection import Ranked
from retrieval.training.ranked import ranked_candidates, values_of
from runtime.pieces import map_in_pieces
from stores.port import ScoredMemory

_OF_UNSUPPORTED: Final = 0.5
"""Factor of the score of an event whose window does not have its words. It may be honest, so it is still found if nothing else answers."""
_NO_RANKS: Final[Mapping[str, int]] = MappingProxyType({})


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
    found = by_state(query.text, _with_support(found, explain=plan.request.explain), explain=plan.request.explain)
    kept = {each.memory.id for each in found}
    rejected = {each.memory.id: each for text in scored for each in text.found if each.memory.id not in kept}
    return RankedCandidates(query, found, [*rejected.values()])


def _with_support(found: Sequence[ScoredMemory], *, explain: bool) -> Sequence[ScoredMemory]:
    """The candidates, with lower scores of unsupported events. In any order."""

    def scored(each: ScoredMemory) -> ScoredMemory:
        if not (each.memory.kind == "event" and each.memory.unsupported):
            return each
        score = _OF_UNSUPPORTED * each.score
        return each._replace(score=score, parts=each.parts | {"unsupported": score - each.score} if explain else each.parts)

    return [scored(each) for each in found]


async def deduplicate(plan: RecallPlan, ranked: RankedCandidates) -> Ranked:
    """Step 5: hits with S_final, without duplicates.

    Args:
        plan: The recall.
        ranked: The result of :func:`rank`.
    """
    ranks = ranks_of(ranked.query.found) if plan.request.explain else {}
    deduplication = Deduplication(by_day=plan.names_time)
    hit_of = _Hits(plan.scoring, plan.ranker.evidence_decay, ranks).of
    await map_in_pieces(lambda each: deduplication.add(hit_of(each)), ranked.found)
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


class _Hits:
    """Makes hits of candidates.

    Args:
        scoring: The final scoring.
        decay: See :func:`retrieval.relevance.final_score.evidence_scores`.
        ranks: By memory id, its ranks among the candidates.
    """

    def __init__(self, scoring: Scoring, decay: float, ranks: Mapping[str, Mapping[str, int]]) -> None:
        self._scoring = scoring
        self._origin_alone = scoring.weights.origin_alone
        self._decay = decay
        self._ranks = ranks

    def of(self, found: ScoredMemory) -> RecallHit:
        """The hit of a candidate."""
        memory, origin, parts = found
        # If neither time nor business has a weight, these parts are computed later, and only for the hits that are returned.
        score = origin if self._origin_alone else self._scoring.of(memory, origin).final
        evidence = traits_of(memory).evidence
        scores = (score,) if len(evidence) == 1 else evidence_scores(memory, score, self._decay)
        ranks = self._ranks.get(memory.id, {}) if self._ranks else _NO_RANKS
        return RecallHit(memory, score, {"origin": origin, **parts}, evidence, scores, None, None, None, None, ranks)
