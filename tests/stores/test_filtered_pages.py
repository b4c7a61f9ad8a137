"""Pages of the memories that pass a filter: each once, in the order of ids, never from outside the scope. On each engine."""

from datetime import timedelta

import pytest

from memory.records import Memory
from memory.trust import MinTrust
from stores.port import MemoryFilter, MemoryStore, TenantScope
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
