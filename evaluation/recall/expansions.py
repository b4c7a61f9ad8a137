"""Expands questions with a model, as a recall with ``mode=expand`` does. Replies are cached in a file."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from evaluation.cached_llm import KeptReplies, endpoint_settings
from evaluation.qa.calls import Model, tokens_of
from models.errors import ModelError
from retrieval.errors import RecallModelError
from retrieval.query.expansion import PURPOSE, parse_sentences, prompt_of
from runtime.settings import Settings

_ANSWER_TOKENS: Final = 60
"""Assumed tokens of a reply, for the estimated cost."""


class Expander:
    """Expands questions.

    Args:
        settings: The longest reply, and the model's key and limits.
        url: OpenAI-compatible address.
        model: Its model. None: the settings' model.
        replies: The file of cached replies.
        concurrency: Concurrent calls.
    """

    def __init__(self, settings: Settings, *, url: str, model: str | None, replies: Path, concurrency: int) -> None:
        self._endpoint = endpoint_settings(settings, url=url, model=model, concurrency=concurrency)
        self._max_tokens = settings.expansion.max_completion_tokens
        self._replies = replies

    async def of(self, questions: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The sentences of each question; none if the model returned none. Prints the estimated cost first.

        Args:
            questions: Their texts.
        """
        model = Model(self._endpoint, kept=KeptReplies(self._replies), purpose=PURPOSE, max_tokens=self._max_tokens)

        async def expanded(question: str) -> tuple[str, ...]:
            try:
                return parse_sentences(await model.ask(prompt_of(question)), question)
            except (ModelError, RecallModelError) as error:
                print(f"{question}: {error}", file=sys.stderr)
                return ()

        texts = list(dict.fromkeys(questions))
        prompts = sum(tokens_of(prompt_of(each)) for each in texts)
        print(f"{len(texts)} questions to expand, about {prompts:,} + {_ANSWER_TOKENS * len(texts):,} tokens", file=sys.stderr)
        try:
            return dict(zip(texts, await asyncio.gather(*map(expanded, texts)), strict=True))
        finally:
            await model.close()
