"""Asks the store for what the keyword graph leads to."""

from dataclasses import replace
from datetime import datetime

from models.embedding.port import Embedder, Embedding
from retrieval.evidence import EVIDENCE_DECAYS, evidence_scores
from retrieval.keyword_graph import MAX_MEMORIES, Linked, linked_by_keywords
from retrieval.prepared_store import PreparedStore
from retrieval.query_embedding import embed_question
from retrieval.request import RecallHit, RecallRequest
from stores.port import RecallQuery


async def keyword_hits(store: PreparedStore, embedder: Embedder, request: RecallRequest, *, now: datetime) -> list[RecallHit]:
    """The memories that keywords lead to, best first; no entities, which bear no keywords.

    Args:
        store: The memories.
        embedder: Of the model that they were embedded with.
        request: Its conditions hold for the memories that the graph is made of.
        now: What has expired by then is left out.

    Raises:
        StoreError: As the store raises it.
        models.errors.ModelError: What the embedder raised.
    """
    searched = request.filter.without_entities
    if searched is None:
        return []
    by_dense_alone = Embedding((await embed_question(embedder, request.query)).dense, None)
    query = RecallQuery(
        filter=replace(searched, not_expired_at=now), text="", embedding=by_dense_alone, limit=MAX_MEMORIES, prefetch=MAX_MEMORIES
    )
    return [_hit(each) for each in linked_by_keywords(await store.recall(query))]


def _hit(linked: Linked) -> RecallHit:
    memory = linked.found.memory
    return RecallHit(
        memory,
        linked.score,
        {"origin": linked.found.score, "keyword": linked.keyword_score},
        tuple(memory.message_ids),
        evidence_scores(memory, linked.score, EVIDENCE_DECAYS["weighted"]),
        keyword=linked.keyword,
    )
