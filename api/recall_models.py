"""Builds the models of recalls from the settings. Their usage is recorded as of any LLM, and each has a separate budget."""

from collections.abc import Sequence

from memory.errors import VarveError
from memory.keys import encode_key
from memory.records import Usage
from models.llm.build import build_llm
from models.llm.port import LLM
from models.llm.usage import UsageSink
from runtime.background import BackgroundBatches
from runtime.errors import KafkaUnavailableError
from runtime.kafka import OutgoingRecord, Producer
from runtime.logs import logger
from runtime.redis import GuardedRedis
from runtime.settings import BudgetSettings, LLMSettings, RecallModelSettings, Settings

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
    settings: Settings, asked: RecallModelSettings, *, redis: GuardedRedis, usage: UsageSink, purpose: str, cache_ttl_s: float = 0
) -> LLM | None:
    """The LLM of a group of settings. None if it has no endpoint.

    Args:
        settings: The settings in force.
        asked: The group.
        redis: Limits, budgets and cached replies, which all processes share.
        usage: Receives usage records.
        purpose: The purpose; each has a separate budget.
        cache_ttl_s: Lifetime of a cached reply, in seconds. 0: no cache.

    Raises:
        ModelConfigurationError: If a price table lacks the model.
    """
    llm = LLMSettings(
        base_url=asked.base_url,
        api_key=asked.api_key,
        model=asked.model,
        response_format="none",
        max_completion_tokens=asked.max_completion_tokens,
        first_token_timeout_s=asked.deadline_s,
        timeout_s=asked.deadline_s,
        queue_timeout_s=asked.deadline_s,
        concurrency=asked.concurrency,
        cache_ttl_s=cache_ttl_s,
        price_table=settings.llm.price_table,
    )
    budget = BudgetSettings(hard_tokens=asked.tokens_per_day)
    return build_llm(
        settings.model_copy(update={"llm": llm, "budget": budget}),
        redis=redis,
        usage=usage,
        budget_name=f"{purpose}-budget",
        key_variable=f"VARVE_{purpose.upper()}__API_KEY",
    )
