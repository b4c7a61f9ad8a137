"""Recalls from a store of random memories with embedded queries: without the service, and without a model."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from benchmarks.callers import PERSONS
from benchmarks.reports import p50, p95
from evaluation.bench_recall import START, RandomData
from models.embedding.port import Embedding
from models.embedding.weights import DIMENSION, LATE_DIMENSION, MODEL_NAME
from retrieval.pipeline import RecallPipeline
from retrieval.query.first_person import asked_texts
from retrieval.query.query_embedding import embed_question
from retrieval.request import RecallRequest
from runtime.clocks import SystemClock
from runtime.settings import RecallSettings
from stores.edge.client import EdgeStore
from stores.port import NON_ENTITY_KINDS, MemoryFilter, RecallQuery, TenantScope

T = TypeVar("T")

USER: Final = "user-0"
"""The only user of each tenant in an application's questions, so that a recall searches all of the tenant's memories."""
_ENTITY_EVERY: Final = 50
_NO_WORD: Final = "the"
"""A query of stop words alone has no terms."""


def memories(*, seed: int, tenants: int, plain: bool) -> RandomData:
    """The memories: of one user per tenant, each fiftieth an entity; plain: events of seven users per tenant."""
    return RandomData(seed=seed, tenants=tenants) if plain else RandomData(seed=seed, tenants=tenants, users=1, entity_every=_ENTITY_EVERY)


def questions(count: int, *, tenants: int, plain: bool) -> list[RecallQuery]:
    """The questions, all different: the user's memories, every second one about a person; plain: the tenant's, about no person."""
    data = RandomData(seed=2, tenants=tenants)
    asked = [replace(each, text=f"{each.text} w{number}") for number, each in enumerate(map(data.query, range(count)))]
    return asked if plain else [_of_application(each, number) for number, each in enumerate(asked)]


def _of_application(query: RecallQuery, number: int) -> RecallQuery:
    text = f"what does {PERSONS[number // 2 % len(PERSONS)]} say of {query.text}" if number % 2 else query.text
    # With a user, entities are searched separately.
    scope = TenantScope(query.filter.scope.tenant, USER)
    return replace(query, text=text, filter=MemoryFilter(scope=scope, kinds=NON_ENTITY_KINDS))


class ReadyEmbedder:
    """An embedder whose queries are embedded already, in each way in which they are compared."""

    name = MODEL_NAME
    dimension = DIMENSION
    late_dimension = LATE_DIMENSION

    def __init__(self, queries: Sequence[RecallQuery]) -> None:
        self._embeddings = {text: each.embedding for each in queries for text in asked_texts(each.text)}

    def cached(self, text: str) -> Embedding | None:
        """None: nothing is kept."""
        return None

    async def embed_query(self, text: str) -> Embedding:
        """The query's vector."""
        return self._embeddings[text]

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        """The vectors of texts that are queries."""
        return [self._embeddings[each] for each in texts]

    async def close(self) -> None:
        """Has no resources."""


async def as_recalled(queries: Sequence[RecallQuery]) -> list[RecallQuery]:
    """The queries of recalls: with all vectors of a question, and the parts of all scores."""
    prefetch, embedder = RecallSettings().prefetch, ReadyEmbedder(queries)
    return [
        replace(
            query,
            filter=replace(query.filter, not_expired_at=START),
            embedding=await embed_question(embedder, query.text),
            limit=prefetch,
            prefetch=prefetch,
            explain=True,
        )
        for query in queries
    ]


async def asked_by(callers: int, asked: Sequence[T], ask: Callable[[T], Awaitable[object]]) -> list[float]:
    """The milliseconds of each question, sent by a number of callers, each one after another."""
    left, milliseconds = iter(asked), list[float]()

    async def caller() -> None:
        for query in left:
            started = time.perf_counter()
            await ask(query)
            milliseconds.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(caller() for _ in range(callers)))
    return milliseconds


async def of_store(store: EdgeStore, queries: Sequence[RecallQuery], *, callers: int) -> dict[str, float]:
    """The figures of a store without a service."""
    recall = RecallPipeline(store=store, embedder=ReadyEmbedder(queries), settings=RecallSettings(), clock=SystemClock())
    requests = [RecallRequest(filter=each.filter, query=each.text) for each in queries]
    dense = [replace(each, text=_NO_WORD, embedding=Embedding(each.embedding.dense, None), limit=10, prefetch=10) for each in queries]
    await asked_by(callers, requests[: len(requests) // 4], recall.recall)  # a warm-up
    dense_only = p95(await asked_by(callers, dense, store.recall))
    recalled = await asked_by(callers, requests, recall.recall)
    without_embedding = p95(recalled)
    return {
        "store_p95_ms": p95(await asked_by(callers, await as_recalled(queries), store.recall)),
        "without_embedding_p50_ms": p50(recalled),
        "without_embedding_p95_ms": without_embedding,
        "dense_only_p95_ms": dense_only,
        "ratio_to_dense_only": round(without_embedding / dense_only, 2),
    }
