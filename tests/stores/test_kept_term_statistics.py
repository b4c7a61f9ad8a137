"""The term statistics that an owner keeps: they always equal the stored ones, whatever is written during a read."""

import asyncio
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import UUID

import pytest
import qdrant_edge as edge

from evaluation.bench_recall import wait_until_ready
from memory.records import Memory
from stores.collection import BM25, DENSE, TENANT
from stores.edge import term_statistics
from stores.edge.client import EdgeStore
from stores.edge.engine import create_indexes, created_engine
from stores.edge.owner import Owner
from stores.edge.search import best
from stores.edge.shard import Shard
from stores.edge.term_statistics import Document, Page, TermStatistics, TermStatisticsCache, TermWeights
from stores.filters import MemoryFilter
from stores.lexical_analysis import document_terms, query_terms
from stores.points import memory_of, tombstone_payload
from stores.port import RecallQuery, TenantScope
from stores.query_plan import plan_query
from tests.stores.factories import (
    DIMENSION,
    LATE_DIMENSION,
    MODEL,
    NOON,
    at,
    embedding,
    memory,
    point,
    prepared_shard,
    put_in_shard,
    stable_id,
)

WORDS = ("tea", "rain", "boat", "map", "bread", "kite")
QUESTION = "tea rain boat kite"
TENANTS = ("acme", "globex")


@dataclass
class Written:
    """The texts that a shard received, by tenant and slot, and the number of writes."""

    shard: Shard
    random: Random
    contents: dict[tuple[str, int], str] = field(default_factory=dict)
    writes: int = 0

    def write(self) -> None:
        """Writes a new memory, another text of an old one, or a tombstone in its place."""
        tenant, slot = self.random.choice(TENANTS), self.random.randrange(24)
        stored = self.memory(tenant, slot, " ".join(self.random.choices(WORDS, k=self.random.randint(1, 4))))
        self.writes += 1
        if self.random.random() < 0.25:
            self.contents.pop((tenant, slot), None)
            self.shard.delete(MemoryFilter.everything(TenantScope(tenant)), {stored.id: tombstone_payload(at(self.writes), NOON)})
        else:
            self.contents[tenant, slot] = stored.content
            put_in_shard(self.shard, stored, self.writes)

    def memory(self, tenant: str, slot: int, content: str) -> Memory:
        return memory(content, tenant=tenant, id=stable_id(tenant, slot))

    def expected(self, tenant: str) -> dict[str, float]:
        """BM25 of each text that shares a term with the question, from the module's formula."""
        documents = {content: document_terms(content) for (owner, _), content in self.contents.items() if owner == tenant}
        texts = [content for (owner, _), content in self.contents.items() if owner == tenant]
        having = Counter(term for content in texts for term in documents[content].indices)
        asked = query_terms(QUESTION)
        rarity = {each: math.log(1 + (len(texts) - having[each] + 0.5) / (having[each] + 0.5)) for each in asked.indices}
        found = {}
        for content, terms in documents.items():
            weights = dict(zip(terms.indices, terms.values, strict=True))
            if shared := rarity.keys() & weights.keys():
                found[content] = sum(rarity[each] * weights[each] for each in shared)
        return found

    def found(self, tenant: str) -> dict[str, float]:
        """The scores by terms of a recall, by texts."""
        query = RecallQuery(
            filter=MemoryFilter(scope=TenantScope(tenant)), text=QUESTION, embedding=embedding(QUESTION), limit=64, prefetch=64
        )
        matches = best(self.shard.recall(plan_query(query), explain=True), 64)
        self.shard.read_on()
        return {memory_of(each.record).content: each.parts["bm25"] for each in matches if "bm25" in each.parts}


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Written]]:
    monkeypatch.setattr(term_statistics, "POINTS_IN_PAGE", 3)
    shards: list[Shard] = []

    def start(seed: int) -> Written:
        shards.append(prepared_shard(tmp_path / str(seed)))
        return Written(shards[-1], Random(seed))

    yield start
    for shard in shards:
        shard.close()


@pytest.mark.parametrize("seed", range(8))
def test_scores_reflect_the_stored_memories(written: Callable[[int], Written], seed: int) -> None:
    shard = written(seed)
    for _ in range(50):
        shard.write()
    for _ in range(60):
        for _ in range(shard.random.randrange(3)):
            shard.write()
        tenant = shard.random.choice(TENANTS)
        assert shard.found(tenant) == pytest.approx(shard.expected(tenant), rel=1e-5)


def test_statistics_are_recounted_after_a_failed_write(tmp_path: Path) -> None:
    engine = created_engine(tmp_path, DIMENSION, None)
    create_indexes(engine)
    weights = TermWeights()

    def write(slot: int, tenant: str) -> None:
        point_id, terms = UUID(stable_id(tenant, slot)), query_terms("tea")
        vectors = {DENSE: embedding("tea").dense.tolist(), BM25: edge.SparseVector(terms.indices, terms.values)}
        with weights.following(engine, [point_id], {point_id: Document(tenant, terms.indices)}):
            engine.update(edge.UpdateOperation.upsert_points([edge.Point(point_id, vectors, {TENANT: tenant})]))
            if slot == 3:
                raise OSError("the disk is full")

    plan = plan_query(RecallQuery(filter=MemoryFilter(scope=TenantScope("acme")), text="tea", embedding=embedding("tea")))
    for slot in range(3):
        write(slot, "acme")
        write(slot, "globex")

    def rarity_by_what_is_kept() -> float:
        weights.of(plan)
        weights.read_on(engine)
        weighted = weights.of(plan)
        assert not weighted.are_counted
        return weighted.terms.values[0] * math.log(2)

    assert rarity_by_what_is_kept() == pytest.approx(math.log(1 + 0.5 / 3.5))
    with suppress(OSError):
        write(3, "acme")
    assert rarity_by_what_is_kept() == pytest.approx(math.log(1 + 0.5 / 4.5))
    engine.close()


