"""Memories that the links of found memories lead to: nodes of a knowledge graph, associated notes.

The search starts at the memories nearest to the query and follows their links breadth first. A link connects memories of the same tenant,
user and generation; one to any other memory is not followed. A memory's score is the product of the score of the start, the scores of the
links to it, and :data:`DECAY` for each link; of several ways to it, the best counts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from memory.records import Memory
from memory.schema.method import RetrievalPath
from models.embedding.port import Embedding
from retrieval.paths import PartName
from retrieval.plan import RecallPlan
from retrieval.query.query_embedding import embed_question
from retrieval.request import RecallHit
from retrieval.retrievers.base import FurtherRetriever, further_hit
from stores.port import MemoryFilter, RecallQuery

STARTS: Final = 20
"""Found memories whose links are followed."""
MAX_VISITED: Final = 200
"""Memories that are read for each step: those with the best scores."""
DECAY: Final = 0.8


@dataclass(frozen=True, slots=True)
class Reached:
    """A memory, and how the search got to it."""

    memory: Memory
    score: float
    """In [0, 1]."""
    origin: float
    """The score of the start."""


class LinkRetriever(FurtherRetriever):
    """Finds memories by links."""

    name: Final[PartName] = "links"

    def applies_to(self, plan: RecallPlan) -> bool:
        """Whether the recall's method follows links, and the recall is not limited to named memories or messages."""
        return super().applies_to(plan) and plan.filter.ids is None and not plan.filter.messages

    def most_read(self, path: RetrievalPath) -> int:
        """The starts, and the linked memories of each step."""
        in_last_step: int = STARTS * path.fan_out**path.hops
        return STARTS + path.hops * min(MAX_VISITED, in_last_step)

    async def retrieve(self, plan: RecallPlan) -> list[RecallHit]:
        """The memories that links lead to, best first.

        Raises:
            StoreError: As the store raises it.
            models.errors.ModelError: If the query cannot be embedded.
        """
        path = plan.further_paths[self.name]
        # A memory of another kind or time may still lead to one that is asked for.
        passable = replace(plan.filter, kinds=(), types=(), sessions=(), keys=(), since=None, until=None)
        dense = Embedding((await embed_question(self._embedder, plan.request.query)).dense, None)
        found = await self._store.recall(RecallQuery(filter=passable, text="", embedding=dense, limit=STARTS, prefetch=STARTS))
        starts = {each.memory.id: Reached(each.memory, each.score, each.score) for each in found}
        reached = await self._follow(starts, path, passable)
        wanted = [each for each in reached if plan.filter.rejected_by(each.memory) is None]
        if path.types:
            wanted = [each for each in wanted if each.memory.type in path.types]
        return [_hit(each) for each in sorted(wanted, key=lambda each: (-each.score, each.memory.id))]

    async def _follow(self, starts: Mapping[str, Reached], path: RetrievalPath, passable: MemoryFilter) -> Iterable[Reached]:
        """The memories that at most ``path.hops`` links lead to from the starts, without the starts that no link leads to."""
        best: dict[str, Reached] = {}
        left = dict(starts)
        for _ in range(path.hops):
            steps = _steps(left.values(), path.fan_out)
            # A memory is read again only if it is reached by a better way.
            better = {name: step for name, step in steps.items() if name not in best or step.score > best[name].score}
            if not better:
                break
            memories = await self._store.get(passable.scope, list(better), at=passable.at)
            left = {}
            for memory in memories:
                step = better[memory.id]
                if passable.rejected_by(memory) is None and _belongs_together(step.memory, memory):
                    left[memory.id] = best[memory.id] = Reached(memory, step.score, step.origin)
        return best.values()


def _steps(reached: Iterable[Reached], fan_out: int) -> dict[str, Reached]:
    """By the id of each linked memory, the best step to it: the linking memory, and the score of the linked one."""
    steps: dict[str, Reached] = {}
    for linking in reached:
        links = sorted(linking.memory.links or (), key=lambda link: (-link.score, link.id))[:fan_out]
        for link in links:
            step = Reached(linking.memory, linking.score * link.score * DECAY, linking.origin)
            if link.id not in steps or step.score > steps[link.id].score:
                steps[link.id] = step
    best = sorted(steps, key=lambda name: (-steps[name].score, name))[:MAX_VISITED]
    return {name: steps[name] for name in best}


def _belongs_together(one: Memory, other: Memory) -> bool:
    return (one.tenant, one.user, one.generation) == (other.tenant, other.user, other.generation)


def _hit(reached: Reached) -> RecallHit:
    return further_hit(reached.memory, reached.score, {"origin": reached.score, "start": reached.origin}, path="links")
