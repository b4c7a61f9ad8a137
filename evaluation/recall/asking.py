"""Asks a question of a corpus through the recall pipeline, as the query service does for a user."""

import sys
from datetime import datetime
from typing import Final, Protocol

from evaluation.locomo import TENANT
from evaluation.recall.corpus import Conversation, Corpus, Question
from evaluation.recall.measures import ranked_messages
from evaluation.recall.memories import SCHEMA
from memory.schema import scenario
from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.rankers.base import Scored
from retrieval.request import RecallRequest, RecallResponse
from runtime.clocks import ManualClock
from runtime.settings import RankingProfile, RecallSettings, Settings
from stores.port import NON_ENTITY_KINDS, MemoryFilter, MemoryStore, TenantScope

RESULTS: Final = 50
_ENTITY_TYPES: Final = tuple(each.name for each in scenario(SCHEMA).entity_types)
"""The service returns the nearest entities of these types for each user."""
_ANY: Final = sys.float_info.min
"""A minimum confidence that rejects nothing. With a minimum, every profile reports its confidence."""

Asked = tuple[Conversation, Question]
"""A question, and the conversation of the user who is asked about."""


async def recalled(
    corpus: Corpus,
    settings: Settings,
    conversation: Conversation,
    question: Question,
    *,
    profile: RankingProfile,
    tenant: str = TENANT,
    expansions: tuple[str, ...] = (),
    limit: int = RESULTS,
    keyword_quota: int = 0,
) -> RecallResponse:
    """The response of a recall, explained, and with its confidence whatever the profile.

    Args:
        corpus: The memories, in a store.
        settings: How recalls rank.
        conversation: The user, and the moment of the question.
        question: The question.
        profile: The ranker.
        tenant: The tenant of the extracted memories, or of the raw turns.
        expansions: Sentences that are searched in addition.
        limit: Most results.
        keyword_quota: Most results from the keyword graph.
    """
    pipeline = RecallPipeline(
        store=corpus.store, embedder=corpus.embedder, settings=settings.recall, clock=ManualClock(conversation.asked_at)
    )
    request = RecallRequest(
        filter=MemoryFilter(scope=TenantScope(tenant, conversation.user)),
        query=question.text,
        expansions=expansions,
        entity_types=_ENTITY_TYPES,
        limit=limit,
        keyword_quota=keyword_quota,
        profile=profile,
        min_confidence=_ANY,
        explain=True,
    )
    return await pipeline.recall(request)


class AskedStore(Protocol):
    """A store with the embedder of its memories."""

    @property
    def store(self) -> MemoryStore:
        """The memories of the tenant :data:`evaluation.locomo.TENANT`."""
        ...

    @property
    def embedder(self) -> Embedder:
        """The model that the memories were embedded with."""
        ...


async def scored_candidates(corpus: AskedStore, user: str, query: str, *, prefetch: int, asked_at: datetime) -> Scored:
    """The input of a ranker: the candidates of a question, with their features.

    Args:
        corpus: The memories.
        user: The user whose memories are searched.
        query: The question.
        prefetch: Number of candidates.
        asked_at: The moment of the question.
    """
    settings, clock = RecallSettings(prefetch=prefetch), ManualClock(asked_at)
    pipeline = RecallPipeline(store=corpus.store, embedder=corpus.embedder, settings=settings, clock=clock)
    memory_filter = MemoryFilter(scope=TenantScope(TENANT, user), kinds=NON_ENTITY_KINDS)
    plan = pipeline.plan(RecallRequest(filter=memory_filter, query=query, limit=1, keeps_ranking=True))
    [scored] = await pipeline.score(plan, await pipeline.retrieve(plan))
    return scored


def messages_of(answer: RecallResponse) -> list[str]:
    """The source messages of the results, best first."""
    return ranked_messages(hit.evidence for hit in answer.hits)
