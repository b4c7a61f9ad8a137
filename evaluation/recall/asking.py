"""Asks a question of a corpus, as the service asks for a user: the user's entities stand beside what is ranked."""

import sys
from typing import Final

from evaluation.locomo import TENANT
from evaluation.recall.corpus import Conversation, Corpus, Question
from evaluation.recall.measures import ranked_messages
from retrieval.pipeline import Recall
from retrieval.request import RecallRequest, RecallResponse
from runtime.clocks import ManualClock
from runtime.settings import RankingProfile, Settings
from stores.port import NON_ENTITY_KINDS, MemoryFilter, TenantScope

RESULTS: Final = 50
_ANY: Final = sys.float_info.min
"""A least confidence that rejects nothing: where one is asked for, each profile says how sure it is."""

Asked = tuple[Conversation, Question]
"""A question, and the conversation whose user it is asked of."""


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
    """The answer of a recall, explained, and with its confidence, whatever the profile.

    Args:
        corpus: In a store.
        settings: How recalls rank.
        conversation: Its user is asked, at its moment.
        question: The question.
        profile: How results are ranked.
        tenant: Whose memories: the extracted ones, or the raw turns.
        expansions: Sentences that are searched beside it.
        limit: Most results.
        keyword_quota: Most of them that the keyword graph leads to.
    """
    recall = Recall(store=corpus.store, embedder=corpus.embedder, settings=settings.recall, clock=ManualClock(conversation.asked_at))
    request = RecallRequest(
        filter=MemoryFilter(scope=TenantScope(tenant, conversation.user), kinds=NON_ENTITY_KINDS),
        query=question.text,
        expansions=expansions,
        limit=limit,
        keyword_quota=keyword_quota,
        profile=profile,
        min_confidence=_ANY,
        explain=True,
    )
    return await recall.recall(request)


def messages_of(answer: RecallResponse) -> list[str]:
    """The first messages that the results rest on, best first."""
    return ranked_messages(hit.evidence for hit in answer.hits)
