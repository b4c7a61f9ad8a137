"""The keyword graph (VikingMem 3.2 and 3.3): from the query to keywords, and from these to their memories.

A keyword's vector is the mean of its memories' vectors. The dot product of a query with a mean is the mean of the dot products, so a
keyword's score is the mean of its memories' scores by the dense vector. The graph needs no state: it follows every correction, deletion and
rebuild, and contains only memories that pass the recall's filter.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from memory.schema.method import RetrievalPath
from models.embedding.port import Embedding
from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from retrieval.query.query_embedding import embed_question
from retrieval.request import RecallHit
from retrieval.retrievers.base import FurtherRetriever, further_hit
from stores.port import RecallQuery, ScoredMemory

MAX_MEMORIES: Final = 1000
"""The graph consists of the memories nearest to the query, at most so many. Most users have fewer."""

_KEYWORDS: Final = 10
"""Keywords that the query leads to."""
_LEAST_MEMORIES: Final = 2
"""Memories of a keyword. A keyword of a single memory finds nothing that the memory's own vector does not find."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A memory that a keyword leads to."""

    found: ScoredMemory
    """Scored by the dense vector."""
    keyword: str
    """The memory's best keyword, case-folded."""
    keyword_score: float
    """In [0, 1]."""

    @property
    def score(self) -> float:
        """The mean of the keyword's score and the memory's own, in [0, 1]."""
        return (self.keyword_score + self.found.score) / 2


class KeywordRetriever(FurtherRetriever):
    """Finds memories through the keyword graph."""

    name: Final[PartName] = "keywords"

    def most_read(self, path: RetrievalPath) -> int:
        """The memories whose keywords are compared."""
        return MAX_MEMORIES

    async def retrieve(self, plan: RecallPlan) -> list[RecallHit]:
        """The memories that keywords lead to, best first; never entities, which have no keywords.

        Raises:
            StoreError: As the store raises it.
            models.errors.ModelError: If the query cannot be embedded.
        """
        searched = plan.filter.without_entities
        if searched is None:
            return []
        dense = Embedding((await embed_question(self._embedder, plan.request.query)).dense, None)
        query = RecallQuery(filter=searched, text="", embedding=dense, limit=MAX_MEMORIES, prefetch=MAX_MEMORIES)
        return [_hit(each) for each in linked_by_keywords(await self._store.recall(query))]


def linked_by_keywords(nearest: Sequence[ScoredMemory]) -> list[Linked]:
    """The memories that the keywords nearest to a query lead to, best first.

    Args:
        nearest: Memories, scored by the dense vector alone.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for scored in nearest:
        for keyword in _keywords_of(scored):
            scores[keyword].append(scored.score)
    means = {keyword: fmean(of_memories) for keyword, of_memories in scores.items() if len(of_memories) >= _LEAST_MEMORIES}
    best = dict(sorted(means.items(), key=lambda each: (-each[1], each[0]))[:_KEYWORDS])
    linked = []
    for scored in nearest:
        if leading := best.keys() & _keywords_of(scored):
            keyword = max(leading, key=lambda word: (best[word], word))
            linked.append(Linked(scored, keyword, best[keyword]))
    return sorted(linked, key=lambda each: (-each.score, each.found.memory.id))


def _hit(linked: Linked) -> RecallHit:
    parts = {"origin": linked.found.score, "keyword": linked.keyword_score}
    return further_hit(linked.found.memory, linked.score, parts, path="keywords", keyword=linked.keyword)


def _keywords_of(found: ScoredMemory) -> set[str]:
    return {keyword.casefold() for keyword in found.memory.keywords}
