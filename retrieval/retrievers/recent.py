"""The newest memories of the scope, for any query.

This is the FIFO queue of MemGPT (arXiv 2310.08560, section 2.1), and the short-term memory of *Memory in the LLM Era* (appendix C,
algorithm 1). The results are ordered by time, newest first. Their scores are those of the query, so that a caller can compare them with
other results.
"""

from dataclasses import replace
from typing import Final

from memory.records import Memory
from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from retrieval.query.query_embedding import embed_question
from retrieval.request import RecallHit
from retrieval.retrievers.base import FurtherRetriever, further_hit, with_types
from stores.port import RecallQuery


class RecentRetriever(FurtherRetriever):
    """Finds the newest memories."""

    name: Final[PartName] = "recent"

    async def retrieve(self, plan: RecallPlan) -> list[RecallHit]:
        """The newest memories until the moment of the recall, at most as many as the quota; never entities, which are always current.

        Raises:
            StoreError: As the store raises it.
            models.errors.ModelError: If the query cannot be embedded.
        """
        path, events = plan.further_paths[self.name], plan.filter.without_entities
        searched = None if events is None else with_types(events, path.types)
        if searched is None:
            return []
        # A memory that names a later date is not newer than what was said after it.
        searched = replace(searched, as_of=searched.as_of or plan.now)
        newest = await self._store.newest(searched, limit=path.quota)
        if not newest:
            return []
        scores = await self._scores(plan, newest)
        return [further_hit(each, scores.get(each.id, 0.0), {"origin": scores.get(each.id, 0.0)}, path=self.name) for each in newest]

    async def _scores(self, plan: RecallPlan, memories: list[Memory]) -> dict[str, float]:
        query = RecallQuery(
            filter=plan.filter.within(each.id for each in memories),
            text=plan.request.query,
            embedding=await embed_question(self._embedder, plan.request.query),
            limit=len(memories),
            prefetch=len(memories),
        )
        return {each.memory.id: each.score for each in await self._store.recall(query)}
