"""Measures one memory method: builds the memories of all conversations, and asks their questions through the recall pipeline."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from evaluation.compare.conversations import Dialogue
from evaluation.locomo import TENANT
from evaluation.recall.corpus import MemoryWriter, Question, empty_store
from evaluation.recall.measures import Outcome, outcome_of, ranked_messages, summary
from evaluation.recall.memories import last_moment, memories_of
from evaluation.storage import StorageSize
from memory.records import Memory
from memory.records.wording import attributed_text, indexed_text
from memory.schema import MemorySchema
from memory.text import estimate_tokens
from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.settings import Settings
from stores.indexing.writer import embed_memories
from stores.port import MemoryFilter, TenantScope

RESULTS: Final = 50
FIRST: Final = 10
"""Results of which the tokens are counted: ``k`` of the paper's section 8.1."""
_BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """The quality and cost of one question's recall."""

    category: int
    outcome: Outcome
    tokens: int
    """Tokens of the first :data:`FIRST` results."""
    packed_tokens: int
    """Tokens of the packed context."""
    packed_share: float
    """Share of the evidence in the packed context."""
    seconds: float


async def measured(
    schema: MemorySchema, dialogues: Sequence[Dialogue], settings: Settings, *, budget: int, aged_days: int | None
) -> dict[str, Any]:
    """The figures of one method as JSON values. No model is called.

    Args:
        schema: The memory types, composed with the method.
        dialogues: The conversations with their questions.
        settings: The embedding model, and how recalls rank.
        budget: Most tokens of a packed context.
        aged_days: Age of timelines, in days after the last message. None: nothing ages.
    """
    size, ingestion_s, kinds = StorageSize(), 0.0, dict[str, int]()
    answers: list[Answer] = []
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        for dialogue in dialogues:
            started = time.perf_counter()
            memories = await memories_of(dialogue.windows, embedder, aged_days=aged_days, schema=schema)
            await writer.write(memories)
            ingestion_s += time.perf_counter() - started
            await _add_sizes(size, memories, embedder)
            for memory in memories:
                kinds[f"{memory.kind} {memory.type}"] = kinds.get(f"{memory.kind} {memory.type}", 0) + 1
        for dialogue in dialogues:
            asked_at = last_moment(dialogue.windows) + timedelta(days=aged_days or 0)
            pipeline = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=ManualClock(asked_at))
            answers += [await _answer(pipeline, schema, dialogue.user, each, budget=budget) for each in dialogue.questions]
    turns = sum(len(window.messages) for dialogue in dialogues for window in dialogue.windows)
    return {
        **_quality(answers),
        "memories": size.count,
        "memories_by_type": dict(sorted(kinds.items())),
        "stored_tokens": size.tokens,
        "record_bytes": size.record_bytes,
        "vector_bytes": size.dense_bytes + size.late_bytes,
        "turns": turns,
        "ingestion": {"model_calls": 0, "model_tokens": 0, "model_tokens_per_turn": 0.0, "seconds": round(ingestion_s, 2)},
    }


def _quality(answers: Sequence[Answer]) -> dict[str, Any]:
    """The measures over all questions and by category, with the cost of a query."""
    number = max(1, len(answers))
    return {
        "overall": summary([each.outcome for each in answers]),
        "categories": {
            str(category): summary([each.outcome for each in answers if each.category == category])
            for category in sorted({each.category for each in answers})
        },
        "query": {
            "model_calls": 0,
            "tokens_of_first_10": round(sum(each.tokens for each in answers) / number, 1),
            "packed_tokens": round(sum(each.packed_tokens for each in answers) / number, 1),
            "packed_share_of_evidence": round(sum(each.packed_share for each in answers) / number, 4),
            "seconds": round(sum(each.seconds for each in answers) / number, 4),
        },
    }


async def _answer(pipeline: RecallPipeline, schema: MemorySchema, user: str, question: Question, *, budget: int) -> Answer:
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
    return Answer(
        category=question.category,
        outcome=outcome_of(ranked_messages(hit.evidence for hit in response.hits), question.evidence),
        tokens=sum(estimate_tokens(attributed_text(hit.memory)) for hit in response.hits[:FIRST]),
        packed_tokens=packed.tokens,
        packed_share=len(right & found) / len(right),
        seconds=seconds,
    )


async def _add_sizes(size: StorageSize, memories: Sequence[Memory], embedder: Embedder) -> None:
    for start in range(0, len(memories), _BATCH):
        batch = memories[start : start + _BATCH]
        for memory, embedding in zip(batch, await embed_memories(embedder, batch), strict=True):
            size.add(indexed_text(memory), memory.to_json(), embedding)
