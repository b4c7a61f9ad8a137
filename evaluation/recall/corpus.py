"""LoCoMo's conversations as memories in a real store, with their questions.

The pure parts of the stages make the memories, without Kafka: the offline extractor, the events stage, the operators of entities.
"""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from evaluation.bench_recall import owner_process, wait_until_ready
from evaluation.data_files import read_entries
from evaluation.errors import DataSetError
from evaluation.locomo import TENANT, read_locomo
from evaluation.recall.memories import last_moment, memories_of
from memory.ids import event_id
from memory.records import Memory, Window
from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from models.embedding.tokens import count_tokens
from runtime.file_digest import file_sha256
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from stores.index_writer import embed_memories
from stores.port import MemoryStore, Point, TenantScope
from stores.position import FeedPosition

RAW_TENANT: Final = f"{TENANT}-raw-turns"
UNANSWERABLE: Final = 5
"""The category of questions that the conversation does not answer."""
_BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one conversation."""

    text: str
    category: int
    """1: several facts, 2: time, 3: open, 4: one fact, 5: not answered by the conversation."""
    evidence: tuple[str, ...]
    """Ids of the messages that answer it, or, in category 5, that it wrongly supposes."""
    answer: str = ""
    """The right one; empty in category 5."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One user's questions."""

    user: str
    questions: tuple[Question, ...]
    asked_at: datetime
    """The moment of the questions, which have no date: the time of the last message, plus the aging of timelines."""
    memories: int
    raw_tokens: int
    """Tokens of the turns."""
    stored_tokens: int
    """Tokens of the memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """All conversations, in a store."""

    store: MemoryStore
    embedder: Embedder
    conversations: tuple[Conversation, ...]
    sha256: str
    """Hash of the data."""


@asynccontextmanager
async def filled_store(
    path: Path, settings: Settings, *, with_raw_turns: bool = False, aged_days: int | None = None
) -> AsyncIterator[Corpus]:
    """Extracts and indexes the events and entities of all conversations, in an Edge store that exists within the block.

    Args:
        path: LoCoMo, or a part of it.
        settings: The embedding model.
        with_raw_turns: Whether the turns are indexed as well, for another tenant.
        aged_days: See :func:`memories_of`.

    Raises:
        DataSetError: If the file cannot be read.
        ConversationError: If it has another form.
    """
    samples, windows = read_entries(path), read_locomo(path)
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        conversations = []
        for sample, conversation in zip(samples, windows, strict=True):
            turns = [each.window for each in conversation]
            memories = await memories_of(turns, embedder, aged_days=aged_days)
            await writer.write(memories)
            if with_raw_turns:
                await writer.write(raw_turns(turns))
            conversations.append(
                Conversation(
                    turns[0].user,
                    tuple(questions_of(sample, path)),
                    asked_at=last_moment(turns) + timedelta(days=aged_days or 0),
                    memories=len(memories),
                    raw_tokens=sum(count_tokens(message.text) for window in turns for message in window.messages),
                    stored_tokens=sum(count_tokens(each.content) for each in memories),
                )
            )
        yield Corpus(store=store, embedder=embedder, conversations=tuple(conversations), sha256=file_sha256(path))


@asynccontextmanager
async def empty_store(settings: Settings) -> AsyncIterator[tuple[EdgeStore, Embedder]]:
    """An Edge store with its socket that exists within the block, prepared for an embedding model.

    Args:
        settings: The embedding model.
    """
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="varve-evaluation-") as folder,
            owner_process(Path(folder) / "edge", Path(folder) / "socket"),
        ):
            store = EdgeStore(path=Path(folder) / "socket", timeout_s=60)
            try:
                await wait_until_ready(store)
                await store.prepare(model=embedder.name, dimension=embedder.dimension, late_dimension=embedder.late_dimension)
                yield store, embedder
            finally:
                await store.close()
    finally:
        await embedder.close()


class MemoryWriter:
    """Writes memories at increasing positions.

    Args:
        store: The store.
        embedder: The embedding model.
    """

    def __init__(self, store: EdgeStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._written = 0

    async def write(self, memories: Sequence[Memory]) -> None:
        """Embeds and stores memories."""
        for start in range(0, len(memories), _BATCH):
            batch = memories[start : start + _BATCH]
            embeddings = await embed_memories(self._embedder, batch)
            points = []
            for memory, embedding in zip(batch, embeddings, strict=True):
                points.append(Point(memory, embedding, FeedPosition(0, self._written, self._written)))
                self._written += 1
            await self._store.upsert(points)

    async def delete(self, user: str, ids: Sequence[str]) -> None:
        """Deletes memories of a user of :data:`evaluation.locomo.TENANT`."""
        if ids:
            self._written += 1
            position = FeedPosition(0, self._written, self._written)
            await self._store.delete(TenantScope(TENANT, user), dict.fromkeys(ids, position))


def raw_turns(windows: Sequence[Window]) -> list[Memory]:
    """The turns as memories of :data:`RAW_TENANT`, in their order.

    Args:
        windows: One user's.
    """
    return [
        Memory(
            id=event_id(f"{RAW_TENANT}/{window.id}", turn),
            tenant=RAW_TENANT,
            user=message.user,
            kind="event",
            type="turn",
            content=message.text if message.speaker is None else f"{message.speaker}: {message.text}",
            event_time=message.event_time,
            session=message.session,
            window_id=window.id,
            turn=turn,
            message_ids=[message.id],
        )
        for window in windows
        for turn, message in enumerate(window.messages)
    ]


def questions_of(sample: Any, path: Path) -> list[Question]:
    """A conversation's questions that name their evidence.

    Raises:
        DataSetError: If they have another form.
    """
    try:
        return [
            Question(str(each["question"]), int(each["category"]), tuple(map(str, each["evidence"])), str(each.get("answer", "")))
            for each in sample.get("qa", ())
            if each.get("evidence")
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataSetError(f"{path} is not in LoCoMo's form: {type(error).__name__} at {error} in its questions") from error
