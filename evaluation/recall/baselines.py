"""Rankings of all of a user's memories by one score alone, to compare a recall with."""

from collections.abc import Sequence
from typing import Final

from memory.records import Memory
from models.embedding.port import Embedder
from stores.port import NON_ENTITY_KINDS, MemoryFilter, MemoryStore, RecallQuery, ScoredMemory, TenantScope
from stores.query_plan import MAX_CANDIDATES, RRF_K

BASELINES: Final = ("dense", "bm25", "late", "rrf")
WHOLE_USER: Final = MAX_CANDIDATES
"""More memories than a user of LoCoMo or LongMemEval-S has; of more, the best are ranked."""


async def baseline_rankings(store: MemoryStore, embedder: Embedder, scope: TenantScope, question: str) -> dict[str, list[Memory]]:
    """By each of :data:`BASELINES`, the memories but entities, best first: each score alone, and the reciprocal ranks of dense and BM25.

    Args:
        store: The memories.
        embedder: Of their model.
        scope: The tenant or user.
        question: Compared as it is asked.
    """
    found = await store.recall(
        RecallQuery(
            filter=MemoryFilter(scope=scope, kinds=NON_ENTITY_KINDS),
            text=question,
            embedding=await embedder.embed_query(question),
            limit=WHOLE_USER,
            prefetch=WHOLE_USER,
            explain=True,
        )
    )
    orders = {name: _ordered(found, [each.parts.get(name, 0.0) for each in found]) for name in ("dense", "bm25", "late")}
    fused = [0.0] * len(found)
    for name in ("dense", "bm25"):
        for rank, index in enumerate(orders[name], start=1):
            fused[index] += 1 / (RRF_K + rank) if found[index].parts.get(name) else 0.0
    orders["rrf"] = _ordered(found, fused)
    return {name: [found[index].memory for index in orders[name]] for name in BASELINES}


def _ordered(found: Sequence[ScoredMemory], scores: Sequence[float]) -> list[int]:
    return sorted(range(len(found)), key=lambda index: -scores[index])
