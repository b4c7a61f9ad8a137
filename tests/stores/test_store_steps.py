"""The steps of entities in the store: found only through their entity, and never by a query for memories."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.errors import MalformedRecordError
from memory.records import HistoryEntry, MemoryChange
from stores.errors import StoreRejectedError
from stores.index_writer import IndexWriter
from stores.port import MemoryFilter, MemoryStore, RecallQuery, StepPoint, TenantScope
from tests.stores.factories import ANN, BagOfWordsEmbedder, at, embedding, in_feed, memory, point, stable_id, step

ACME = TenantScope("acme")

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


async def put(store: MemoryStore, *steps: HistoryEntry, offset: int = 0) -> None:
    await store.put_steps([StepPoint(each, at(offset)) for each in steps])


async def numbers(store: MemoryStore, entity: str = ANN, scope: TenantScope = ACME) -> list[int]:
    return sorted(each.number for each in await store.steps(scope, entity))


async def test_steps_are_found_by_their_entity(store: MemoryStore) -> None:
    await put(store, step(1), step(2, before='{"version":1}'), step(3, entity=stable_id("bob")))
    assert sorted(await store.steps(ACME, ANN), key=lambda each: each.number) == [step(1), step(2, before='{"version":1}')]
    assert await numbers(store, stable_id("bob")) == [3]
    assert await numbers(store, stable_id("nobody")) == []


async def test_no_other_tenant_finds_them(store: MemoryStore) -> None:
    await put(store, step(1), step(5, tenant="rival"))
    assert await numbers(store, scope=TenantScope("rival")) == [5]
    assert await numbers(store, scope=TenantScope("third")) == []
    assert await numbers(store) == [1]


async def test_steps_are_paged(store: MemoryStore) -> None:
    await put(store, *(step(number) for number in range(1, 8)))
    found: list[HistoryEntry] = []
    while page := await store.steps(ACME, ANN, after=found[-1].id if found else None, limit=3):
        assert len(page) <= 3
        found += page
    assert sorted(each.number for each in found) == [*range(1, 8)]


async def test_all_steps_of_a_tenant_are_paged(store: MemoryStore) -> None:
    """An erasure is checked by them: the entities that a user's words reached are unknown afterwards."""
    await store.upsert([point(memory("red tea"))])
    await put(store, *(step(number, entity=stable_id(f"e-{number % 3}")) for number in range(1, 8)), step(9, tenant="rival"))
    found: list[HistoryEntry] = []
    while page := await store.steps(ACME, None, after=found[-1].id if found else None, limit=3):
        found += page
    assert sorted(each.number for each in found) == [*range(1, 8)]


async def test_a_step_is_no_memory(store: MemoryStore) -> None:
    await store.upsert([point(memory("red tea"))])
    await put(store, step(1))
    assert await store.count(ACME) == 1
    assert await store.scroll(ACME) == [memory("red tea")]
    assert await store.get(ACME, [step(1).id]) == []
    query = RecallQuery(filter=MemoryFilter(scope=ACME), text="red tea", embedding=embedding("red tea"))
    assert [found.memory for found in await store.recall(query)] == [memory("red tea")]
    await store.purge_tombstones(before=datetime.now(UTC) + timedelta(hours=1))
    assert await numbers(store) == [1]


async def test_a_later_step_takes_the_place(store: MemoryStore) -> None:
    await put(store, step(9, place=0), offset=9)
    await put(store, step(1, place=0), offset=1)
    assert await numbers(store) == [9]
    await put(store, step(10, place=0), offset=10)
    assert await numbers(store) == [10]
    await store.put_steps([StepPoint(step(12, place=0), at(12)), StepPoint(step(11, place=0), at(11))])
    assert await numbers(store) == [12]


async def test_deleted_steps_are_removed_permanently(store: MemoryStore) -> None:
    await put(store, step(1), step(2), offset=1)
    await store.delete(ACME, {step(1).id: at(2)})
    assert await numbers(store) == [2]
    await put(store, step(1), offset=1)
    assert await numbers(store) == [2], "a replay writes it again, with its old position"
    await store.delete(ACME, {step(2).id: at(0)})
    assert await numbers(store) == [2], "it is newer than the deletion"


async def test_no_other_scope_deletes_a_step(store: MemoryStore) -> None:
    await put(store, step(1), offset=1)
    for scope in (TenantScope("rival"), TenantScope("acme", "ann")):
        await store.delete(scope, {step(1).id: at(2)})
        assert await numbers(store) == [1]


async def test_the_writer_deletes_a_step(store: MemoryStore) -> None:
    writer, what = IndexWriter(store=store, embedder=BagOfWordsEmbedder()), step(1)
    written = MemoryChange(op="step", memory_id=what.id, tenant="acme", step=what)
    await writer.write(in_feed([written]))
    await writer.write(in_feed([written, MemoryChange(op="tombstone", memory_id=what.id, tenant="acme")]))
    assert await numbers(store) == []


async def test_the_writer_embeds_no_step(store: MemoryStore) -> None:
    embedder = BagOfWordsEmbedder()
    writer = IndexWriter(store=store, embedder=embedder)
    what, remembered = step(1), memory("red tea")
    changes = [
        MemoryChange(op="step", memory_id=what.id, tenant="acme", step=what),
        MemoryChange(op="upsert", memory_id=remembered.id, tenant="acme", memory=remembered),
    ]
    await writer.write(in_feed(changes))
    assert (await store.steps(ACME, ANN), await store.count(ACME), embedder.embedded) == ([what], 1, ["red tea"])
    stolen = MemoryChange(op="step", memory_id=what.id, tenant="rival", step=what)
    with pytest.raises(StoreRejectedError, match="that of another one"):
        await writer.write(in_feed([stolen]))
    with pytest.raises(StoreRejectedError, match="not a UUID"):
        await put(store, what.model_copy(update={"id": "no"}))


async def test_a_dropped_store_has_no_steps(store: MemoryStore) -> None:
    await put(store, step(1))
    await store.drop()
    assert await numbers(store) == []


def test_a_step_without_a_number_is_refused() -> None:
    with pytest.raises(MalformedRecordError, match="number"):
        HistoryEntry.from_json(b'{"id":"a","tenant":"t","entity":"e"}')
