"""Queries with their candidates, to fit a ranking to: of LoCoMo, of RealMem, and of the invented conversations."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np

from evaluation.realmem.dataset import read_user, user_files
from evaluation.recall.asking import AskedStore, scored_candidates
from evaluation.recall.corpus import Corpus, MemoryWriter, empty_store
from evaluation.recall.invented_conversations import KINDS, invented_memory
from evaluation.recall.memories import SCHEMA, UserMemories, memories_of
from extraction.method import MethodExtractor
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.schema import scenario
from models.embedding.port import Embedder
from retrieval.rankers.fitted_models import is_turn
from retrieval.relevance.feature_vector import FeatureVector
from runtime.settings import Settings
from stores.port import MemoryStore, ScoredMemory

LOCOMO: Final = "locomo"
REALMEM: Final = "realmem"


@dataclass(frozen=True, slots=True)
class Example:
    """One query with its candidates."""

    conversation: int | str
    """LoCoMo's conversation or RealMem's user; a kind of invented conversations is one."""
    category: int
    """LoCoMo's; 0 for other kinds."""
    candidates: Sequence[ScoredMemory]
    features: Mapping[str, FeatureVector]
    is_evidence: FeatureVector
    """1 for an event with one of the source messages that answer, else 0."""
    evidence: tuple[str, ...]
    kind: str = LOCOMO
    is_turn: bool = False
    """See :func:`retrieval.rankers.fitted_models.is_turn`."""


@dataclass(frozen=True, slots=True)
class _Store:
    store: MemoryStore
    embedder: Embedder


async def examples_of(corpus: Corpus, *, prefetch: int) -> list[Example]:
    """LoCoMo's questions.

    Args:
        corpus: The memories, in a store.
        prefetch: Candidates.
    """
    examples = []
    for index, conversation in enumerate(corpus.conversations):
        for question in conversation.questions:
            asking = _Asking(corpus, conversation.user, prefetch, kind=LOCOMO, conversation=index)
            examples.append(await asking.example(question.text, conversation.asked_at, question.evidence, question.category))
    return examples


async def invented_examples(settings: Settings) -> AsyncIterator[Example]:
    """The questions of the invented conversations.

    Args:
        settings: The embedding model, and the number of candidates.
    """
    for kind in KINDS:
        memory = invented_memory(kind)
        async with empty_store(settings) as (store, embedder):
            await MemoryWriter(store, embedder).write(await memories_of(memory.windows, embedder))
            asking = _Asking(_Store(store, embedder), kind, settings.recall.prefetch, kind=kind, conversation=kind)
            for question in memory.questions:
                yield await asking.example(question.text, memory.asked_at, sorted(question.messages))


async def realmem_examples(folder: Path, settings: Settings) -> AsyncIterator[Example]:
    """RealMem's queries that name source messages, each over the memories of the earlier sessions.

    Args:
        folder: Its files.
        settings: The embedding model, and the number of candidates.

    Raises:
        DataSetError: If there is no file, or one has another form.
    """
    schema = scenario(SCHEMA)
    for user in map(read_user, user_files(folder)):
        memories, written = UserMemories(schema), 0
        async with empty_store(settings) as (store, embedder):
            extractor = MethodExtractor(OfflineExtractor(embedder=embedder), embedder)
            writer = MemoryWriter(store, embedder)
            asking = _Asking(_Store(store, embedder), user.name, settings.recall.prefetch, kind=REALMEM, conversation=user.name)
            for session in user.sessions:
                for query in session.queries:
                    if query.messages and written:
                        yield await asking.example(query.text, query.asked_at, sorted(query.messages))
                for window in session.windows:
                    memories.add(await extractor.extract(window, schema, ExtractionContext()))
                await writer.write(memories.events[written:])
                written = len(memories.events)


class _Asking:
    def __init__(self, asked: AskedStore, user: str, prefetch: int, *, kind: str, conversation: int | str) -> None:
        self._asked = asked
        self._user = user
        self._prefetch = prefetch
        self._kind = kind
        self._conversation = conversation

    async def example(self, query: str, asked_at: datetime, evidence: Sequence[str], category: int = 0) -> Example:
        scored = await scored_candidates(self._asked, self._user, query, prefetch=self._prefetch, asked_at=asked_at)
        is_evidence = np.array(
            [float(each.memory.kind == "event" and not set(evidence).isdisjoint(each.memory.message_ids)) for each in scored.found]
        )
        return Example(
            self._conversation,
            category,
            scored.found,
            scored.features,
            is_evidence,
            tuple(evidence),
            kind=self._kind,
            is_turn=is_turn(query, scored.found),
        )
