"""The ranker `weighted`: the store's score, raised for memories of the time that the query asks for."""

from typing import ClassVar

from retrieval.rankers.base import Scored
from retrieval.relevance.time_prior import with_time_prior
from stores.port import ScoredMemory


class WeightedRanker:
    """See :class:`retrieval.rankers.base.Ranker`."""

    evidence_decay: ClassVar[float] = 0.95
    uses_parts: ClassVar[bool] = False
    uses_features: ClassVar[bool] = False
    uses_retrievals: ClassVar[bool] = False
    gives_confidence: ClassVar[bool] = False

    def rank(self, scored: Scored, *, explain: bool) -> list[ScoredMemory]:
        """The weighted sum of the store's scores (:mod:`stores.query_plan`), with the prior of :mod:`retrieval.relevance.time_prior`."""
        return with_time_prior(scored.text, scored.accepted, scored.now, explain=explain)
