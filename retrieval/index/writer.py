"""Applies the change feed to the vector store."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from memory.records import Memory, MemoryChange
from models.embedding.port import Embedder
from retrieval.errors import StoreRejectedError, StoreUnavailableError
from retrieval.stores.port import MemoryStore, Point, TenantScope


class IndexWriter:
    """Writes batches of changes durably and idempotently. The first write prepares the store for the embedder's model.

    Args:
        store: The store to write to.
        embedder: Makes the vectors. It caches, so that a content it has embedded lately costs nothing.
    """

    def __init__(self, *, store: MemoryStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._prepared = False

    async def write(self, changes: Sequence[MemoryChange], *, before_writing: Callable[[], None] = lambda: None) -> None:
        """Applies changes. Of several changes of one memory only the last is written.

        Args:
            changes: In the order of the feed, which keeps the changes of one memory in order.
            before_writing: A fencing check, called before each request to the store. If it raises, nothing more is written. Embedding
                takes time, and another writer may have taken over the partition meanwhile and written newer changes.

        Raises:
            StoreUnavailableError: If the store does not answer. Write the same changes again later.
            StoreRejectedError: If the store refuses one of them, or has another model. Some of the others may be written.
            models.errors.ModelError: What the embedder raised.
        """
        latest = {(change.tenant, change.memory_id): change for change in changes}
        for change in latest.values():
            _check(change)
        memories = [change.memory for change in latest.values() if change.op == "upsert" and change.memory is not None]
        points = await self._embed(memories)
        try:
            await self._prepare()
            if points:
                before_writing()
                await self._store.upsert(points)
            for tenant, ids in _tombstoned_ids(latest.values()).items():
                before_writing()
                await self._store.delete(TenantScope(tenant), ids)
        except StoreUnavailableError:
            # It may have been dropped for a rebuild: the next write creates it again.
            self._prepared = False
            raise

    async def _prepare(self) -> None:
        if not self._prepared:
            await self._store.prepare(model=self._embedder.name, dimension=self._embedder.dimension)
            self._prepared = True

    async def _embed(self, memories: Sequence[Memory]) -> list[Point]:
        contents = list(dict.fromkeys(memory.content for memory in memories))
        if not contents:
            return []
        embeddings = dict(zip(contents, await self._embedder.embed_documents(contents), strict=True))
        return [Point(memory, embeddings[memory.content]) for memory in memories]


def _check(change: MemoryChange) -> None:
    if change.op == "tombstone":
        return
    memory = change.memory
    if memory is None:
        raise StoreRejectedError(f"the upsert of memory {change.memory_id!r} carries no memory")
    if (memory.tenant, memory.id) != (change.tenant, change.memory_id):
        raise StoreRejectedError(
            f"the change of memory {change.memory_id!r} of tenant {change.tenant!r} carries memory {memory.id!r} of {memory.tenant!r}"
        )


def _tombstoned_ids(changes: Iterable[MemoryChange]) -> dict[str, list[str]]:
    by_tenant: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        if change.op == "tombstone":
            by_tenant[change.tenant].append(change.memory_id)
    return by_tenant
