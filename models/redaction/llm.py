"""An LLM that sees no personal data: placeholders in the prompt, originals in the answer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache
from typing import Final, cast

from memory.redaction import RedactionPolicy
from models.llm.port import LLM, LLMAnswer, LLMRequest
from models.redaction.detection import Detector
from models.redaction.placeholders import LONGEST_PLACEHOLDER, Placeholders

_SHORT: Final = 4_000
"""Characters that are searched within a few milliseconds."""


class RedactingLLM:
    """Asks another LLM without the personal data that the request's tenant redacts.

    The answer has the originals, so evidence and quotations are checked as usual. The other LLM's cache and usage records see placeholders.

    Args:
        llm: The other LLM; closed with this one.
        policy_of: A tenant's policy.
    """

    def __init__(self, llm: LLM, *, policy_of: Callable[[str], RedactionPolicy]) -> None:
        self._llm = llm
        self._policy_of = policy_of

    @property
    def model(self) -> str:
        """The other LLM's model."""
        return self._llm.model

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        """See :meth:`models.llm.port.LLM.complete`."""
        redacted, placeholders = await self._redacted(request)
        answer = await self._llm.complete(redacted)
        if placeholders is None:
            return answer
        return replace(answer, text=placeholders.restored(answer.text), thoughts=placeholders.restored(answer.thoughts))

    def stream(self, request: LLMRequest) -> AsyncIterator[str]:
        """See :meth:`models.llm.port.LLM.stream`. A piece that may end within a placeholder waits for the next one."""
        return self._stream(request)

    async def serves(self, tenant: str, *, stage: str) -> bool:
        """See :meth:`models.llm.port.LLM.serves`."""
        return await self._llm.serves(tenant, stage=stage)

    async def close(self) -> None:
        """Closes the other LLM."""
        await self._llm.close()

    async def _stream(self, request: LLMRequest) -> AsyncGenerator[str]:
        redacted, placeholders = await self._redacted(request)
        waiting = ""
        async with aclosing(cast(AsyncGenerator[str], self._llm.stream(redacted))) as pieces:
            async for piece in pieces:
                if placeholders is None:
                    yield piece
                    continue
                waiting += piece
                opened = waiting.rfind("[", max(0, len(waiting) - LONGEST_PLACEHOLDER))
                end = opened if opened >= 0 and "]" not in waiting[opened:] else len(waiting)
                ready, waiting = waiting[:end], waiting[end:]
                if ready:
                    yield placeholders.restored(ready)
        if waiting and placeholders is not None:
            yield placeholders.restored(waiting)

    async def _redacted(self, request: LLMRequest) -> tuple[LLMRequest, Placeholders | None]:
        policy = self._policy_of(request.tenant)
        if not policy.kinds:
            return request, None
        if sum(len(each.content) for each in request.messages) <= _SHORT:
            return _without_personal_data(request, policy)
        return await asyncio.to_thread(_without_personal_data, request, policy)


def _without_personal_data(request: LLMRequest, policy: RedactionPolicy) -> tuple[LLMRequest, Placeholders]:
    # The instructions come from the schema. Their bytes stay, so that prefix caches hit.
    texts = [each.content for each in request.messages if each.role != "system"]
    placeholders = Placeholders(detector_of(policy), [each.content for each in request.messages])
    contents = iter([placeholders.redacted(each) for each in texts])
    messages = tuple(each if each.role == "system" else replace(each, content=next(contents)) for each in request.messages)
    return replace(request, messages=messages), placeholders


@lru_cache(maxsize=256)
def detector_of(policy: RedactionPolicy) -> Detector:
    """The detector of a policy."""
    return Detector(policy)
