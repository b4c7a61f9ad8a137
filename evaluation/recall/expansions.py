"""What a model expands the questions to, as a recall with ``mode=expand`` has it; replies are kept."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluation.kept_llm import KeptReplies, endpoint_settings
from evaluation.qa.calls import Model
from models.errors import ModelError
from retrieval.recall.expansion.expansion import PURPOSE
from retrieval.recall.expansion.sentences import parse_sentences, prompt_of
from retrieval.recall.model_errors import RecallModelError
from runtime.settings import Settings


async def expansions_of(
    questions: Sequence[str], settings: Settings, *, url: str, model: str | None, replies: Path, concurrency: int
) -> list[tuple[str, ...]]:
    """Sentences for each question, in their order; none where the model gave none.

    Args:
        questions: Their texts.
        settings: The longest answer, and the model's key and limits where they are not given here.
        url: OpenAI-compatible address.
        model: Its model; None: that of the settings.
        replies: Where replies are kept.
        concurrency: Calls at once.
    """
    endpoint = endpoint_settings(settings, url=url, model=model, api_key=None, concurrency=concurrency)
    asking = Model(endpoint, kept=KeptReplies(replies), purpose=PURPOSE, max_tokens=settings.expansion.max_completion_tokens)

    async def expanded(question: str) -> tuple[str, ...]:
        try:
            return parse_sentences(await asking.ask(prompt_of(question)), question)
        except (ModelError, RecallModelError) as error:
            print(f"{question}: {error}", file=sys.stderr)
            return ()

    try:
        return list(await asyncio.gather(*map(expanded, questions)))
    finally:
        await asking.close()
