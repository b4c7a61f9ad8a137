"""Measures one memory method: builds the memories of all conversations, and asks their questions through the recall pipeline."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from evaluation.compare.answering import AnswerScore, Models, answered, estimated_spent
from evaluation.compare.conversations import Asked, Dialogue, Step
from evaluation.compare.ingestion import IngestedWindow, Ingestion, Tools
from evaluation.intervals import mean_with_interval
from evaluation.locomo import TENANT
from evaluation.recall.corpus import MemoryWriter, empty_store
from evaluation.recall.measures import Outcome, outcome_of, ranked_messages, summary
from evaluation.recall.memories import last_moment
from evaluation.storage import StorageSize
from memory.records import Memory
from memory.records.wording import attributed_text, indexed_text
from memory.schema import MemorySchema
from memory.texts.text import estimate_tokens
from models.embedding.port import Embedder
from retrieval.context import Context
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.settings import Settings
from stores.index_writer import embed_memories
from stores.port import MemoryFilter, TenantScope

RESULTS: Final = 50
FIRST: Final = 10
"""Results of which the tokens are counted: ``k`` of the paper's section 8.1."""
HISTORY_STEP: Final = 100
"""Messages of each part of the history whose tokens are averaged."""
_BATCH: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The quality and cost of one question's recall."""

    question: Asked
    outcome: Outcome
    tokens: int
    """Tokens of the first :data:`FIRST` results."""
    context: Context
    packed_share: float
    """Share of the evidence in the packed context."""
    seconds: float


async def measured(
    schema: MemorySchema,
    dialogues: Sequence[Dialogue],
    settings: Settings,
    *,
    budget: int,
    aged_days: int | None,
    models: Models | None = None,
) -> dict[str, Any]:
    """The figures of one method as JSON values.

    Args:
        schema: The memory types, composed with the method.
        dialogues: The conversations with their questions.
        settings: The embedding model, and how recalls rank.
        budget: Most tokens of a packed context.
        aged_days: Additional age of timelines, in days. None: nothing ages.
        models: Ingest and answer. None: rules ingest, nothing is answered, and the tokens of a model are estimated.
    """
    later = timedelta(days=aged_days or 0)
    recalled: list[Recalled] = []
    async with empty_store(settings) as (store, embedder):
        tools = Tools(
            schema=schema,
            settings=settings,
            store=store,
            embedder=embedder,
            writer=MemoryWriter(store, embedder),
            llm=None if models is None else models.ingesting,
        )
        users = {each.user: Ingestion(tools, ages=aged_days is not None) for each in dialogues}
        for steps in zip_longest(*(each.steps for each in dialogues), fillvalue=Step()):
            for dialogue, step in zip(dialogues, steps, strict=True):
                if step.questions:
                    await users[dialogue.user].write(dialogue.user, step.questions[0].asked_at + later)
            # Asked after all users' memories of the step are stored: the weights of words are those of the whole tenant.
            for dialogue, step in zip(dialogues, steps, strict=True):
                for question in step.questions:
                    clock = ManualClock(question.asked_at + later)
                    pipeline = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=clock)
                    recalled.append(await _recalled(pipeline, schema, dialogue.user, question, budget=budget))
                await users[dialogue.user].add(step.windows)
        for dialogue in dialogues:
            await users[dialogue.user].write(dialogue.user, last_moment([each for step in dialogue.steps for each in step.windows]) + later)
        size, kinds = StorageSize(), Counter[str]()
        for ingestion in users.values():
            await _add_sizes(size, list(ingestion.written.values()), embedder)
            kinds.update(f"{each.kind} {each.type}" for each in ingestion.written.values())
    scores = None if models is None else await asyncio.gather(*(answered(each.question, each.context.text, models) for each in recalled))
    return {
        **_quality(recalled, scores, is_timed=models is None),
        "memories": size.count,
        "memories_by_type": dict(sorted(kinds.items())),
        "stored_tokens": size.tokens,
        "record_bytes": size.record_bytes,
        "vector_bytes": size.dense_bytes + size.late_bytes,
        "turns": sum(each.turns for each in dialogues),
        "ingestion": _ingestion([*users.values()], is_timed=models is None),
        "history": history_of([each for one in users.values() for each in one.windows]),
    }


def history_of(windows: Sequence[IngestedWindow]) -> list[dict[str, Any]]:
    """Tokens and calls per message, by the number of messages of the conversation before (figure 7 of the paper).

    Args:
        windows: The windows of all conversations, one conversation after the other. One without messages has the tokens of later work.
    """
    messages, tokens, calls = Counter[int](), Counter[int](), Counter[int]()
    part = 0
    for window in windows:
        # Work without messages, such as summaries, belongs to the window before it.
        if window.messages or not window.messages_before:
            part = window.messages_before // HISTORY_STEP
        messages[part] += window.messages
        tokens[part] += window.spent.tokens
        calls[part] += window.spent.calls
    return [
        {
            "messages_before": part * HISTORY_STEP,
            "messages": messages[part],
            "tokens_per_message": round(tokens[part] / messages[part], 1),
            "calls_per_message": round(calls[part] / messages[part], 3),
        }
        for part in sorted(messages)
        if messages[part]
    ]


