"""Questions of LoCoMo and LongMemEval, each with the context that the memory packs for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from evaluation.data_files import format_of
from evaluation.errors import DataSetError
from evaluation.locomo import TENANT
from evaluation.longmemeval.dataset import read_longmemeval
from evaluation.recall.corpus import UNANSWERABLE, MemoryWriter, empty_store, filled_store
from evaluation.recall.expansions import Expander
from evaluation.recall.memories import SCHEMA, memories_of
from memory.schema import scenario
from models.embedding.port import Embedder
from retrieval.context import Context, hits_for
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import Clock, ManualClock
from runtime.settings import Settings
from stores.port import MemoryFilter, MemoryStore, TenantScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question."""

    id: str
    user: str
    text: str
    answer: str
    """The right answer; empty if there is none."""
    kind: str
    """LoCoMo's category as a number, LongMemEval's question type."""
    asked_at: datetime | None
    """None: the data set does not say."""
    is_answerable: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question, and the context that the memory packs for it."""

    asked: Asked
    context: Context


async def prepared_questions(path: Path, settings: Settings, *, tokens: int, limit: int | None, expand: Expander | None) -> list[Prepared]:
    """All questions of a file, with their contexts. It calls no model except the one that expands queries.

    Args:
        path: LoCoMo or LongMemEval, or a part of one.
        settings: The embedding model and the ranking.
        tokens: Most tokens of each context.
        limit: Most questions: spread evenly over LoCoMo's, the first of LongMemEval's. None: all.
        expand: Makes recalls those of ``mode=expand``; None: nothing is expanded.

    Raises:
        DataSetError: If the file cannot be read, or has neither form.
        ConversationError: If it lacks a field of LoCoMo's form.
    """
    match format_of(path):
        case "LoCoMo":
            return await _locomo(path, settings, tokens, limit, expand)
        case "LongMemEval":
            return await _longmemeval(path, settings, tokens, limit, expand)
        case other:
            raise DataSetError(f"{path} is {other}, and its questions have no short answers: give LoCoMo or LongMemEval")


async def _locomo(path: Path, settings: Settings, tokens: int, limit: int | None, expand: Expander | None) -> list[Prepared]:
    async with filled_store(path, settings) as corpus:
        asked = [
            Asked(
                id=f"{conversation.user}/{number}",
                user=conversation.user,
                text=question.text,
                answer=question.answer,
                kind=str(question.category),
                asked_at=None,
                is_answerable=question.category != UNANSWERABLE,
            )
            for conversation in corpus.conversations
            for number, question in enumerate(conversation.questions)
        ]
        step = 1 if limit is None else max(1, len(asked) // limit)
        memories = {
            each.user: _Memory(corpus.store, corpus.embedder, settings, ManualClock(each.asked_at), tokens) for each in corpus.conversations
        }
        chosen = asked[::step][:limit]
        expansions = await _expansions(chosen, expand)
        return [Prepared(each, await memories[each.user].context(each, expansions.get(each.text, ()))) for each in chosen]


async def _longmemeval(path: Path, settings: Settings, tokens: int, limit: int | None, expand: Expander | None) -> list[Prepared]:
    prepared: list[Prepared] = []
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        for question in islice(read_longmemeval(path), limit):
            await writer.write(await memories_of(question.windows, embedder))
            asked = Asked(
                id=question.id,
                user=question.id,
                text=question.text,
                answer=question.answer,
                kind=question.kind,
                asked_at=question.asked_at,
                is_answerable=bool(question.answer_sessions),
            )
            memory = _Memory(store, embedder, settings, ManualClock(question.asked_at), tokens)
            expansions = await _expansions([asked], expand)
            prepared.append(Prepared(asked, await memory.context(asked, expansions.get(asked.text, ()))))
    return prepared


async def _expansions(asked: Sequence[Asked], expand: Expander | None) -> dict[str, tuple[str, ...]]:
    return {} if expand is None else await expand.of(each.text for each in asked)


class _Memory:
    """Makes the contexts that ``POST /v1/context`` returns."""

    def __init__(self, store: MemoryStore, embedder: Embedder, settings: Settings, clock: Clock, tokens: int) -> None:
        self._pipeline = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=clock)
        self._tokens = tokens

    async def context(self, asked: Asked, expansions: tuple[str, ...]) -> Context:
        request = RecallRequest(
            filter=MemoryFilter(scope=TenantScope(TENANT, asked.user)),
            query=asked.text,
            expansions=expansions,
            entity_types=tuple(each.name for each in scenario(SCHEMA).entity_types),
            limit=hits_for(self._tokens),
        )
        return self._pipeline.pack(request, await self._pipeline.recall(request), tokens=self._tokens)