class FollowedShard(Shard):
    """A shard that counts the calls to read on."""

    reads = 0

    def read_on(self) -> None:
        self.reads += 1
        super().read_on()


async def test_an_owner_continues_reading_after_each_recall(tmp_path: Path) -> None:
    shard, stopping = FollowedShard(tmp_path / "shard"), asyncio.Event()
    with tempfile.TemporaryDirectory(prefix="varve-edge-") as folder:  # pytest's own may be longer than a socket's path can be
        path = Path(folder) / "edge.sock"
        serving = asyncio.create_task(Owner(shard=shard, path=path).serve(stopping))
        store = EdgeStore(path=path)
        await wait_until_ready(store)
        await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
        for tenant in TENANTS:
            await store.upsert([point(memory(f"{tenant} has tea", tenant=tenant))])
        query = RecallQuery(filter=MemoryFilter(scope=TenantScope("acme")), text="tea", embedding=embedding("tea"))
        for number in (1, 2, 3):
            assert [each.memory.content for each in await store.recall(query)] == ["acme has tea"]
            await store.count(query.filter.scope)  # the answer to a recall is sent before it reads on
            assert shard.reads == number
        await store.close()
        stopping.set()
        await serving
    shard.close()


@dataclass
class Tenants:
    """Documents by tenant, read in pages of two."""

    documents: dict[str, list[tuple[int, ...]]]
    pages_read: Counter[str] = field(default_factory=Counter)

    def read(self, tenant: str, start: UUID) -> Page:
        self.pages_read[tenant] += 1
        found = [(each, terms) for each, terms in zip(map(UUID, IDS), self.documents[tenant], strict=False) if each >= start]
        return Page([terms for _, terms in found[:2]], found[2][0] if len(found) > 2 else None)

    def asked(self, kept: TermStatisticsCache, tenant: str) -> TermStatistics | None:
        """The statistics that a recall gets; after it a page is read."""
        found = kept.of(tenant)
        kept.read_on(self.read)
        return found


IDS = [str(UUID(int=number)) for number in range(1, 100)]


def test_statistics_wait_for_the_last_page() -> None:
    tenants, kept = Tenants({"acme": [(1, 2), (1,), (), (3,), (1, 3)]}), TermStatisticsCache()
    assert [tenants.asked(kept, "acme") for _ in range(3)] == [None, None, None]
    statistics = tenants.asked(kept, "acme")
    assert statistics is not None
    assert (statistics.documents, statistics.having) == (4, {1: 3, 2: 1, 3: 2})
    assert tenants.asked(kept, "acme") is statistics
    assert tenants.pages_read["acme"] == 3


def test_a_point_still_unread_counts_once() -> None:
    tenants, kept = Tenants({"acme": [(1,), (1,), (1,)]}), TermStatisticsCache()
    tenants.asked(kept, "acme")
    kept.replace({}, {UUID(int=50): Document("acme", (9,))})
    tenants.documents["acme"].append((9,))
    tenants.asked(kept, "acme")
    statistics = tenants.asked(kept, "acme")
    assert statistics is not None
    assert statistics.having == {1: 3, 9: 1}
    kept.replace({UUID(int=1): Document("acme", (1,))}, {UUID(int=1): None})
    assert (statistics.documents, statistics.having) == (3, {1: 2, 9: 1})


def test_tenants_are_read_in_turns() -> None:
    tenants, kept = Tenants({"a": [(1,)] * 9, "b": [(1,)] * 3}), TermStatisticsCache()
    assert (kept.of("a"), kept.of("b")) == (None, None)
    for _ in range(4):
        kept.read_on(tenants.read)
    assert (kept.of("a"), kept.of("b") is None) == (None, False)
    for _ in range(9):
        kept.read_on(tenants.read)
    assert tenants.pages_read == {"a": 5, "b": 2}
    assert kept.of("a") is not None


def test_too_many_terms_make_others_go() -> None:
    tenants = Tenants({name: [(1, 2, 3)] for name in "abcdef"})
    kept = TermStatisticsCache(most_terms=6)
    for name in "abc":
        tenants.asked(kept, name)
    assert [tenants.asked(kept, name) is None for name in "cba"] == [False, False, True]  # the one that was asked for longest ago went
    for _ in range(4):
        for name in "adef":
            tenants.asked(kept, name)
    assert tenants.pages_read == {"a": 1, "b": 1, "c": 1, "e": 1}  # each eighth in vain is read


def test_removed_tenants_are_not_read_any_further() -> None:
    tenants, kept = Tenants({"a": [(n, n + 1, n + 2) for n in range(0, 15, 3)], "b": [(1,)]}), TermStatisticsCache(most_terms=8)
    assert (kept.of("a"), kept.of("b")) == (None, None)
    for _ in range(5):
        kept.read_on(tenants.read)
    assert tenants.pages_read == {"a": 2, "b": 1}
