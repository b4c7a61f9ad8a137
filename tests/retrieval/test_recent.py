"""The newest memories in a recall: their order and number, and the borders of users, tenants, generations and time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory.records import Memory
from memory.schema.method import Method, Retrieval, RetrievalPath
from retrieval.plan import plan_recall
from retrieval.profiles import BUILT_IN
from retrieval.request import RecallHit, RecallRequest
from retrieval.retrievers.base import PreparedStore
from retrieval.retrievers.recent import RecentRetriever
from runtime.settings import RecallSettings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, MemoryStore, TenantScope
from tests.retrieval.pipelines import pipeline_over
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, point, stable_id, store_memories

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
]

ANN = TenantScope("acme", "ann")


def said(minutes: int, **given: Any) -> Memory:
    """A message, so many minutes before noon."""
    fields: dict[str, Any] = {"user": "ann", "type": "turn", "event_time": NOON - timedelta(minutes=minutes), **given}
    return memory(str(fields.pop("content", f"tea {minutes}")), id=stable_id(minutes, *map(str, fields.values())), **fields)


def asked(quota: int = 3, types: tuple[str, ...] = (), **fields: Any) -> RecallRequest:
    method = Method(name="fifo", retrieval=Retrieval(paths=(RetrievalPath(name="recent", quota=quota, types=types),)))
    return RecallRequest(filter=MemoryFilter(**{"scope": ANN} | fields), query="bicycle", method=method)


async def found(store: EdgeStore, request: RecallRequest) -> list[RecallHit]:
    embedder = BagOfWordsEmbedder()
    plan = plan_recall(request, settings=RecallSettings(), profiles=BUILT_IN, now=NOON)
    retriever = RecentRetriever(PreparedStore(store, embedder), embedder)
    assert retriever.applies_to(plan)
    return await retriever.retrieve(plan)


def texts(hits: list[RecallHit]) -> list[str]:
    return [hit.memory.content for hit in hits]


async def test_the_newest_are_found_by_time(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, *(said(minutes) for minutes in (5, 1, 9, 3, 7)))
    hits = await found(edge_store, asked(3))
    assert texts(hits) == ["tea 1", "tea 3", "tea 5"]
    assert {(hit.path, hit.evidence) for hit in hits} == {("recent", ("m1",))}
    assert all(0 <= hit.score < 1 and hit.parts == {"origin": hit.score} for hit in hits)


async def test_a_similar_message_has_a_higher_score(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, said(1), said(2, content="bicycle"))
    near = {hit.memory.content: hit.score for hit in await found(edge_store, asked())}
    assert near["bicycle"] > near["tea 1"]


async def test_an_unprepared_store_has_nothing_recent(edge_store: EdgeStore) -> None:
    assert await found(edge_store, asked()) == []


@pytest.mark.parametrize(
    "foreign",
    [{"user": "bob"}, {"user": None}, {"tenant": "other"}, {"generation": "next"}, {"expires_at": NOON}, {"kind": "entity"}],
    ids=str,
)
async def test_foreign_memories_are_never_recent(edge_store: EdgeStore, foreign: dict[str, Any]) -> None:
    await store_memories(edge_store, said(1, **foreign), said(2))
    assert texts(await found(edge_store, asked())) == ["tea 2"]


async def test_filters_and_types_limit_the_newest(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, said(1, type="note"), said(2), said(3, session="s"))
    assert texts(await found(edge_store, asked(types=("turn",)))) == ["tea 2", "tea 3"]
    assert texts(await found(edge_store, asked(sessions=("s",)))) == ["tea 3"]
    assert await found(edge_store, replace(asked(types=("turn",)), filter=MemoryFilter(scope=ANN, types=("note",)))) == []
    assert await found(edge_store, asked(kinds=("entity",))) == []


async def test_nothing_after_the_moment_is_recent(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, said(-5), said(1), said(10))
    assert texts(await found(edge_store, asked())) == ["tea 1", "tea 10"]
    assert texts(await found(edge_store, asked(as_of=NOON - timedelta(minutes=5)))) == ["tea 10"]


async def test_a_recall_ends_with_the_newest(edge_store: EdgeStore) -> None:
    similar = [said(100 + number, content=f"bicycle {number}") for number in range(12)]
    await store_memories(edge_store, said(1), said(2), said(3), *similar)
    pipeline, request = pipeline_over(edge_store), replace(asked(2), limit=6)
    response = await pipeline.recall(request)
    assert [hit.memory.content for hit in response.hits if hit.path == "recent"] == ["tea 1", "tea 2"]
    assert (len(response.hits), response.degraded) == (6, ())
    assert pipeline.results_read(request) == pipeline.results_read(replace(request, method=None)) + 2


async def test_the_store_orders_by_time(store: MemoryStore) -> None:
    """On each engine, also with a memory that names a period."""
    dated = said(500_000, date="2024-03", content="in March")
    await store.upsert([point(each) for each in (said(5), said(1), dated, said(3), said(2, user="bob"))])
    everything = MemoryFilter(scope=ANN)
    assert [each.content for each in await store.newest(everything, limit=9)] == ["tea 1", "tea 3", "tea 5", "in March"]
    assert [each.content for each in await store.newest(everything, limit=2)] == ["tea 1", "tea 3"]
    assert [each.content for each in await store.newest(MemoryFilter(scope=TenantScope("acme")), limit=2)] == ["tea 1", "tea 2"]
    assert await store.newest(MemoryFilter(scope=TenantScope("rival")), limit=2) == []
