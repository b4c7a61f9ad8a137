"""Measures one memory method: builds the memories of all conversations, and asks their questions through the recall pipeline."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, Final

from evaluation.compare.conversations import Asked, Dialogue, Step
from evaluation.locomo import TENANT
from evaluation.recall.corpus import MemoryWriter, empty_store
from evaluation.recall.measures import Outcome, outcome_of, ranked_messages, summary
from evaluation.recall.memories import UserMemories, last_moment
from evaluation.storage import StorageSize
from extraction.method import MethodExtractor
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.records import Memory, Window
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

    category: str
    outcome: Outcome
    tokens: int
    """Tokens of the first :data:`FIRST` results."""
    packed_tokens: int
    """Tokens of the packed context."""
    packed_share: float
    """Share of the evidence in the packed context."""
    seconds: float


class _Growing:
    """One user's memories in the store, as they are after each part of the conversation.

    Args:
        schema: The memory types, with their method.
        embedder: The model of the extractor.
        writer: Writes into the store.
        ages: Whether timelines age.
    """

    def __init__(self, schema: MemorySchema, embedder: Embedder, writer: MemoryWriter, *, ages: bool) -> None:
        self._schema = schema
        self._extractor = MethodExtractor(OfflineExtractor(embedder=embedder), embedder)
        self._memories = UserMemories(schema)
        self._writer = writer
        self._ages = ages
        self.written: dict[str, Memory] = {}

    async def add(self, windows: Sequence[Window]) -> None:
        """Extracts the next windows."""
        for window in windows:
            self._memories.add(await self._extractor.extract(window, self._schema, ExtractionContext()))

    async def write(self, user: str, now: datetime) -> None:
        """Makes the store contain the memories of a moment."""
        aging = self._memories.aged(now) if self._ages else [*self._memories.events, *self._memories.published()]
        wanted = {each.id: each for each in (*aging, *self._memories.entities())}
        await self._writer.write([each for each in wanted.values() if self.written.get(each.id) != each])
        await self._writer.delete(user, [each for each in self.written if each not in wanted])
        self.written = wanted


async def measured(
    schema: MemorySchema, dialogues: Sequence[Dialogue], settings: Settings, *, budget: int, aged_days: int | None
) -> dict[str, Any]:
    """The figures of one method as JSON values. No model is called.

    Args:
        schema: The memory types, composed with the method.
        dialogues: The conversations with their questions.
        settings: The embedding model, and how recalls rank.
        budget: Most tokens of a packed context.
        aged_days: Additional age of timelines, in days. None: nothing ages.
    """
    later, ingestion_s = timedelta(days=aged_days or 0), 0.0
    answers: list[Answer] = []
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        users = {each.user: _Growing(schema, embedder, writer, ages=aged_days is not None) for each in dialogues}
        for steps in zip_longest(*(each.steps for each in dialogues), fillvalue=Step()):
            for dialogue, step in zip(dialogues, steps, strict=True):
                started = time.perf_counter()
                if step.questions:
                    await users[dialogue.user].write(dialogue.user, step.questions[0].asked_at + later)
                ingestion_s += time.perf_counter() - started
            # Asked after all users' memories of the step are stored: the weights of words are those of the whole tenant.
            for dialogue, step in zip(dialogues, steps, strict=True):
                for question in step.questions:
                    clock = ManualClock(question.asked_at + later)
                    pipeline = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=clock)
                    answers.append(await _answer(pipeline, schema, dialogue.user, question, budget=budget))
                started = time.perf_counter()
                await users[dialogue.user].add(step.windows)
                ingestion_s += time.perf_counter() - started
        for dialogue in dialogues:
            started = time.perf_counter()
            await users[dialogue.user].write(dialogue.user, last_moment([each for step in dialogue.steps for each in step.windows]) + later)
            ingestion_s += time.perf_counter() - started
        size, kinds = StorageSize(), Counter[str]()
        for growing in users.values():
            await _add_sizes(size, list(growing.written.values()), embedder)
            kinds.update(f"{each.kind} {each.type}" for each in growing.written.values())
    return {
        **_quality(answers),
        "memories": size.count,
        "memories_by_type": dict(sorted(kinds.items())),
        "stored_tokens": size.tokens,
        "record_bytes": size.record_bytes,
        "vector_bytes": size.dense_bytes + size.late_bytes,
        "turns": sum(each.turns for each in dialogues),
        "ingestion": {"model_calls": 0, "model_tokens": 0, "model_tokens_per_turn": 0.0, "seconds": round(ingestion_s, 2)},
    }


def _quality(answers: Sequence[Answer]) -> dict[str, Any]:
    """The measures over all questions and by category, with the cost of a query."""
    number = max(1, len(answers))
    return {
        "overall": summary([each.outcome for each in answers]),
        "categories": {
            category: summary([each.outcome for each in answers if each.category == category])
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


async def _answer(pipeline: RecallPipeline, schema: MemorySchema, user: str, question: Asked, *, budget: int) -> Answer:
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
