"""Beam search through trees on the real engine: what it finds, and whose memories it never reaches."""

from dataclasses import replace
from typing import Any, cast

import pytest

from memory.ids import summary_id
from memory.records import Memory, Merged
from memory.schema.method import Method, Retrieval, RetrievalPath
from operators.entities.render import published_memories
from operators.llm.merging import apply_outcome, plan_questions
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from retrieval.retrievers.base import PreparedStore
from retrieval.retrievers.tree import MAX_EVENTS, TreeRetriever
from runtime.clocks import ManualClock
from runtime.settings import RecallSettings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, MemoryStore, RecallQuery, TenantScope
from tests.operators.tree.trees import applied, operator, tree_type, turn
from tests.stores.factories import NOON, BagOfWordsEmbedder, embedding, memory, store_memories

pytestmark = pytest.mark.integration

TALK = tree_type(Base=600)
ANN = TenantScope("acme", "ann")
METHOD = Method(name="memtree", retrieval=Retrieval(paths=(RetrievalPath(name="tree", quota=2, fan_out=2),)))
ASKED = RecallRequest(filter=MemoryFilter(scope=ANN), query="bicycle repair", limit=4)
CHAIN, WHEEL = "the chain came off near the lake", "the chain fell off near the lake"
FACTS = [f"bicycle repair number {number}" for number in range(8)]


def grown(*contents: str, user: str = "ann", tenant: str = "acme", written_text: str | None = None) -> list[Memory]:
    """The events of a tree, and its nodes with a model's text."""
    events = [memory(each, user=user, tenant=tenant, type="turn", message_ids=[f"m{index}"]) for index, each in enumerate(contents)]
    changes = [turn("apply", each.id, embedding(each.content).dense.tolist(), text=each.content) for each in events]
    state = applied(None, TALK, *changes)
    for _, question in plan_questions(state, TALK, has_llm=True).questions if written_text else ():
        answer = operator(TALK).outcome(question, f'{{"text": "{written_text}"}}', model="m")
        state = apply_outcome(state, Merged(property="topics", part=answer.part, outcome=answer.content), TALK, "").state
    return [*events, *published_memories(state, TALK, tenant, user).values()]


def pipeline(store: object) -> RecallPipeline:
    return RecallPipeline(store=cast(MemoryStore, store), embedder=BagOfWordsEmbedder(), settings=RecallSettings(), clock=ManualClock(NOON))


def facts() -> list[Memory]:
    return [memory(each, user="ann", type="fact") for each in FACTS]


