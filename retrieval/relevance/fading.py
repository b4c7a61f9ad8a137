"""Memories that fade (MemoryBank): those whose retention is below the limit of the recall's method rank last."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory.keys import entity_key
from memory.records import Memory
from memory.schema.method import Fading
from memory.strengths import Recalls, recalls_memory_id
from memory.times import microseconds_of
from retrieval.plan import RecallPlan
from retrieval.request import RecallHit
from retrieval.retrievers.base import PreparedStore
from retrieval.selection import Ranked


async def read_recalls(store: PreparedStore, plan: RecallPlan) -> list[Recalls]:
    """The recalls of the user's memories; empty if the method lets no memory fade, or there is none yet.

    Raises:
        StoreUnavailableError: If the store does not respond.
        StoreRejectedError: If it refuses the request.
    """
    method, scope = plan.request.method, plan.filter.scope
    fading = None if method is None else method.retrieval.fading
    if fading is None or scope.user is None:
        return []
    key, generation = entity_key(scope.user), plan.filter.generation or ""
    names = [recalls_memory_id(scope.tenant, fading.entity_type, key, each, generation) for each in fading.properties]
    return [Recalls.read(each.properties) for each in await store.get(scope, names, at=plan.filter.at)]


def faded_last(ranked: Ranked, recalls: Sequence[Recalls], plan: RecallPlan) -> Ranked:
    """The hits with the faded ones last. Their scores are below all others.

    Args:
        ranked: The hits, best first.
        recalls: From :func:`read_recalls`.
        plan: The recall. With ``explain``, each hit that can fade gets the part ``retention``.
    """
    method = plan.request.method
    fading = None if method is None else method.retrieval.fading
    if not recalls or fading is None:
        return ranked
    vivid: list[RecallHit] = []
    faded: list[RecallHit] = []
    for hit in ranked.hits:
        retention = _retention(hit.memory, recalls, fading, plan.now)
        parts = hit.parts if retention is None or not plan.request.explain else {**hit.parts, "retention": retention}
        is_faded = retention is not None and retention < fading.least / 100
        (faded if is_faded else vivid).append(hit._replace(parts=parts))
    least = min((hit.score for hit in vivid), default=1.0)
    lowered = [
        hit._replace(score=hit.score * least, evidence_scores=tuple(score * least for score in hit.evidence_scores)) for hit in faded
    ]
    return replace(ranked, hits=[*vivid, *lowered])


def _retention(memory: Memory, recalls: Sequence[Recalls], fading: Fading, now: datetime) -> float | None:
    """The retention of a memory; None if it does not fade."""
    if memory.kind != "event" or (fading.types and memory.type not in fading.types):
        return None
    made = microseconds_of(memory.said_at or memory.event_time)
    counted = next((each for each in recalls if memory.id in each.recalled), recalls[0])
    return counted.retention(memory.id, made=made, now=microseconds_of(now))
