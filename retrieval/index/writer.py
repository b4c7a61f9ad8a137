"""Keeps the vector store what the change feed says it is."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from memory.records import Memory, MemoryChange
from models.embedding.port import Embedder
from retrieval.errors import StoreRejectedError, StoreUnavailableError
from retrieval.stores.port import MemoryStore, Point, TenantScope


class IndexWriter:
    """Writes batches of changes. What :meth:`write` returned from is durable, and writing it again changes nothing."""

    def __init__(self, *, store: MemoryStore, embedder: Embedder) -> None:
        """Writes into a store that is prepared for the embedder's model with the first write.

        Args:
            store: Where to.
            embedder: Makes the vectors; a content that it has seen lately costs nothing again.
        """
        self._store = store
        self._embedder = embedder
        self._prepared = False

    async def write(self, changes: Sequence[MemoryChange], *, before_writing: Callable[[], None] = lambda: None) -> None:
        """Applies changes in their order: of several changes of one memory only the last is written.

        Args:
            changes: As they lie in the feed, which keeps the changes of one memory in order.
            before_writing: Called before each request to the store; what it raises is raised, and nothing more is written. Embedding
                takes its time, and meanwhile another writer may have been given what these changes are of, and have written newer ones.

        Raises:
            StoreUnavailableError: The store is away: write the same changes again later.
            StoreRejectedError: The store will never take one of them, or the model is not the store's; nothing is known to be written.
            models.errors.ModelError: What the embedder raised.
        """
        latest = {(change.tenant, change.memory_id): change for change in changes}
        for change in latest.values():
            _check(change)
        memories = [change.memory for change in latest.values() if change.op == "upsert" and change.memory is not None]
        points = await self._embedded(memories)
        try:
            await self._prepare()
            if points:
                before_writing()
                await self._store.upsert(points)
            for tenant, ids in _tombstones(latest.values()).items():
                before_writing()
                await self._store.delete(TenantScope(tenant), ids)
        except StoreUnavailableError:
            # It may have been dropped for a rebuild: the next try makes it anew.
            self._prepared = False
            raise

    async def _prepare(self) -> None:
        if not self._prepared:
            await self._store.prepare(model=self._embedder.name, dimension=self._embedder.dimension)
            self._prepared = True

    async def _embedded(self, memories: Sequence[Memory]) -> list[Point]:
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


def _tombstones(changes: Iterable[MemoryChange]) -> dict[str, list[str]]:
    by_tenant: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        if change.op == "tombstone":
            by_tenant[change.tenant].append(change.memory_id)
    return by_tenant
