"""Entities for an extraction, found in a real store: the nearest ones of each type, or those with some ids."""

import pytest

from retrieval.entity_lookup import EntityLookup
from runtime.clocks import ManualClock
from stores.edge.client import EdgeStore
from stores.port import MemoryStore, TenantScope
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, store_memories
from tests.stores.noted_store import NotedStore

pytestmark = pytest.mark.integration


def lookup_over(store: MemoryStore, *, prefetch: int = 64) -> EntityLookup:
    return EntityLookup(store=store, embedder=BagOfWordsEmbedder(), prefetch=prefetch, clock=ManualClock(NOON))


async def test_the_nearest_entities_of_each_type_are_found(edge_store: EdgeStore) -> None:
    people = [memory(f"Ann rides bicycle {index}", kind="entity", type="person", user="ann") for index in range(7)]
    trips = [
        memory("a trip by bicycle", kind="entity", type="trip", user="ann"),
        memory("a trip by car", kind="entity", type="trip", user="bob"),
    ]
    await store_memories(edge_store, *people, *trips, memory("bicycle event", user="ann"))
    lookup = lookup_over(edge_store)
    scope = TenantScope("acme", "ann")
    nearest = await lookup.nearest(scope, ["the bicycle of Ann"], ["person", "trip", "person", "unknown"])
    assert [each.type for each in nearest] == ["person"] * 5 + ["trip"]
    assert await lookup.nearest(scope, ["bicycle"], ["trip"], limit=1) == [trips[0]]
    assert await lookup.nearest(scope, [" "], ["trip"]) == []
    assert await lookup.nearest(scope, ["bicycle"], []) == []


@pytest.mark.parametrize(
    ("numbers", "searches"),
    [
        pytest.param({"person": 20, "trip": 1}, 2, id="one type hides the others"),
        pytest.param({"person": 20, "trip": 20, "pet": 2, "car": 0}, 3, id="one type after the other"),
        pytest.param({"person": 4, "trip": 4, "pet": 4}, 4, id="all hide each other"),
        pytest.param({"person": 3, "trip": 1}, 1, id="none hides another"),
    ],
)
async def test_entities_of_one_type_hide_no_other(edge_store: EdgeStore, numbers: dict[str, int], searches: int) -> None:
    like = {"person": "Ann rides bicycle", "trip": "a journey to Rome", "pet": "a grey cat", "car": "a car"}
    for name, number in numbers.items():
        for each in range(number):
            await store_memories(edge_store, memory(f"{like[name]} {each}", kind="entity", type=name, user="ann"))
    store = NotedStore(edge_store)
    lookup = lookup_over(store.port, prefetch=8)
    nearest = await lookup.nearest(TenantScope("acme", "ann"), ["Ann rides bicycle"], [*numbers])
    assert [each.type for each in nearest] == [name for name, number in numbers.items() for _ in range(min(number, 5))]
    assert [operation for operation, _, _ in store.asked] == ["prepare", *["recall"] * searches]


async def test_shared_types_are_searched_in_the_whole_tenant(edge_store: EdgeStore) -> None:
    tool = memory("a bicycle pump", kind="entity", type="tool")
    own = memory("Ann rides a bicycle", kind="entity", type="person", user="ann")
    others = [
        memory("Bob rides a bicycle", kind="entity", type="person", user="bob"),
        memory("Bob's bicycle pump", kind="entity", type="tool", user="bob"),
        memory("a bicycle pump", kind="entity", type="tool", tenant="rival"),
    ]
    await store_memories(edge_store, tool, own, *others)
    nearest = await lookup_over(edge_store).nearest(TenantScope("acme", "ann"), ["bicycle"], ["person"], shared_types=["tool"])
    assert nearest == [own, tool]


async def test_entities_are_read_by_id_within_the_scope(edge_store: EdgeStore) -> None:
    own, shared, foreign = (memory(f"a note of {user}", kind="entity", type="note", user=user) for user in ("ann", None, "bob"))
    expired = memory("an old note", kind="entity", type="note", user="ann", expires_at=NOON)
    event = memory("an event", user="ann")
    older = memory("a note of another generation", kind="entity", type="note", user="ann", generation="b")
    found = [own, shared, foreign, expired, event, older]
    await store_memories(edge_store, *found)
    lookup, ids = lookup_over(edge_store), [each.id for each in found]
    assert await lookup.by_id(TenantScope("acme", "ann"), ids) == [own]
    assert await lookup.by_id(TenantScope("acme"), [shared.id]) == [shared]
    assert await lookup.by_id(TenantScope("rival"), ids) == []
    assert await lookup.by_id(TenantScope("acme", "ann"), ids, generation="b") == [older]
