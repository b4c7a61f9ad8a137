"""Applies the change feed to the vector store."""

import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from memory.records import Memory, MemoryChange
from memory.records.wording import further_indexed_text, indexed_text
from models.embedding.handover import Owner, VectorHandover
from models.embedding.port import Embedder, Embedding
from models.errors import ModelError
from runtime.clocks import SteadyClock
from stores.errors import StoreBehindError, StoreRejectedError, StoreUnavailableError
from stores.points import MAX_LATE_ROWS
from stores.port import MemoryStore, Point, StepPoint, TenantScope
from stores.position import FeedPosition

TOMBSTONE_AGE: Final = timedelta(hours=24)
"""Age at which a tombstone is removed. No write that was in flight at the deletion arrives later than this."""
_PURGE_INTERVAL_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class FeedChange:
    """A change and its position in the feed."""

    change: MemoryChange
    position: FeedPosition


class IndexWriter:
    """Writes batches of changes durably and idempotently. The first write prepares the store for the embedder's model.

    The writer also removes old tombstones, with its first write and then about once an hour.

    Args:
        store: The store to write to.
        embedder: Computes the vectors. It caches, so recently embedded texts cost nothing.
        handover: Has vectors that the extraction stage computed with the same model. Default: none.
    """

    def __init__(self, *, store: MemoryStore, embedder: Embedder, handover: VectorHandover | None = None) -> None:
        self._store = store
        self._embedder = embedder
        self._handover = handover
        self._prepared = False
        # A machine's clock that steps ahead must not age the tombstones.
        self._clock = SteadyClock()
        self._next_purge_s = 0.0
        self._checkpoints: dict[int, FeedPosition] = {}

    async def write(self, changes: Sequence[FeedChange], *, before_writing: Callable[[], None] = lambda: None) -> None:
        """Applies changes. Of several changes of one memory, only the newest is written, and only if the store holds no newer one.

        Args:
            changes: The changes, in the order of the feed. Positions determine the newest change of a memory.
            before_writing: A fencing check, called before each request to the store. If it raises, nothing more is written. Embedding
                takes time: another writer may own the partition by now, and may have written newer changes.

        Raises:
            StoreUnavailableError: If the store does not respond. Write the same changes again later.
            StoreRejectedError: If the store refuses one of them, or has another model. Some of the others may be written.
            StoreBehindError: If the store was unavailable, and now lacks records before this writer's last checkpoint.
            models.errors.ModelError: If the embedder fails.
        """
        newest = _newest(changes)
        for each in newest:
            _check(each.change)
        upserts = (each for each in newest if each.change.op == "upsert")
        points = await self._embed([(each.change.memory, each.position) for each in upserts if each.change.memory is not None])
        try:
            await self._prepare()
            if points:
                before_writing()
                await self._store.upsert(points)
            steps = [StepPoint(each.change.step, each.position) for each in newest if each.change.step is not None]
            if steps:
                before_writing()
                await self._store.put_steps(steps)
            for tenant, positions in _deletions(newest).items():
                before_writing()
                await self._store.delete(TenantScope(tenant), positions)
            await self._purge()
        except StoreUnavailableError:
            # The store may have been dropped for a rebuild. The next write creates it again.
            self._prepared = False
            raise

    async def set_checkpoint(self, position: FeedPosition, *, before_writing: Callable[[], None] = lambda: None) -> None:
        """Records in the store that it holds one partition of the feed up to a position.

        Args:
            position: The position of the last record that is completely written.
            before_writing: See :meth:`write`.

        Raises:
            StoreUnavailableError: As :meth:`write`.
            StoreBehindError: As :meth:`write`.
        """
        try:
            await self._prepare()
            before_writing()
            await self._store.set_checkpoint(position)
        except StoreUnavailableError:
            self._prepared = False
            raise
        self._remember(position)

    async def read_checkpoint(self, partition: int) -> FeedPosition | None:
        """The store's checkpoint of a partition of the feed; None if the store holds nothing of it.

        Raises:
            StoreUnavailableError: If the store does not respond.
        """
        checkpoint = await self._store.checkpoint_of(partition)
        if checkpoint is None:
            self._checkpoints.pop(partition, None)
        else:
            self._checkpoints[partition] = checkpoint
        return checkpoint

    def holds(self, partition: int, offset: int) -> bool:
        """Whether the store is known to hold a partition of the feed up to an offset."""
        checkpoint = self._checkpoints.get(partition)
        return checkpoint is not None and checkpoint.offset >= offset

    async def can_embed(self) -> bool:
        """Whether the embedder answers now, for a text that no cache has."""
        try:
            await self._embedder.embed_documents([f"probe {secrets.token_hex(4)}"])
        except ModelError:
            return False
        return True

    async def _prepare(self) -> None:
        if not self._prepared:
            await self._require_checkpoints()
            embedder = self._embedder
            await self._store.prepare(model=embedder.name, dimension=embedder.dimension, late_dimension=embedder.late_dimension)
            self._prepared = True

    async def _require_checkpoints(self) -> None:
        """Checks that the store still has the records before the checkpoints. After an outage it may be an empty or restored store."""
        for partition, known in self._checkpoints.items():
            checkpoint = await self._store.checkpoint_of(partition)
            if checkpoint is None or checkpoint.is_older_than(known):
                held = "nothing" if checkpoint is None else f"the records up to offset {checkpoint.offset}"
                raise StoreBehindError(
                    f"the store held partition {partition} of the feed up to offset {known.offset}, and now holds {held}: "
                    "it was emptied, or restored from a backup; restart the index workers"
                )

    def _remember(self, position: FeedPosition) -> None:
        if not position.is_older_than(self._checkpoints.get(position.partition)):
            self._checkpoints[position.partition] = position

    async def _purge(self) -> None:
        now_s = time.monotonic()
        if now_s >= self._next_purge_s:
            await self._store.purge_tombstones(before=self._clock.now() - TOMBSTONE_AGE)
            self._next_purge_s = now_s + _PURGE_INTERVAL_S

    async def _embed(self, memories: Sequence[tuple[Memory, FeedPosition]]) -> list[Point]:
        embeddings = await embed_memories(self._embedder, [memory for memory, _ in memories], self._handover)
        return [Point(memory, embedding, position) for (memory, position), embedding in zip(memories, embeddings, strict=True)]


