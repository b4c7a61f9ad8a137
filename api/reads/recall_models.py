"""The models that recalls call, and the record of their usage."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial

from memory.errors import VarveError
from memory.keys import encode_key
from memory.records import Usage
from memory.redaction import RedactionPolicy
from models.embedding.port import Embedder
from models.llm.build import build_llm
from models.llm.port import LLM
from models.llm.usage import UsageSink
from retrieval.query.expansion import PURPOSE as EXPANSION
from retrieval.query.expansion import Expansion
from retrieval.retrievers.base import PreparedStore
from retrieval.retrievers.topics import PURPOSE as TOPICS
from retrieval.retrievers.topics import TopicRetriever
from retrieval.rewriting import QueryRewriter
from retrieval.session_ranking.llm_session_ranker import PURPOSE as SIFT
from retrieval.session_ranking.llm_session_ranker import Sift
from runtime.background import BackgroundBatches
from runtime.errors import KafkaUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.logs import logger
from runtime.metrics import metrics
from runtime.redis.client import GuardedRedis
from runtime.settings import BudgetSettings, LLMSettings, RecallModelSettings, Settings
from stores.port import MemoryStore

_log = logger(__name__)


class BackgroundUsage:
    """Writes the usage of calls to the topic ``usage``, in the background."""

    def __init__(self, *, producer: Producer, topic: str, max_pending: int) -> None:
        self._producer = producer
        self._topic = topic
        self._records = BackgroundBatches(self._produce, max_pending=max_pending)

    async def record(self, usage: Usage) -> None:
        """Schedules one call's usage to be written.

        Raises:
            KafkaUnavailableError: If too many are pending.
        """
        if not self._records.add(OutgoingRecord(self._topic, encode_key(usage.tenant), usage.to_json())):
            raise KafkaUnavailableError("too many records wait to be written")

    async def close(self) -> None:
        """Waits for the pending records. The producer's time-out bounds the wait."""
        await self._records.close()

    async def _produce(self, records: Sequence[OutgoingRecord]) -> None:
        for outcome in await self._producer.send_each(records):
            if isinstance(outcome, VarveError):
                _log.warning("usage_not_produced", error=str(outcome))


def build_recall_model(
    settings: Settings,
    group: RecallModelSettings,
    *,
    redis: GuardedRedis,
    usage: UsageSink,
    purpose: str,
    redaction_of: Callable[[str], RedactionPolicy] | None = None,
    cache_ttl_s: float = 0,
) -> LLM | None:
    """The LLM of a group of settings. None if it has no endpoint.

    Args:
        settings: The settings in force.
        group: The group.
        redis: Limits, budgets and cached replies, which all processes share.
        usage: Receives usage records.
        purpose: The purpose; each has a separate budget.
        redaction_of: A tenant's policy for personal data in prompts. Default: nothing is redacted.
        cache_ttl_s: Lifetime of a cached reply, in seconds. 0: no cache.

    Raises:
        ModelConfigurationError: If a price table lacks the model.
    """
    llm = LLMSettings(
        base_url=group.base_url,
        api_key=group.api_key,
        model=group.model,
        response_format="none",
        max_completion_tokens=group.max_completion_tokens,
        first_token_timeout_s=group.deadline_s,
        timeout_s=group.deadline_s,
        queue_timeout_s=group.deadline_s,
        concurrency=group.concurrency,
        cache_ttl_s=cache_ttl_s,
        price_table=settings.llm.price_table,
    )
    budget = BudgetSettings(hard_tokens=group.tokens_per_day)
    return build_llm(
        settings.model_copy(update={"llm": llm, "budget": budget}),
        redis=redis,
        usage=usage,
        redaction_of=redaction_of,
        budget_name=f"{purpose}-budget",
        key_variable=f"VARVE_{purpose.upper()}__API_KEY",
    )


def build_query_rewriter(
    stack: AsyncExitStack,
    settings: Settings,
    *,
    store: MemoryStore,
    embedder: Embedder,
    redis: GuardedRedis,
    usage: UsageSink,
    redaction_of: Callable[[str], RedactionPolicy],
) -> QueryRewriter:
    """The steps of a recall that call a model, with their models.

    Args:
        stack: Closes them.
        settings: The settings in force.
        store: The vector store.
        embedder: The embedding model.
        redis: See :func:`build_recall_model`.
        usage: See :func:`build_recall_model`.
        redaction_of: See :func:`build_recall_model`.

    Raises:
        ModelConfigurationError: If a price table lacks a model.
    """
    build = partial(build_recall_model, settings, redis=redis, usage=usage, redaction_of=redaction_of)
    # Rankings are not cached: an invalid reply would be reused for the same query.
    sift = Sift(llm=build(settings.sift, purpose=SIFT), settings=settings.sift)
    stack.push_async_callback(sift.close)
    expanding_model = build(settings.expansion, purpose=EXPANSION, cache_ttl_s=settings.expansion.cache_ttl_s)
    expansion = Expansion(llm=expanding_model, settings=settings.expansion)
    stack.push_async_callback(expansion.close)
    selecting_model = build(settings.topics, purpose=TOPICS)
    topics = TopicRetriever(PreparedStore(store, embedder), embedder, llm=selecting_model, settings=settings.topics)
    stack.push_async_callback(topics.close)
    return QueryRewriter(expansion=expansion, sift=sift, topics=topics, metrics=metrics())
