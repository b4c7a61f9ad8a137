"""Beam search through the trees of a user (*Memory in the LLM Era*, appendix C).

From the nodes at the top down, the search keeps at each level the children that are nearest to the query. The results are the events that
the kept nodes name, ranked by the query. So an event can be found through the summary of similar events, although others are more similar
to the query than the event itself.

Each level is one request with the recall's tenant and user, so no request reaches a node of another user.
"""

from dataclasses import replace
from typing import Final

from memory.records import Memory
from memory.schema.method import RetrievalPath
from models.embedding.port import Embedding
from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from retrieval.query.query_embedding import embed_question
from retrieval.request import RecallHit
from retrieval.retrievers.base import FurtherRetriever, further_hit
from stores.collection import TOP
from stores.port import MemoryFilter, RecallQuery

MAX_LEVELS: Final = 16
"""Most levels of a search: the greatest depth of a tree (operators/tree)."""
MAX_EVENTS: Final = 300
"""Most events that are ranked."""


class TreeRetriever(FurtherRetriever):
    """Finds events by beam search from the top of the user's trees."""

    name: Final[PartName] = "tree"

    def most_read(self, path: RetrievalPath) -> int:
        """The ranked events."""
        return MAX_EVENTS

    async def retrieve(self, plan: RecallPlan) -> list[RecallHit]:
        """The events that the search reaches, best first.

        Raises:
            StoreError: As the store raises it.
            models.errors.ModelError: If the query cannot be embedded.
        """
        asked, path = plan.request.filter, plan.further_paths[self.name]
        if asked.kinds and "event" not in asked.kinds:
            return []
        embedding = await embed_question(self._embedder, plan.request.query)
        nodes = MemoryFilter(
            scope=asked.scope, kinds=("summary",), generation=asked.generation, not_expired_at=plan.filter.not_expired_at, at=asked.at
        )
        reached = await self._descend(nodes, Embedding(embedding.dense, None), path.fan_out)
        events = list(dict.fromkeys(event for node in reached for event in _named_events(node)))[:MAX_EVENTS]
        if not events:
            return []
        found = await self._store.recall(
            RecallQuery(
                filter=replace(asked, kinds=("event",), types=asked.types or path.types, not_expired_at=plan.filter.not_expired_at).within(
                    events
                ),
                text=plan.request.query,
                embedding=embedding,
                limit=plan.limit + path.quota,
                prefetch=MAX_EVENTS,
            )
        )
        return [further_hit(each.memory, each.score, {"origin": each.score}, path=self.name) for each in found]

    async def _descend(self, nodes: MemoryFilter, embedding: Embedding, width: int) -> list[Memory]:
        """The nodes that are kept at all levels, from the top down.

        Args:
            nodes: Passes the nodes of all levels.
            embedding: The query.
            width: Nodes that are kept at each level.
        """
        reached: list[Memory] = []
        parents: tuple[str, ...] = (TOP,)
        for _ in range(MAX_LEVELS):
            query = RecallQuery(filter=replace(nodes, parents=parents), text="", embedding=embedding, limit=width, prefetch=width)
            level = [each.memory for each in await self._store.recall(query)]
            if not level:
                break
            reached += level
            parents = tuple(each.id for each in level)
        return reached


def _named_events(node: Memory) -> list[str]:
    leaves = node.properties.get("leaves")
    return [str(each) for each in leaves] if isinstance(leaves, list) else []
