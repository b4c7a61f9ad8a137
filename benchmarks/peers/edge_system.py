"""A plain search: the messages in a Qdrant Edge shard, found by their vectors and by BM25, whose ranks are combined.

The shard, its BM25 and the combination of ranks are the engine's own, with its default settings. It runs in the process of its caller.
"""

import asyncio
import functools
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import qdrant_edge as edge

from benchmarks.peers.embedding import SIZE, SharedModel
from benchmarks.peers.interface import LIMIT, Found, Query, Turn

PACKAGES = ("qdrant-edge-py",)
_BATCH: Final = 32
_CANDIDATES: Final = 60
_RRF_K: Final = 60
_DENSE: Final = "dense"
_BM25: Final = "bm25"


class PlainSearch:
    """A shard and the embedding model.

    Args:
        shard: An empty shard.
        threads: The threads that embed; a call of the engine holds the interpreter lock.
    """

    def __init__(self, shard: edge.EdgeShard, threads: ThreadPoolExecutor) -> None:
        self._shard = shard
        self._threads = threads
        self._model = SharedModel()
        self._bm25 = edge.Bm25()

    async def add(self, turns: Sequence[Turn]) -> float:
        """Stores messages in batches."""
        started = time.monotonic()
        for start in range(0, len(turns), _BATCH):
            await self._run(functools.partial(self._write, turns[start : start + _BATCH], start))
        await self._run(self._shard.flush)
        return time.monotonic() - started

    async def search(self, query: Query) -> list[Found]:
        """The best messages of the user."""
        found: list[Found] = await self._run(functools.partial(self._search, query))
        return found

    def _write(self, turns: Sequence[Turn], first: int) -> None:
        texts = [each.with_speaker for each in turns]
        points = [
            edge.Point(
                first + number,
                {_DENSE: dense, _BM25: self._bm25.embed_document(text)},
                {"user": turn.user, "turn": turn.id, "text": text},
            )
            for number, (turn, text, dense) in enumerate(zip(turns, texts, self._model.embed(texts), strict=True))
        ]
        self._shard.update(edge.UpdateOperation.upsert_points(points))

    def _search(self, query: Query) -> list[Found]:
        nearest = (
            edge.Query.Nearest(self._model.embed([query.text])[0], using=_DENSE),
            edge.Query.Nearest(self._bm25.embed_query(query.text), using=_BM25),
        )
        of_user = edge.Filter(must=[edge.FieldCondition("user", match=edge.MatchValue(query.user))])
        fusion: Any = edge.Fusion.Rrf(_RRF_K)  # the engine's stubs do not say that this is a fusion
        request = edge.QueryRequest(
            limit=LIMIT,
            query=fusion,
            prefetches=[edge.Prefetch(_CANDIDATES, query=each, filter=of_user) for each in nearest],
            with_payload=True,
        )
        payloads = [each.payload or {} for each in self._shard.query(request)]
        return [Found((each["turn"],), each["text"]) for each in payloads]

    async def _run(self, call: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[PlainSearch]:
    """A shard in a folder."""
    configuration = edge.EdgeConfig(
        vectors={_DENSE: edge.EdgeVectorParams(size=SIZE, distance=edge.Distance.Cosine)},
        sparse_vectors={_BM25: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        wal_enabled=True,
    )
    (folder / "shard").mkdir()
    shard = edge.EdgeShard.create(str(folder / "shard"), configuration)
    shard.update(edge.UpdateOperation.create_field_index("user", edge.PayloadSchemaType.Keyword))
    threads = ThreadPoolExecutor(max_workers=LIMIT)
    try:
        yield PlainSearch(shard, threads)
    finally:
        threads.shutdown()
        shard.close()