class Watched:
    """A store that keeps the filter of each search."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self.filters: list[MemoryFilter] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def recall(self, query: RecallQuery) -> Any:
        self.filters.append(query.filter)
        return await self._store.recall(query)


async def test_beam_search_finds_memories_that_flat_search_misses(edge_store: EdgeStore) -> None:
    tree = grown(CHAIN, WHEEL, written_text="bicycle repair on a trip")
    assert [each.content for each in tree if each.kind == "summary"] == ["bicycle repair on a trip"]
    recalls = pipeline(await store_memories(edge_store, *tree, *facts()))
    flat = await recalls.recall(replace(ASKED, filter=replace(ASKED.filter, kinds=("event",))))
    assert {CHAIN, WHEEL}.isdisjoint(hit.memory.content for hit in flat.hits)
    found = await recalls.recall(replace(ASKED, method=METHOD, filter=replace(ASKED.filter, kinds=("event",))))
    by_path = {hit.memory.content: hit.path for hit in found.hits}
    assert (by_path[CHAIN], by_path[WHEEL]) == ("tree", "tree")
    assert len(found.hits) == 4
    assert found.degraded == ()


async def test_no_level_contains_another_users_nodes(edge_store: EdgeStore) -> None:
    own = grown(CHAIN, WHEEL, written_text="bicycle repair on a trip")
    others = [
        *grown("bicycle repair of bob", "bicycle repair by bob", user="bob", written_text="bicycle repair"),
        *grown("bicycle repair of eve", "bicycle repair by eve", tenant="other", written_text="bicycle repair"),
    ]
    # A node of Ann's tree that names another user's event, and a node below hers that is not hers.
    (node,) = (each for each in own if each.kind == "summary")
    leaked = node.model_copy(update={"properties": {**node.properties, "leaves": [each.id for each in (*own, *others)]}})
    foreign = memory("bicycle repair", user="bob", kind="summary", type="talk", parent=node.id, depth=1, properties={"leaves": [own[0].id]})
    watched = Watched(await store_memories(edge_store, *own, *others, leaked, foreign))
    retriever = TreeRetriever(PreparedStore(cast(MemoryStore, watched), BagOfWordsEmbedder()), BagOfWordsEmbedder())
    found = await retriever.retrieve(pipeline(edge_store).plan(replace(ASKED, method=METHOD)))
    assert {hit.memory.content for hit in found} == {CHAIN, WHEEL}
    assert {each.scope for each in watched.filters} == {ANN}


async def test_the_search_descends_to_the_lowest_level(edge_store: EdgeStore) -> None:
    def node(name: str, above: str | None, depth: int, *leaves: Memory) -> Memory:
        parent = above and summary_id("acme", "talk", "ann", "topics", above)
        return memory(
            f"bicycle repair {name}",
            user="ann",
            kind="summary",
            type="talk",
            id=summary_id("acme", "talk", "ann", "topics", name),
            parent=parent,
            depth=depth,
            properties={"leaves": [each.id for each in leaves]},
        )

    deep = memory(CHAIN, user="ann")
    chain = [node(str(depth), None if depth == 0 else str(depth - 1), depth, *([deep] if depth == 9 else [])) for depth in range(10)]
    store = await store_memories(edge_store, deep, *chain)
    retriever = TreeRetriever(PreparedStore(store, BagOfWordsEmbedder()), BagOfWordsEmbedder())
    found = await retriever.retrieve(pipeline(store).plan(replace(ASKED, method=METHOD)))
    assert [(hit.memory.content, hit.path) for hit in found] == [(CHAIN, "tree")]


async def test_the_beam_is_as_wide_as_the_fan_out(edge_store: EdgeStore) -> None:
    leaves = [memory(f"{word} leaf", user="ann") for word in ("near", "next", "far")]
    nodes = [
        memory(content, user="ann", kind="summary", type="talk", depth=0, properties={"leaves": [leaf.id]})
        for content, leaf in zip(("bicycle repair", "bicycle repair shop", "tea at noon today"), leaves, strict=True)
    ]
    store = await store_memories(edge_store, *leaves, *nodes)
    retriever = TreeRetriever(PreparedStore(store, BagOfWordsEmbedder()), BagOfWordsEmbedder())
    found = await retriever.retrieve(pipeline(store).plan(replace(ASKED, method=METHOD)))
    assert {hit.memory.content for hit in found} == {"near leaf", "next leaf"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"kinds": ("entity",)}, set()),
        ({"types": ("fact",)}, set()),
        ({"sessions": ("s9",)}, set()),
        ({"types": ("turn",)}, {CHAIN, WHEEL}),
    ],
)
async def test_results_pass_the_requests_filter(edge_store: EdgeStore, change: dict[str, Any], expected: set[str]) -> None:
    store = await store_memories(edge_store, *grown(CHAIN, WHEEL))
    retriever = TreeRetriever(PreparedStore(store, BagOfWordsEmbedder()), BagOfWordsEmbedder())
    asked = replace(ASKED, method=METHOD, filter=replace(ASKED.filter, **change))
    assert {hit.memory.content for hit in await retriever.retrieve(pipeline(store).plan(asked))} == expected


async def test_it_applies_only_with_a_quota(edge_store: EdgeStore) -> None:
    recalls = pipeline(edge_store)
    retriever = TreeRetriever(PreparedStore(edge_store, BagOfWordsEmbedder()), BagOfWordsEmbedder())
    assert not retriever.applies_to(recalls.plan(ASKED))
    assert retriever.applies_to(recalls.plan(replace(ASKED, method=METHOD)))
    assert recalls.results_read(replace(ASKED, method=METHOD, keyword_quota=0)) == 4 + MAX_EVENTS