def _ingestion(users: Sequence[Ingestion], *, is_timed: bool) -> dict[str, Any]:
    """The cost of ingestion. Its time is None if other methods ran at the same time."""
    windows = [each for one in users for each in one.windows]
    messages = max(1, sum(each.messages for each in windows))
    return {
        "model_calls": sum(each.spent.calls for each in windows),
        "model_tokens": sum(each.spent.tokens for each in windows),
        "model_tokens_per_turn": round(sum(each.spent.tokens for each in windows) / messages, 1),
        "model_seconds": round(sum(each.spent.seconds for each in windows), 2),
        "model_cost": round(sum(each.spent.cost for each in windows), 4),
        "prompt_tokens": sum(each.spent.prompt_tokens for each in windows),
        "completion_tokens": sum(each.spent.completion_tokens for each in windows),
        "unusable_windows": sum(each.unusable for each in users),
        "seconds": round(sum(each.seconds for each in users), 2) if is_timed else None,
    }


def _quality(recalled: Sequence[Recalled], scores: Sequence[AnswerScore | None] | None, *, is_timed: bool) -> dict[str, Any]:
    """The measures over all questions and by category, with the cost of a query. Its time is None if other methods ran at the same time."""
    number = max(1, len(recalled))
    rows = list(zip(recalled, [None] * len(recalled) if scores is None else scores, strict=True))
    categories = sorted({each.question.category for each in recalled})
    spent = [each.spent for each in scores or () if each is not None]
    spent = spent or [estimated_spent(each.question, each.context.text) for each in recalled]
    return {
        "overall": _summary(rows),
        "categories": {category: _summary([each for each in rows if each[0].question.category == category]) for category in categories},
        "query": {
            "model_calls": round(sum(each.calls for each in spent) / max(1, len(spent)), 2),
            "model_tokens": round(sum(each.tokens for each in spent) / max(1, len(spent)), 1),
            "prompt_tokens": sum(each.prompt_tokens for each in spent),
            "completion_tokens": sum(each.completion_tokens for each in spent),
            "tokens_of_first_10": round(sum(each.tokens for each in recalled) / number, 1),
            "packed_tokens": round(sum(each.context.tokens for each in recalled) / number, 1),
            "packed_share_of_evidence": round(sum(each.packed_share for each in recalled) / number, 4),
            "seconds": round(sum(each.seconds for each in recalled) / number, 4) if is_timed else None,
            "seconds_p95": round(float(np.percentile([each.seconds for each in recalled], 95)), 4) if is_timed and recalled else None,
            "unanswered": sum(each is not None and each.answer is None for each in scores or ()),
        },
        "packed_shares": [round(each.packed_share, 4) for each in recalled],
    }


def _summary(rows: Sequence[tuple[Recalled, AnswerScore | None]]) -> dict[str, Any]:
    found: dict[str, Any] = dict(summary([each.outcome for each, _ in rows]))
    if rows:
        found["packed_share_of_evidence"] = round(sum(each.packed_share for each, _ in rows) / len(rows), 4)
    scores = [each for _, each in rows if each is not None]
    if scores:
        found["answered"] = sum(each.answer is not None for each in scores)
        found["f1"], found["f1_interval"] = mean_with_interval([each.f1 for each in scores])
        found["bleu_1"], found["bleu_1_interval"] = mean_with_interval([each.bleu_1 for each in scores])
    return found


async def _recalled(pipeline: RecallPipeline, schema: MemorySchema, user: str, question: Asked, *, budget: int) -> Recalled:
    request = RecallRequest(
        filter=MemoryFilter(scope=TenantScope(TENANT, user)),
        query=question.text,
        entity_types=tuple(each.name for each in schema.entity_types),
        type_weights={each.name: each.weight for each in schema.event_types},
        method=schema.method,
        limit=RESULTS,
    )
    started = time.perf_counter()
    response = await pipeline.recall(request)
    seconds = time.perf_counter() - started
    packed = pipeline.pack(request, response, tokens=budget)
    right = set(question.evidence)
    found = {message for citation in packed.citations for message in citation.evidence}
    return Recalled(
        question=question,
        outcome=outcome_of(ranked_messages(hit.evidence for hit in response.hits), question.evidence),
        tokens=sum(estimate_tokens(attributed_text(hit.memory)) for hit in response.hits[:FIRST]),
        context=packed,
        packed_share=len(right & found) / len(right),
        seconds=seconds,
    )


async def _add_sizes(size: StorageSize, memories: Sequence[Memory], embedder: Embedder) -> None:
    for start in range(0, len(memories), _BATCH):
        batch = memories[start : start + _BATCH]
        for memory, embedding in zip(batch, await embed_memories(embedder, batch), strict=True):
            size.add(indexed_text(memory), memory.to_json(), embedding)
