"""The auxiliary path of a recall (VikingMem 3.2, keyword graph; 3.3): from the query to keywords, and from these to their memories.

A keyword's vector is the mean of its memories' vectors. The dot product of a query with a mean is the mean of its dot products, so a
keyword's score is the mean of its memories' scores by the dense vector. The graph needs no state of its own: it follows every
correction, deletion and rebuild, and is as much a user's own as the search that it is made of.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from retrieval.deduplication import duplicate_key
from retrieval.request import RecallHit
from retrieval.selection import Ranked
from stores.port import ScoredMemory

MAX_MEMORIES: Final = 1000
"""The graph is that of so many memories, the nearest ones: the whole of it for most users."""

_KEYWORDS: Final = 10
"""Keywords that the query leads to."""
_LEAST_MEMORIES: Final = 2
"""Of a keyword. One that a single memory has leads nowhere that the memory's own vector does not."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A memory that a keyword leads to."""

    found: ScoredMemory
    """By the dense vector."""
    keyword: str
    """The best one that it has, folded."""
    keyword_score: float
    """In [0, 1]."""

    @property
    def score(self) -> float:
        """In [0, 1]: half the keyword's, half its own."""
        return (self.keyword_score + self.found.score) / 2


def linked_by_keywords(nearest: Sequence[ScoredMemory]) -> list[Linked]:
    """The memories that the keywords nearest to a query lead to, best first.

    Args:
        nearest: A scope's memories, scored by the dense vector alone.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for each in nearest:
        for keyword in _keywords_of(each):
            scores[keyword].append(each.score)
    means = {keyword: fmean(of_memories) for keyword, of_memories in scores.items() if len(of_memories) >= _LEAST_MEMORIES}
    best = dict(sorted(means.items(), key=lambda each: (-each[1], each[0]))[:_KEYWORDS])
    linked = []
    for each in nearest:
        if leading := best.keys() & _keywords_of(each):
            keyword = max(leading, key=lambda word: (best[word], word))
            linked.append(Linked(each, keyword, best[keyword]))
    return sorted(linked, key=lambda each: (-each.score, each.found.memory.id))


def with_linked(ranked: Ranked, linked: Sequence[RecallHit], *, quota: int) -> Ranked:
    """What both paths found, each ranked by itself: the last places of the answer go to what keywords lead to.

    Args:
        ranked: Of the primary path. Where it has no hits, nothing relevant is known, and there are none.
        linked: What keywords lead to, best first. What the primary path puts first is that path's, and what it rejects is left out.
        quota: Most hits of the answer that are ``linked``. Half of the answer stays the primary path's.
    """
    hits, limit = ranked.hits, ranked.limit
    quota = min(quota, limit // 2)
    if not (hits and linked and quota):
        return ranked
    passed_over = {hit.memory.id for hit in hits[: limit - quota]} | {each.memory.id for each in ranked.rejected}
    stands = {duplicate_key(hit.memory): hit.memory.id for hit in hits[:limit]}
    taken: dict[str, RecallHit] = {}
    for hit in linked:
        is_no_duplicate = stands.setdefault(duplicate_key(hit.memory), hit.memory.id) == hit.memory.id
        if is_no_duplicate and hit.memory.id not in passed_over and len(taken) < quota:
            taken[hit.memory.id] = hit
    rest = [hit for hit in hits if hit.memory.id not in taken]
    place = limit - len(taken)
    return replace(ranked, hits=[*rest[:place], *taken.values(), *rest[place:]])


def _keywords_of(found: ScoredMemory) -> set[str]:
    return {keyword.casefold() for keyword in found.memory.keywords}