def _newest(changes: Iterable[FeedChange]) -> list[FeedChange]:
    newest: dict[tuple[str, str], FeedChange] = {}
    for change in changes:
        name = (change.change.tenant, change.change.memory_id)
        if name not in newest or not change.position.is_older_than(newest[name].position):
            newest[name] = change
    return list(newest.values())


def _check(change: MemoryChange) -> None:
    if change.op == "tombstone":
        return
    if change.op == "step":
        step = change.step
        if step is None or (step.tenant, step.id) != (change.tenant, change.memory_id):
            raise StoreRejectedError(f"the step {change.memory_id!r} of tenant {change.tenant!r} contains no step, or that of another one")
        return
    memory = change.memory
    if memory is None:
        raise StoreRejectedError(f"the upsert of memory {change.memory_id!r} contains no memory")
    if (memory.tenant, memory.id) != (change.tenant, change.memory_id):
        raise StoreRejectedError(
            f"the change of memory {change.memory_id!r} of tenant {change.tenant!r} contains memory {memory.id!r} of {memory.tenant!r}"
        )


def _deletions(changes: Iterable[FeedChange]) -> dict[str, dict[str, FeedPosition]]:
    by_tenant: dict[str, dict[str, FeedPosition]] = defaultdict(dict)
    for change in changes:
        if change.change.op == "tombstone":
            by_tenant[change.change.tenant][change.change.memory_id] = change.position
    return by_tenant


async def embed_memories(embedder: Embedder, memories: Sequence[Memory], handover: VectorHandover | None = None) -> list[Embedding]:
    """The vectors of memories, in their order. Each distinct text is embedded once.

    An event that a model worded has the token vectors of its content and of its message, since late interaction compares a query with each
    token separately (docs/internals/adr/0053). Its dense vector is that of the content.

    Args:
        embedder: Embeds the texts.
        memories: The memories.
        handover: Has vectors of some of the texts. Default: of none.

    Raises:
        models.errors.ModelError: If the embedder fails.
    """
    has_late = embedder.late_dimension is not None
    texts = [(indexed_text(each), further_indexed_text(each) if has_late else None) for each in memories]
    distinct = list(dict.fromkeys([*(main for main, _ in texts), *(further for _, further in texts if further is not None)]))
    if not distinct:
        return []
    embeddings = {} if handover is None else await handover.take(_by_owner(memories, texts))
    missing = [text for text in distinct if text not in embeddings]
    if missing:
        embeddings |= dict(zip(missing, await embedder.embed_documents(missing), strict=True))
    return [embeddings[main] if further is None else _with_tokens(embeddings[main], embeddings[further]) for main, further in texts]


def _by_owner(memories: Sequence[Memory], texts: Sequence[tuple[str, str | None]]) -> dict[Owner, list[str]]:
    owned: dict[Owner, list[str]] = defaultdict(list)
    for memory, own in zip(memories, texts, strict=True):
        owned[memory.tenant, memory.user] += [text for text in own if text is not None]
    return owned


def _with_tokens(embedding: Embedding, source: Embedding) -> Embedding:
    if source.late is None or embedding.late is None:
        return embedding
    return Embedding(embedding.dense, np.concatenate([embedding.late, source.late])[:MAX_LATE_ROWS])
