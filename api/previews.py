"""Dry runs of the extraction for a tenant: what a schema would extract from some messages. Nothing is stored.

A call of a model costs the tenant as in the extraction stage: it counts against the same budget, and its usage is recorded.
"""

import asyncio
import math
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, Final

from api.problems import RETRY_AFTER_S, ProblemError
from control.redaction import TenantRedaction
from control.tenants import TenantDirectory
from extraction.errors import UnusableAnswerError
from extraction.port import Extractor
from memory.schema import MemorySchema
from memory.topics import USAGE
from models.embedding.port import Embedder
from models.errors import BudgetExceededError, ModelError
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from streams.operations.dry_run import DryWindow, extract_dry

MAX_MESSAGES: Final = 200
"""Most messages of a dry run, the newest; a session's tail usually has less than fifty."""
_LONGEST_S: Final = 120.0

_log = logger(__name__)


class Previews:
    """Runs one preview at a time, with the extractor of the settings: the configured model, or rules without one.

    Args:
        settings: The model's endpoint, and the limits of windows and prompts.
        redis: Limits, budgets and cached replies, which all processes share.
        producer: Writes the usage.
        tenants: The tenants' budgets.
        embedder: Finds equal events.
    """

    def __init__(
        self, *, settings: Settings, redis: GuardedRedis, producer: Producer, tenants: TenantDirectory, embedder: Embedder
    ) -> None:
        self._settings = settings
        self._redis = redis
        self._producer = producer
        self._tenants = tenants
        self._embedder = embedder
        self._extractor: Extractor | None = None
        self._running = asyncio.Lock()

    async def of(self, tenant: str, messages: Sequence[dict[str, Any]], schema: MemorySchema) -> list[DryWindow]:
        """The windows of messages and what would be extracted from each, without entities and earlier events.

        Args:
            tenant: The tenant, whose budget pays.
            messages: The messages, oldest first; only the newest :data:`MAX_MESSAGES` are used.
            schema: The types to extract.

        Raises:
            ProblemError: 429 while another preview runs or if the budget is used up, 502 if the model's answer is unusable, 503 if the
                model does not answer.
        """
        if self._running.locked():
            raise ProblemError(
                429, "too-many-previews", "another preview runs in this process; try again", headers={"Retry-After": str(RETRY_AFTER_S)}
            )
        async with self._running:
            try:
                async with asyncio.timeout(_LONGEST_S):
                    return await self._extracted(tenant, messages[-MAX_MESSAGES:], schema)
            except BudgetExceededError as error:
                wait_s = math.ceil(error.retry_after_s)
                raise ProblemError(429, "budget-exceeded", str(error), headers={"Retry-After": str(wait_s)}) from error
            except UnusableAnswerError as error:
                raise ProblemError(502, "answer-unusable", "the model's answer cannot be used; repeat the preview") from error
            except (ModelError, TimeoutError) as error:
                _log.warning("preview_failed", error=str(error))
                raise ProblemError(
                    503, "unavailable", "the model does not answer; try again", headers={"Retry-After": str(RETRY_AFTER_S)}
                ) from error

    async def close(self) -> None:
        """Closes the extractor."""
        if self._extractor is not None:
            await self._extractor.close()

    async def _extracted(self, tenant: str, messages: Sequence[dict[str, Any]], schema: MemorySchema) -> list[DryWindow]:
        if self._extractor is None:
            self._extractor = self._build()
        windows = extract_dry(messages, schema, tenant=tenant, extractor=self._extractor, settings=self._settings)
        async with aclosing(windows):
            return [each async for each in windows]

    def _build(self) -> Extractor:
        # The extractors and the stages' modules take seconds to import: a service without previews starts without them.
        from extraction.build import build_extractor
        from models.llm.build import build_llm
        from streams.stages.model_calls import TenantBudgets, UsageTopic

        settings = self._settings
        llm = build_llm(
            settings,
            redis=self._redis,
            usage=UsageTopic(producer=self._producer, topic=settings.topic(USAGE.name)),
            budget_of=TenantBudgets(tenants=self._tenants, settings=settings).of,
            redaction_of=TenantRedaction(self._tenants).of,
        )
        return build_extractor(settings, embedder=self._embedder, llm=llm)
