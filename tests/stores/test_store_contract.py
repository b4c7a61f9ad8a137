"""The contract of a MemoryStore: on Edge (a real owner process), on qdrant-client's own engine, and on a server if one is named."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memory.texts.terms import terms_of
from models.embedding.port import Embedding
from stores.collection import TOP
from stores.errors import ModelMismatchError, StoreRejectedError, StoreUnavailableError
from stores.port import MemoryFilter, MemoryStore, Point, RecallQuery, TenantScope
from stores.query_plan import BM25_HALF_SATURATION, BM25_WEIGHT, DENSE_WEIGHT, LATE_WEIGHT
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL, NOON, at, deletions, embedding, memory, point, stable_id, take_filter
from tests.stores.store_kinds import SERVER

ACME = TenantScope("acme")


def test_a_qdrant_server_is_configured() -> None:
    if SERVER is None:
        pytest.skip("no Qdrant server: name one in VARVE_TEST_QDRANT_URL (http://host:port; gRPC one port above)")


def query(text: str, *, scope: TenantScope = ACME, late: bool = True, **fields: Any) -> RecallQuery:
    return RecallQuery(filter=take_filter(scope, fields), text=text, embedding=embedding(text, late=late), **fields)


async def contents(store: MemoryStore, recall_query: RecallQuery) -> list[str]:
    return [each.memory.content for each in await store.recall(recall_query)]


pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


async def test_a_memory_is_returned_exactly_as_stored(store: MemoryStore) -> None:
    stored = memory(
        "Zoë said 你好 \u0000 🚲",
        user="ann",
        properties={"big": 2**64 - 1, "small": 1e-300, "nested": {"list": [1, 2.5, "x", True]}},
        keywords=["bicycle"],
        importance=0.125,
        expires_at=NOON + timedelta(days=1),
        field_of_a_newer_version={"kept": True},
    )
    await store.upsert([point(stored)])
    [found] = await store.get(ACME, [stored.id])
    assert found == stored
    assert found.to_json() == stored.to_json()


async def test_the_size_grows_with_the_number_of_memories(store: MemoryStore) -> None:
    before = await store.size()
    await store.upsert([point(memory(f"note {index}")) for index in range(5)])
    after = await store.size()
    assert after.points - before.points == 5
    assert after.on_disk_bytes is None or after.on_disk_bytes >= (before.on_disk_bytes or 0) > 0


async def test_get_keeps_the_order_of_the_ids(store: MemoryStore) -> None:
    stored = [memory(f"note {index}") for index in range(5)]
    await store.upsert([point(each) for each in stored])
    asked = [stored[3].id, stable_id("nobody"), stored[0].id, "not-a-uuid", stored[4].id, stored[3].id]
    assert [each.id for each in await store.get(ACME, asked)] == [stored[3].id, stored[0].id, stored[4].id]
    assert await store.get(ACME, []) == []


async def test_no_request_reads_another_tenant(store: MemoryStore) -> None:
    own, foreign = memory("the red bicycle"), memory("the red bicycle", tenant="rival")
    await store.upsert([point(own), point(foreign)])
    rival = TenantScope("rival")
    assert [each.memory.id for each in await store.recall(query("red bicycle"))] == [own.id]
    assert [each.memory.id for each in await store.recall(query("red bicycle", explain=True, scope=rival))] == [foreign.id]
    assert await store.get(ACME, [own.id, foreign.id]) == [own]
    assert await store.scroll(rival) == [foreign]
    assert await store.count(ACME) == 1
    await store.delete(ACME, deletions(own.id, foreign.id))
    assert (await store.count(ACME), await store.count(rival)) == (0, 1)


async def test_no_request_reads_another_user(store: MemoryStore) -> None:
    ann, bob, nobody = (memory("the red bicycle", user=user) for user in ("ann", "bob", None))
    await store.upsert([point(each) for each in (ann, bob, nobody)])
    scope = TenantScope("acme", "ann")
    assert [each.memory for each in await store.recall(query("red bicycle", scope=scope))] == [ann]
    assert await store.get(scope, [bob.id, ann.id, nobody.id]) == [ann]
    assert await store.scroll(scope) == [ann]
    assert await store.count(scope) == 1
    await store.delete(scope, deletions(bob.id))
    assert await store.count(ACME) == 3


async def test_term_statistics_are_each_tenants_own(store: MemoryStore) -> None:
    await store.upsert([point(memory(f"tea number {index}", tenant="rival")) for index in range(20)])
    await store.upsert(
        [point(memory("tea once")), point(memory("coffee first")), point(memory("coffee second")), point(memory("coffee third"))]
    )
    found = await store.recall(query("tea coffee", explain=True))
    lexical = {each.memory.content: each.parts["bm25"] for each in found if "bm25" in each.parts}
    assert lexical["tea once"] > lexical["coffee first"]


async def test_the_most_similar_memory_is_first(store: MemoryStore) -> None:
    texts = ["Ann bought a red bicycle", "Bob sold a blue car", "the weather was fine", "a red apple"]
    await store.upsert([point(memory(text)) for text in texts])
    found = await store.recall(query("red bicycle", limit=2))
    assert [each.memory.content for each in found] == ["Ann bought a red bicycle", "a red apple"]
    assert 1 >= found[0].score > found[1].score >= 0


async def test_a_large_recall_is_whole_and_in_order(store: MemoryStore) -> None:
    await store.upsert([point(memory(f"note {index} of {index % 7}")) for index in range(300)])
    found = await store.recall(query("note 5", limit=300))
    assert len({each.memory.id for each in found}) == 300
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    best = await store.recall(query("note 5", limit=20, prefetch=300))
    assert [each.score for each in best] == pytest.approx(scores[:20])


async def test_a_score_can_be_explained(store: MemoryStore) -> None:
    await store.upsert([point(memory("Ann bought a red bicycle")), point(memory("nothing alike"))])
    plain = await store.recall(query("red bicycle"))
    explained = await store.recall(query("red bicycle", explain=True))
    assert [each.score for each in explained] == pytest.approx([each.score for each in plain])
    assert all(not each.parts for each in plain)
    query_embedding = embedding("red bicycle")
    stored = embedding("Ann bought a red bicycle")
    assert stored.late is not None
    assert query_embedding.late is not None
    assert explained[0].parts["dense"] == pytest.approx(float(query_embedding.dense @ stored.dense), abs=5e-3)
    assert explained[0].parts["late"] == pytest.approx(float((query_embedding.late @ stored.late.T).max(axis=1).sum()), abs=1e-2)
    assert explained[0].parts["bm25"] > 0
    assert "bm25" not in explained[1].parts


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("text", ["red bicycle in May", "what is this"])
async def test_a_score_is_the_weighted_sum_of_its_parts(store: MemoryStore, text: str, late: bool) -> None:
    texts = ["Ann bought a red bicycle in May", "a red apple", "in May it rains", "what is this", "nothing alike", "the bicycle of Bob"]
    await store.upsert([point(memory(each), late=index % 3 != 2) for index, each in enumerate(texts)])
    found = await store.recall(query(text, late=late, explain=True))
    assert len(found) == len(texts)
    tokens = len(text.split())
    for each in found:
        dense, terms = each.parts["dense"], each.parts.get("bm25", 0.0)
        by_token = each.parts["late"] / tokens if "late" in each.parts else dense
        lexical = terms / (terms + BM25_HALF_SATURATION) if list(terms_of(text)) else dense
        expected = LATE_WEIGHT * by_token + DENSE_WEIGHT * dense + BM25_WEIGHT * lexical
        assert each.score == pytest.approx(min(1.0, max(0.0, expected)), abs=1e-4)


async def test_points_and_queries_without_late_vectors_are_found(store: MemoryStore) -> None:
    await store.upsert([point(memory("my red bicycle"), late=False), point(memory("her red bicycle")), point(memory("the red apple"))])
    for late in (True, False):
        found = await contents(store, query("red bicycle", late=late))
        assert set(found[:2]) == {"my red bicycle", "her red bicycle"}
        assert found[2:] == ["the red apple"]


async def test_a_query_without_terms_is_ranked_by_vectors(store: MemoryStore) -> None:
    await store.upsert([point(memory("what is this")), point(memory("a red bicycle"))])
    assert (await contents(store, query("what is this")))[0] == "what is this"


async def test_a_keyword_missing_in_the_content_is_found(store: MemoryStore) -> None:
    await store.upsert([point(memory("she rides to work", keywords=["velocipede"])), point(memory("she walks to work"))])
    found = await store.recall(query("velocipede", explain=True))
    assert {each.memory.content: "bm25" in each.parts for each in found} == {"she rides to work": True, "she walks to work": False}


async def test_filters_narrow_a_recall(store: MemoryStore) -> None:
    event, entity = memory("tea as event"), memory("tea as entity", kind="entity", type="person")
    late = memory("tea later", event_time=NOON + timedelta(hours=1))
    old = memory("tea of old", expires_at=NOON)
    await store.upsert([point(each) for each in (event, entity, late, old)])

    async def found(**fields: Any) -> set[str]:
        return set(await contents(store, query("tea", **fields)))

    assert await found() == {"tea as event", "tea as entity", "tea later", "tea of old"}
    assert await found(kinds=("entity",)) == {"tea as entity"}
    assert await found(kinds=("entity", "summary"), types=("person", "note")) == {"tea as entity"}
    assert await found(types=("note",)) == {"tea as event", "tea later", "tea of old"}
    assert await found(since=NOON + timedelta(seconds=1)) == {"tea later"}
    assert await found(until=NOON + timedelta(hours=1)) == {"tea as event", "tea as entity", "tea of old"}
    assert await found(since=NOON, until=NOON + timedelta(microseconds=1), not_expired_at=NOON) == {"tea as event", "tea as entity"}
    assert await found(not_expired_at=NOON - timedelta(seconds=1)) == {"tea as event", "tea as entity", "tea later", "tea of old"}


async def test_a_recall_is_narrowed_by_keys_of_entities(store: MemoryStore) -> None:
    entity = memory("tea as entity", kind="entity", type="drink", entity_key="ann/tea")
    summary = memory("tea in May", kind="summary", type="drink", entity_key="ann/tea")
    event = memory("tea as event", entity_keys=["ann", "ann/tea"])
    other = memory("tea and coffee", entity_keys=["ann", "ann/coffee"])
    await store.upsert([point(each) for each in (entity, summary, event, other, memory("tea of nobody"))])

    async def found(*keys: str, **fields: Any) -> set[str]:
        return set(await contents(store, query("tea", keys=keys, **fields)))

    assert await found("ann/tea") == {"tea as entity", "tea in May", "tea as event"}
    assert await found("ann") == {"tea as event", "tea and coffee"}
    assert await found("ann/coffee", "nobody") == {"tea and coffee"}
    assert await found("ann/tea", kinds=("event",)) == {"tea as event"}
    assert await found("tea") == set(), "a key is whole: no part of one is found by"
    await store.upsert([point(event.model_copy(update={"entity_keys": None}))])
    assert await found("ann/tea") == {"tea as entity", "tea in May"}


async def test_a_recall_is_narrowed_by_parents(store: MemoryStore) -> None:
    top = memory("tea", kind="summary", type="talk", depth=0)
    below = memory("tea in May", kind="summary", type="talk", parent=top.id, depth=1)
    foreign = memory("tea of others", tenant="other", kind="summary", type="talk", parent=top.id, depth=1)
    await store.upsert([point(each) for each in (top, below, foreign, memory("tea at noon"))])

    async def found(*parents: str) -> set[str]:
        return set(await contents(store, query("tea", parents=parents)))

    assert await found(TOP) == {"tea"}
    assert await found(top.id) == {"tea in May"}
    assert await found(below.id) == set()
    assert await found(TOP, top.id) == {"tea", "tea in May"}


async def test_a_memory_with_an_inexact_date_is_found(store: MemoryStore) -> None:
    may = memory("tea some day in May", event_time=datetime(2024, 5, 1, tzinfo=UTC), date="2024-05")
    day = memory("tea that day", event_time=datetime(2024, 5, 6, tzinfo=UTC), date="2024-05-06")
    year = memory("tea that year", event_time=datetime(2024, 1, 1, tzinfo=UTC), date="2024")
    await store.upsert([point(each) for each in (may, day, year)])

    async def found(since: datetime | None, until: datetime | None) -> set[str]:
        return set(await contents(store, query("tea", since=since, until=until)))

    assert await found(datetime(2024, 5, 6, 18, tzinfo=UTC), datetime(2024, 5, 7, tzinfo=UTC)) == {may.content, day.content, year.content}
    assert await found(datetime(2024, 5, 7, tzinfo=UTC), None) == {may.content, year.content}
    assert await found(datetime(2024, 6, 1, tzinfo=UTC), None) == {year.content}
    assert await found(datetime(2025, 1, 1, tzinfo=UTC), None) == set()
    assert await found(None, datetime(2024, 5, 1, tzinfo=UTC)) == {year.content}
    assert await found(None, datetime(2024, 5, 6, tzinfo=UTC)) == {may.content, year.content}


async def test_a_recall_serves_one_generation(store: MemoryStore) -> None:
    await store.upsert([point(memory("tea")), point(memory("tea again", generation="blue"))])
    assert await contents(store, query("tea")) == ["tea"]
    assert await contents(store, query("tea", generation="blue")) == ["tea again"]
    assert await store.count(ACME) == 2


async def test_memories_excluded_by_the_filter_take_no_place(store: MemoryStore) -> None:
    expired = [memory("tea", id=stable_id("expired", index), expires_at=NOON) for index in range(20)]
    rebuilt = [memory("tea", id=stable_id("rebuilt", index), generation="blue") for index in range(20)]
    await store.upsert([point(each) for each in (*expired, *rebuilt, memory("green tea"), memory("water"))])
    found = await store.recall(query("tea", limit=2, prefetch=2, not_expired_at=NOON))
    assert [each.memory.content for each in found] == ["green tea", "water"]


async def test_an_update_replaces_everything(store: MemoryStore) -> None:
    first = memory("a red bicycle", user="ann", keywords=["velocipede"])
    second = first.model_copy(update={"content": "a green boat", "user": None, "keywords": []})
    await store.upsert([point(first)])
    await store.upsert([point(second, late=False)])
    assert await store.scroll(ACME) == [second]
    assert await store.count(TenantScope("acme", "ann")) == 0
    [found] = await store.recall(query("red velocipede green", explain=True))
    assert "late" not in found.parts
    [found] = await store.recall(query("velocipede", explain=True))
    assert "bm25" not in found.parts


async def test_repeating_an_upsert_or_a_delete_changes_nothing(store: MemoryStore) -> None:
    stored = memory()
    for _ in range(2):
        await store.upsert([point(stored)])
    assert await store.count(ACME) == 1
    for _ in range(2):
        await store.delete(ACME, deletions(stored.id, stable_id("nobody"), "not-a-uuid"))
    await store.delete(ACME, deletions())
    assert await store.count(ACME) == 0


async def test_scrolling_returns_each_memory_once_in_id_order(store: MemoryStore) -> None:
    stored = [memory(f"note {index}") for index in range(150)]
    await store.upsert([point(each) for each in stored])
    await store.upsert([point(memory("foreign", tenant="rival"))])
    seen: list[str] = []
    while page := await store.scroll(ACME, after=seen[-1] if seen else None, limit=40):
        assert len(page) <= 40
        seen += [each.id for each in page]
    assert seen == sorted(each.id for each in stored)
    assert await store.count(ACME) == 150


async def test_a_bad_point_is_refused_before_anything_is_written(store: MemoryStore) -> None:
    good = point(memory("good"))
    zeros = np.zeros(DIMENSION, dtype=np.float32)
    bad = [
        Point(memory("short"), Embedding(np.ones(3, dtype=np.float32), None), at(0)),
        Point(memory("late too wide"), Embedding(zeros, np.ones((2, 9), dtype=np.float32)), at(0)),
        Point(memory("late empty"), Embedding(zeros, np.ones((0, LATE_DIMENSION), dtype=np.float32)), at(0)),
        Point(memory("not a number"), Embedding(zeros * np.nan, None), at(0)),
        point(memory("no id", id="seven")),
    ]
    for each in bad:
        with pytest.raises(StoreRejectedError, match=each.memory.id):
            await store.upsert([good, each])
    assert await store.count(ACME) == 0


async def test_a_bad_query_is_refused(store: MemoryStore) -> None:
    with pytest.raises(StoreRejectedError, match="limit"):
        await store.recall(query("tea", limit=0))
    with pytest.raises(StoreRejectedError, match="dim"):
        await store.recall(
            RecallQuery(filter=MemoryFilter(scope=ACME), text="tea", embedding=Embedding(np.ones(3, dtype=np.float32), None))
        )


async def test_points_of_another_model_are_refused(store: MemoryStore) -> None:
    await store.upsert([point(memory())])
    with pytest.raises(ModelMismatchError, match=MODEL):
        await store.prepare(model="another", dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    with pytest.raises(ModelMismatchError, match=str(DIMENSION)):
        await store.prepare(model=MODEL, dimension=DIMENSION + 1, late_dimension=LATE_DIMENSION)
    await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    assert await store.count(ACME) == 1


async def test_a_dropped_store_can_be_prepared_again(store: MemoryStore) -> None:
    await store.upsert([point(memory())])
    await store.drop()
    assert await store.count(ACME) == 0
    assert await store.scroll(ACME) == []
    assert await store.recall(query("bicycle", explain=True)) == []
    await store.delete(ACME, deletions(memory().id))
    with pytest.raises(StoreUnavailableError):
        await store.upsert([point(memory())])
    await store.prepare(model="another", dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    assert await store.count(ACME) == 0


async def test_an_empty_store_recalls_nothing(store: MemoryStore) -> None:
    assert await store.recall(query("tea", explain=True)) == []
    assert await store.scroll(ACME) == []


def test_a_scope_needs_a_tenant() -> None:
    with pytest.raises(ValueError, match="tenant"):
        TenantScope("")
