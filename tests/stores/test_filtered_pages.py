"""Pages of the memories that pass a filter: each once, in the order of ids, never from outside the scope. On each engine."""

from datetime import datetime, timedelta

import pytest

from memory.dates.event_date import last_moment
from memory.records import Memory
from memory.trust import MinTrust
from stores.port import MemoryFilter, MemoryStore, TenantScope
from stores.time_order import TimeOrder, TimePlace
from tests.stores.factories import NOON, at, memory, point

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")

LATER = NOON + timedelta(days=1)
ACME, ANN, BOB = TenantScope("acme"), TenantScope("acme", "ann"), TenantScope("acme", "bob")


async def paged(store: MemoryStore, wanted: MemoryFilter, *, limit: int) -> list[str]:
    found: list[str] = []
    while page := await store.page(wanted, after=found[-1] if found else None, limit=limit):
        assert len(page) <= limit
        found += [each.id for each in page]
    return found


def stored() -> list[Memory]:
    notes = [memory(f"note {index}", user="ann", session="s", event_time=NOON + timedelta(hours=index)) for index in range(30)]
    return [*notes, memory("lunch", user="ann", type="meal"), memory("bobs", user="bob", session="s")]


@pytest.mark.parametrize("limit", [1, 7, 100])
async def test_each_passing_memory_is_on_one_page(store: MemoryStore, limit: int) -> None:
    await store.upsert([point(each) for each in (*stored(), memory("foreign", tenant="rival", session="s"))])
    wanted = MemoryFilter(scope=ANN, sessions=("s",), until=LATER)
    expected = sorted(each.id for each in stored() if each.user == "ann" and each.session == "s" and each.event_time < LATER)
    assert await paged(store, wanted, limit=limit) == expected
    assert len(expected) == 24


async def test_a_page_follows_an_id_that_was_deleted(store: MemoryStore) -> None:
    await store.upsert([point(each) for each in stored()])
    first = [each.id for each in await store.page(MemoryFilter(scope=ACME), limit=5)]
    await store.delete(ACME, {first[-1]: at(1)})
    rest = await paged(store, MemoryFilter(scope=ACME), limit=50)
    following = [each.id for each in await store.page(MemoryFilter(scope=ACME), after=first[-1], limit=50)]
    assert [*first[:-1], *following] == rest


async def test_a_page_after_a_foreign_id_shows_only_own(store: MemoryStore) -> None:
    foreign = memory("foreign", tenant="rival")
    await store.upsert([point(each) for each in (*stored(), foreign)])
    page = await store.page(MemoryFilter(scope=BOB), after=foreign.id, limit=50)
    assert {each.user for each in page} <= {"bob"}


@pytest.mark.parametrize(
    ("lowest", "expected"),
    [(None, ["normal", "trusted", "untrusted"]), ("normal", ["normal", "trusted"]), ("trusted", ["trusted"])],
)
async def test_a_filter_by_trust(store: MemoryStore, lowest: MinTrust | None, expected: list[str]) -> None:
    kept = [memory("normal", user="ann"), *(memory(each, user="ann", trust=each) for each in ("trusted", "untrusted"))]
    await store.upsert([point(each) for each in kept])
    wanted = MemoryFilter(scope=ANN, min_trust=lowest)
    page = await store.page(wanted, after=None, limit=50)
    assert sorted(each.content for each in page) == expected
    assert sorted(each.content for each in kept if wanted.rejected_by(each) is None) == expected


def timed() -> list[Memory]:
    """Moments, some of them equal, and periods that contain them."""
    moments = [memory(f"at {index}", user="ann", event_time=NOON + timedelta(hours=index // 3)) for index in range(20)]
    periods = [memory(f"period {index}", user="ann", event_time=NOON - timedelta(days=index), date="2024") for index in range(3)]
    return [*moments, *periods, memory("a day", user="ann", event_time=NOON, date="2024-05-06"), memory("bobs", user="bob")]


async def by_time(store: MemoryStore, wanted: MemoryFilter, order: TimeOrder, *, limit: int) -> list[Memory]:
    found: list[Memory] = []
    place: TimePlace | None = None
    for _ in range(200):
        page = await store.page_by_time(wanted, order, after=place, limit=limit)
        assert len(page.memories) <= limit
        found += page.memories
        place = page.next
        if place is None:
            return found
        place = TimePlace.read(str(place))
    raise AssertionError("the pages have no end")


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("limit", [1, 2, 7, 100])
async def test_pages_by_time_have_each_memory_once(store: MemoryStore, order: TimeOrder, limit: int) -> None:
    await store.upsert([point(each) for each in (*timed(), memory("foreign", tenant="rival"))])

    def place(each: Memory) -> datetime:
        return last_moment(each.event_time, each.date) if order == "newest" else each.event_time

    by_id = sorted((each for each in timed() if each.user == "ann"), key=lambda each: each.id)
    expected = sorted(by_id, key=place, reverse=order == "newest")
    found = await by_time(store, MemoryFilter(scope=ANN), order, limit=limit)
    assert [each.content for each in found] == [each.content for each in expected]
    since = MemoryFilter(scope=ANN, since=NOON + timedelta(hours=2), until=NOON + timedelta(hours=4))
    kept = [each.content for each in expected if since.rejected_by(each) is None]
    assert [each.content for each in await by_time(store, since, order, limit=limit)] == kept


async def test_a_page_by_time_continues_while_memories_arrive(store: MemoryStore) -> None:
    await store.upsert([point(each) for each in timed()])
    before = await by_time(store, MemoryFilter(scope=ANN), "newest", limit=50)
    first = await store.page_by_time(MemoryFilter(scope=ANN), "newest", after=None, limit=10)
    later = memory("later", user="ann", event_time=NOON + timedelta(days=900))
    await store.upsert([point(later)])
    await store.delete(ANN, {first.memories[-1].id: at(1)})
    rest = await store.page_by_time(MemoryFilter(scope=ANN), "newest", after=first.next, limit=50)
    assert [each.id for each in (*first.memories, *rest.memories)] == [each.id for each in before]
    assert rest.next is None


async def test_pages_by_time_pass_many_begun_periods(store: MemoryStore) -> None:
    years = [memory(f"year {index}", user="ann", event_time=NOON, date="2024") for index in range(60)]
    old = memory("old", user="ann", event_time=NOON - timedelta(days=900))
    await store.upsert([point(each) for each in (*years, old)])
    found = await by_time(store, MemoryFilter(scope=ANN), "newest", limit=1)
    assert (len(found), found[-1].content) == (61, "old")


@pytest.mark.parametrize("text", ["", "1", "1_x", "x_", f"{'9' * 18}_{memory('a').id}", f"1.5_{memory('a').id}"])
def test_a_place_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a place"):
        TimePlace.read(text)
