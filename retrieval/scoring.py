"""Score: the third step of a recall. Prepares the input of the ranker for the candidates of each text."""

from collections.abc import Mapping, Sequence

from retrieval.plan import RecallPlan
from retrieval.rankers.base import MAX_RERANKED, Scored
from retrieval.rankers.fitted_models import LEARNED, model_for
from retrieval.relevance.confidence import confidence_of, is_calibrated
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.features import features_of
from retrieval.relevance.traits import traits_of
from retrieval.retrievers.memories import Candidates
from runtime.errors import RedisUnavailableError
from runtime.pieces import map_in_pieces
from runtime.redis.retrieval_counts import RetrievalCounts, Retrievals
from stores.port import ScoredMemory


class Scorer:
    """Computes features, confidence and counts, as far as the plan needs them.

    Args:
        embedder: Name of the embedding model.
        counts: Counts of earlier recalls. None: there are none.
    """

    def __init__(self, embedder: str, counts: RetrievalCounts | None) -> None:
        self._embedder = embedder
        self._counts = counts

    async def score(self, plan: RecallPlan, candidates: Sequence[Candidates]) -> list[Scored]:
        """The scored candidates of each text.

        Args:
            plan: The recall.
            candidates: Those of the query first, then those of each expansion.
        """
        return [await self._scored(plan, each, is_query=index == 0) for index, each in enumerate(candidates)]

    async def _scored(self, plan: RecallPlan, candidates: Candidates, *, is_query: bool) -> Scored:
        accepted = [each for each in candidates.found if each.score >= plan.min_origin_score]
        features: Mapping[str, FeatureVector] = {}
        model, confidence = LEARNED, None
        if plan.needs_features if is_query else plan.ranker.uses_features:
            ranked = accepted[:MAX_RERANKED]
            await map_in_pieces(traits_of, (each.memory for each in ranked))
            features = features_of(candidates.text, ranked, plan.now) if ranked else {}
            model = model_for(candidates.text, ranked, embedder=self._embedder)
            if is_query and plan.needs_confidence and is_calibrated(self._embedder):
                confidence = confidence_of(candidates.text, ranked, features, model)
        tenant = plan.request.scope.tenant
        return Scored(
            text=candidates.text,
            found=candidates.found,
            accepted=accepted,
            now=plan.now,
            features=features,
            model=model,
            retrievals=await self._retrievals_of(tenant, accepted) if plan.ranker.uses_retrievals else {},
            confidence=confidence,
        )

    async def _retrievals_of(self, tenant: str, candidates: Sequence[ScoredMemory]) -> Mapping[str, Retrievals]:
        if self._counts is None:
            return {}
        try:
            return await self._counts.of(tenant, [each.memory.id for each in candidates])
        except RedisUnavailableError:
            return {}
