"""A model that answers or judges."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.cached_llm import KeptLLM, KeptReplies, Spent
from evaluation.locomo import TENANT
from memory.texts.text import estimate_tokens
from models.llm.port import ChatMessage, LLMRequest
from runtime.settings import Settings


class Model:
    """A model at an endpoint.

    Args:
        settings: The endpoint is their LLM's; limits, time-outs and prices, too.
        kept: The replies so far.
        purpose: Its purpose.
        max_tokens: Longest reply.
        turn: See :class:`evaluation.cached_llm.KeptLLM`.

    Raises:
        EvaluationError: If the settings name no endpoint.
    """

    def __init__(
        self, settings: Settings, *, kept: KeptReplies, purpose: str, max_tokens: int, turn: asyncio.Semaphore | None = None
    ) -> None:
        self._llm = KeptLLM(settings, kept=kept, purpose=purpose, turn=turn)
        self._purpose = purpose
        self._max_tokens = max_tokens

    @property
    def asked(self) -> int:
        """Calls that were made, and not found among the replies."""
        return self._llm.asked

    @property
    def name(self) -> str:
        """The model's."""
        return self._llm.model

    async def ask(self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any] | None = None, attempt: int = 0) -> str:
        """The reply to a prompt: a kept one, or a new one, which is kept.

        Args:
            messages: The prompt.
            schema: Schema of the reply; None: free text.
            attempt: Number of the attempt. After an unusable reply, the next attempt has a higher one.

        Raises:
            ModelError: If the endpoint does not answer, after the gateway's own tries.
        """
        return (await self.ask_counted(messages, schema=schema, attempt=attempt))[0]

    async def ask_counted(
        self, messages: Sequence[ChatMessage], *, schema: Mapping[str, Any] | None = None, attempt: int = 0
    ) -> tuple[str, Spent]:
        """As :meth:`ask`, with the tokens of the call."""
        request = LLMRequest(
            messages=tuple(messages),
            tenant=TENANT,
            stage="evaluation",
            purpose=self._purpose,
            json_schema=schema,
            max_tokens=self._max_tokens,
            attempt=attempt,
        )
        answer = await self._llm.complete(request)
        spent = Spent(1, answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.cost, answer.latency_ms / 1000)
        return answer.text.strip(), spent

    async def close(self) -> None:
        """Frees the connections."""
        await self._llm.close()


def tokens_of(prompt: Iterable[ChatMessage]) -> int:
    """Estimated tokens of a prompt."""
    return sum(estimate_tokens(each.content) for each in prompt)
