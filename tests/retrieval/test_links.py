"""Recalls that follow links: hops, fan-out, scores, and the borders of tenants, users and generations."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory.records import Link, Memory
from memory.schema.method import Method, Retrieval, RetrievalPath
from retrieval.plan import plan_recall
from retrieval.profiles import BUILT_IN
from retrieval.request import RecallHit, RecallRequest
from retrieval.retrievers.base import PreparedStore
from retrieval.retrievers.links import DECAY, MAX_VISITED, STARTS, LinkRetriever
from runtime.settings import RecallSettings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, TenantScope
from tests.retrieval.pipelines import pipeline_over
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, stable_id, store_memories

pytestmark = pytest.mark.integration

ANN = TenantScope("acme", "ann")


def node(name: str, *links: str, text: str | None = None, scores: Sequence[float] = (), **fields: Any) -> Memory:
    """A node's memory with links to nodes by name. Its text shares no word with others unless it is given."""
    fields = {"user": "ann", "kind": "entity", "type": "node", "id": stable_id(name), "entity_key": name} | fields
    given = [*scores] or [1.0] * len(links)
    made = [Link(id=stable_id(each), relation="knows", score=score) for each, score in zip(links, given, strict=True)]
    return memory(text or f"word{name}", links=made or None, **fields)


def request(scope: TenantScope = ANN, *, hops: int = 1, fan_out: int = 5, types: tuple[str, ...] = (), **fields: Any) -> RecallRequest:
    path = RetrievalPath(name="links", quota=3, hops=hops, fan_out=fan_out, types=types)
    method = Method(name="graph", kinds=("event", "entity"), retrieval=Retrieval(paths=(path,)))
    return RecallRequest(filter=MemoryFilter(scope=scope, **fields), query="bicycle", method=method)


async def found(store: EdgeStore, asked: RecallRequest) -> list[RecallHit]:
    """The hits of the retriever, best first, without those that the search may have started at."""
    embedder = BagOfWordsEmbedder()
    retriever = LinkRetriever(PreparedStore(store, embedder), embedder)
    plan = plan_recall(asked, settings=RecallSettings(), profiles=BUILT_IN, now=NOON)
    assert retriever.applies_to(plan)
    return await retriever.retrieve(plan)


def crowd(number: int = STARTS, **fields: Any) -> list[Memory]:
    """Memories that are nearer to the query than any node that is not about a bicycle, so that the search does not start at those."""
    return [memory(f"bicycle {index}", id=stable_id("crowd", index), user="ann", **fields) for index in range(number)]


def names(hits: Sequence[RecallHit]) -> list[str]:
    return [hit.memory.content.removeprefix("word") for hit in hits]


async def test_links_lead_to_memories(edge_store: EdgeStore) -> None:
    start = node("start", "near", text="bicycle")
    await store_memories(edge_store, start, node("near", "far"), node("far", "farthest"), node("farthest"), *crowd(STARTS - 1))
    assert names(await found(edge_store, request(hops=1))) == ["near"]
    hits = await found(edge_store, request(hops=2))
    assert names(hits) == ["near", "far"]
    score = hits[0].parts["start"]
    assert [hit.score for hit in hits] == pytest.approx([score * DECAY, score * DECAY**2])
    assert {hit.path for hit in hits} == {"links"}
    assert hits[0].evidence == ("m1",)


async def test_the_strongest_links_are_followed(edge_store: EdgeStore) -> None:
    start = node("start", "a", "b", "c", scores=[0.2, 0.9, 0.6], text="bicycle")
    await store_memories(edge_store, start, node("a"), node("b"), node("c"), *crowd(STARTS - 1))
    assert names(await found(edge_store, request(fan_out=2))) == ["b", "c"]


async def test_of_several_ways_the_best_counts(edge_store: EdgeStore) -> None:
    start = node("start", "a", "target", scores=[1.0, 0.3], text="bicycle")
    await store_memories(edge_store, start, node("a", "target"), node("target"), *crowd(STARTS - 1))
    hits = await found(edge_store, request(hops=2))
    assert {name: hit.score / hit.parts["start"] for name, hit in zip(names(hits), hits, strict=True)} == pytest.approx(
        {"a": DECAY, "target": DECAY**2}
    )


async def test_circles_end(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, node("start", "a", text="bicycle"), node("a", "start", "a"), *crowd(STARTS - 1))
    assert names(await found(edge_store, request(hops=3))) == ["a", "bicycle"]


@pytest.mark.parametrize(
    "foreign", [{"tenant": "other"}, {"user": "bob"}, {"user": None}, {"generation": "next"}, {"expires_at": NOON}], ids=str
)
@pytest.mark.parametrize("scope", [ANN, TenantScope("acme")], ids=["user", "tenant"])
async def test_links_stay_within_tenant_and_user(edge_store: EdgeStore, foreign: dict[str, Any], scope: TenantScope) -> None:
    start = node("start", "foreign", "own", text="bicycle")
    # The foreign node links back to another one of the user: no way leads through it.
    across = node("foreign", "hidden", **foreign)
    await store_memories(edge_store, start, across, node("own"), node("hidden"), *crowd(STARTS - 1))
    assert names(await found(edge_store, request(scope, hops=3))) == ["own"]


async def test_the_filter_limits_results_not_ways(edge_store: EdgeStore) -> None:
    start, way = node("start", "way", text="bicycle"), node("way", "event", type="person")
    await store_memories(edge_store, start, way, node("event", kind="event", type="note", entity_key=None), *crowd(STARTS - 1))
    assert names(await found(edge_store, request(hops=2, kinds=("event",)))) == ["event"]
    assert names(await found(edge_store, request(hops=2, types=("person",)))) == ["way"]
    assert await found(edge_store, request(hops=2, until=NOON)) == []


async def test_an_earlier_moment_has_no_nodes(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, node("start", "near", text="bicycle"), node("near"), *crowd(STARTS - 1))
    assert await found(edge_store, request(as_of=NOON)) == []


async def test_a_recall_has_linked_memories(edge_store: EdgeStore) -> None:
    start = node("start", "near", text="bicycle bicycle")
    await store_memories(edge_store, start, node("near", text="harbour"), *crowd())
    pipeline = pipeline_over(edge_store)
    asked = replace(request(), limit=6)
    response = await pipeline.recall(asked)
    linked = [hit for hit in response.hits if hit.path == "links"]
    assert [hit.memory.content for hit in linked] == ["harbour"]
    assert linked[0].parts.keys() >= {"origin", "start", "time", "business"}
    assert response.degraded == ()
    plain = await pipeline.recall(replace(asked, method=None))
    assert all(hit.path is None for hit in plain.hits)
    assert pipeline.results_read(asked) > pipeline.results_read(replace(asked, method=None))


async def test_reads_are_bounded(edge_store: EdgeStore) -> None:
    """Each start links to more memories than a step reads."""
    targets = [f"t{number}" for number in range(MAX_VISITED + 50)]
    starts = [node(f"s{index}", *targets[index * 20 : index * 20 + 20], text="bicycle") for index in range(STARTS)]
    await store_memories(edge_store, *starts, *(node(each, text=each) for each in targets))
    hits = await found(edge_store, request(fan_out=20))
    assert len(hits) == MAX_VISITED
