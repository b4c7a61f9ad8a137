"""Models at endpoints that the kit asks: the working LLM, a teacher, or a served proxy. Answers are cached by the hash of their prompt."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from evaluation.cached_llm import KeptLLM, KeptReplies, endpoint_settings
from evaluation.locomo import TENANT
from models.llm.port import ChatMessage, LLMAnswer, LLMRequest, LLMUsage
from models.llm.usage import PriceTable
from runtime.settings import Settings

Prompt = Sequence[ChatMessage]


class RankingModel(Protocol):
    """A model that ranks sessions: local weights, or an endpoint."""

    @property
    def name(self) -> str:
        """The model, for configurations and reports."""
        ...

    def answer_all(self, prompts: Sequence[Prompt], *, samples: int = 1) -> list[list[LLMAnswer]]:
        """Answers to prompts, in their order.

        Args:
            prompts: The prompts.
            samples: Answers to each. With one, the answer is the most likely; with more, they are drawn.
        """
        ...

    def close(self) -> None:
        """Frees what the model holds."""
        ...


class EndpointModel:
    """A model at an OpenAI-compatible endpoint.

    Args:
        settings: Their LLM's endpoint is asked; limits, time-outs and prices are theirs, too.
        replies: The file with cached answers.
        purpose: The purpose of the calls, as an error names it.
        max_tokens: Longest answer.

    Raises:
        EvaluationError: If the settings name no endpoint, or the file is damaged.
    """

    def __init__(self, settings: Settings, *, replies: Path, purpose: str, max_tokens: int) -> None:
        self._llm = KeptLLM(settings, kept=KeptReplies(replies), purpose=purpose)
        self._runner = asyncio.Runner()
        self._purpose = purpose
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.model

    @property
    def asked(self) -> int:
        """Calls that were made, without cached answers."""
        return self._llm.asked

    def answer_all(self, prompts: Sequence[Prompt], *, samples: int = 1) -> list[list[LLMAnswer]]:
        """As :meth:`RankingModel.answer_all`. Equal prompts are asked once.

        Raises:
            models.errors.ModelError: If the endpoint does not answer. Answers so far are cached.
        """
        return self._runner.run(self._answer_all(prompts, samples))

    def close(self) -> None:
        """Closes the connections."""
        self._runner.run(self._llm.close())
        self._runner.close()

    async def _answer_all(self, prompts: Sequence[Prompt], samples: int) -> list[list[LLMAnswer]]:
        keys = [tuple((each.role, each.content) for each in prompt) for prompt in prompts]
        distinct = dict(zip(keys, prompts, strict=True))
        calls = [self._answer(prompt, attempt) for prompt in distinct.values() for attempt in range(samples)]
        answers = await asyncio.gather(*calls)
        found = {key: answers[place * samples : (place + 1) * samples] for place, key in enumerate(distinct)}
        return [list(found[key]) for key in keys]

    async def _answer(self, prompt: Prompt, attempt: int) -> LLMAnswer:
        request = LLMRequest(
            messages=tuple(prompt), tenant=TENANT, stage="training", purpose=self._purpose, max_tokens=self._max_tokens, attempt=attempt
        )
        return await self._llm.complete(request)


def proxy_settings(settings: Settings) -> Settings:
    """The settings with the endpoint of ``VARVE_SIFT__*`` as the LLM's."""
    sift = settings.sift
    key = None if sift.api_key is None else sift.api_key.get_secret_value()
    given = endpoint_settings(settings, url=sift.base_url, model=sift.model, api_key=key, concurrency=sift.concurrency)
    llm = given.llm.model_copy(
        update={"max_completion_tokens": sift.max_completion_tokens, "response_format": "none", "base_url": sift.base_url}
    )
    return given.model_copy(update={"llm": llm})


def working_settings(settings: Settings) -> Settings:
    """The settings for the working LLM or a teacher: the endpoint of ``VARVE_LLM__*``, without fallbacks."""
    return endpoint_settings(settings, concurrency=settings.llm.concurrency)


def estimated_cost(settings: Settings, *, model: str, calls: int, prompt_tokens: int, completion_tokens: int) -> str:
    """A line with the most that calls can cost.

    Args:
        settings: The price table.
        model: The model.
        calls: Number of calls.
        prompt_tokens: Tokens of all prompts, estimated.
        completion_tokens: Tokens of all answers, at most.
    """
    prices = PriceTable.load(settings.llm.price_table)
    usage = LLMUsage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    cost = f"{prices.cost(model, usage):.4g}" if prices else "unknown without a price table (VARVE_LLM__PRICE_TABLE)"
    return f"Calls of {model}: at most {calls:,}, about {prompt_tokens:,} + {completion_tokens:,} tokens. Cost: {cost}."
