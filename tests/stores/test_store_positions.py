"""The laws of positions in a MemoryStore: in any order of writes, the newest position of each id wins."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.records import Memory
from stores.port import MemoryFilter, MemoryStore, RecallQuery, TenantScope
from stores.position import NEW_TOPIC_MS, FeedPosition
from tests.stores.factories import at, deletions, embedding, memory, point

ACME = TenantScope("acme")

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


def version(number: int, *, id: str | None = None) -> Memory:
    return memory(f"tea, version {number}", id=id or memory("tea").id, version=number)


async def test_an_older_upsert_replaces_nothing(store: MemoryStore) -> None:
    await store.upsert([point(version(2), position=at(20))])
    await store.upsert([point(version(1), position=at(10)), point(memory("coffee"), position=at(11))])
    assert await store.get(ACME, [version(2).id, memory("coffee").id]) == [version(2), memory("coffee")]


async def test_an_older_delete_removes_nothing(store: MemoryStore) -> None:
    await store.upsert([point(version(2), position=at(20)), point(memory("coffee"), position=at(5))])
    await store.delete(ACME, deletions(version(2).id, memory("coffee").id, position=at(10)))
    assert await store.scroll(ACME) == [version(2)]


async def test_an_older_upsert_does_not_resurrect(store: MemoryStore) -> None:
    await store.upsert([point(version(1), position=at(10))])
    await store.delete(ACME, deletions(version(1).id, position=at(20)))
    await store.upsert([point(version(1), position=at(10))])
    assert await store.count(ACME) == 0
    await store.upsert([point(version(2), position=at(30))])
    assert await store.scroll(ACME) == [version(2)]


async def test_a_later_delete_outranks_a_late_upsert(store: MemoryStore) -> None:
    await store.delete(ACME, deletions(version(1).id, position=at(20)))
    await store.delete(ACME, deletions(version(1).id, position=at(30)))
    await store.upsert([point(version(1), position=at(25))])
    assert await store.scroll(ACME) == []


async def test_equal_positions_may_be_repeated(store: MemoryStore) -> None:
    for _ in range(2):
        await store.upsert([point(version(1), position=at(10))])
        assert await store.scroll(ACME) == [version(1)]
    for _ in range(2):
        await store.delete(ACME, deletions(version(1).id, position=at(11)))
        assert await store.scroll(ACME) == []


async def test_the_newest_of_one_upsert_wins(store: MemoryStore) -> None:
    await store.upsert([point(version(number), position=at(number)) for number in (1, 3, 2)])
    assert await store.scroll(ACME) == [version(3)]


async def test_no_query_finds_a_tombstone(store: MemoryStore) -> None:
    gone, kept = memory("red tea", user="ann"), memory("red coffee", user="ann")
    await store.upsert([point(gone), point(kept)])
    query = RecallQuery(filter=MemoryFilter(scope=ACME), text="red tea", embedding=embedding("red tea"), explain=True)
    await store.delete(ACME, deletions(gone.id, position=at(1)))
    [found] = await store.recall(query)
    assert found.memory == kept
    for scope in (ACME, TenantScope("acme", "ann")):
        assert await store.count(scope) == 1
        assert await store.scroll(scope) == [kept]
        assert await store.get(scope, [gone.id, kept.id]) == [kept]


async def test_a_foreign_scope_deletes_nothing(store: MemoryStore) -> None:
    own = memory("tea", user="ann")
    await store.upsert([point(own, position=at(1))])
    for scope in (TenantScope("rival"), TenantScope("acme", "bob")):
        await store.delete(scope, deletions(own.id, position=at(9)))
    assert await store.scroll(ACME) == [own]


async def test_old_tombstones_are_purged(store: MemoryStore) -> None:
    await store.upsert([point(memory("coffee"))])
    await store.delete(ACME, deletions(version(1).id, position=at(20)))
    await store.purge_tombstones(before=datetime.now(UTC) - timedelta(hours=1))
    await store.upsert([point(version(1), position=at(10))])
    assert await store.scroll(ACME) == [memory("coffee")]
    await store.purge_tombstones(before=datetime.now(UTC) + timedelta(hours=1))
    await store.upsert([point(version(1), position=at(10))])
    assert await store.count(ACME) == 2


async def test_a_recreated_topic_is_not_blocked(store: MemoryStore) -> None:
    id = version(1).id
    await store.upsert([point(version(1), position=at(500, produced_ms=1_000_000))])
    late = at(3, produced_ms=1_000_000 + NEW_TOPIC_MS)
    await store.upsert([point(version(2), position=late)])
    assert await store.get(ACME, [id]) == [version(1)]
    await store.upsert([point(version(2), position=at(3, produced_ms=1_000_001 + NEW_TOPIC_MS))])
    assert await store.get(ACME, [id]) == [version(2)]
    await store.upsert([point(version(3), position=at(0, partition=7))])
    assert await store.get(ACME, [id]) == [version(3)]
    await store.delete(ACME, deletions(id, position=at(0, partition=0, produced_ms=1)))
    assert await store.count(ACME) == 0


@dataclass(frozen=True)
class Write:
    position: FeedPosition
    name: int
    is_upsert: bool


@st.composite
def interleavings(draw: st.DrawFn) -> list[list[Write]]:
    """A feed's records in any order, some of them several times, in requests of any size."""
    offsets = range(draw(st.integers(1, 8)))
    feed = [Write(at(each, produced_ms=each * 1000), draw(st.integers(0, 2)), draw(st.booleans())) for each in offsets]
    order = draw(st.permutations(feed + draw(st.lists(st.sampled_from(feed), max_size=4))))
    sizes = draw(st.lists(st.integers(1, 4), min_size=len(order), max_size=len(order)))
    requests: list[list[Write]] = []
    for size in sizes:
        requests, order = [*requests, order[:size]], order[size:]
    return [each for each in requests if each]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=interleavings())
async def test_any_interleaving_ends_with_the_newest(store: MemoryStore, requests: list[list[Write]]) -> None:
    ids = [str(uuid.uuid4()) for _ in range(3)]
    for request in requests:
        await store.upsert([point(version(w.position.offset, id=ids[w.name]), position=w.position) for w in request if w.is_upsert])
        for w in request:
            if not w.is_upsert:
                await store.delete(ACME, {ids[w.name]: w.position})
    newest: dict[int, Write] = {}
    for write in sorted((w for request in requests for w in request), key=lambda w: w.position.offset):
        newest[write.name] = write
    expected = [version(w.position.offset, id=ids[w.name]) for _, w in sorted(newest.items()) if w.is_upsert]
    assert await store.get(ACME, ids) == expected
