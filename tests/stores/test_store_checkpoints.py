"""A store's checkpoints: its position in each partition of the feed, invisible to queries."""

from datetime import UTC, datetime, timedelta

import pytest

from stores.edge.client import EdgeStore
from stores.errors import StoreUnavailableError
from stores.port import MemoryFilter, MemoryStore, RecallQuery, TenantScope
from stores.position import NEW_TOPIC_MS
from tests.stores.factories import at, embedding, memory, point

ACME = TenantScope("acme")

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


async def test_each_partition_has_its_mark(store: MemoryStore) -> None:
    assert await store.checkpoint_of(0) is None
    await store.set_checkpoint(at(10, produced_ms=5))
    await store.set_checkpoint(at(3, partition=7))
    assert await store.checkpoint_of(0) == at(10, produced_ms=5)
    assert await store.checkpoint_of(7) == at(3, partition=7)
    assert await store.checkpoint_of(1) is None


async def test_an_older_mark_replaces_nothing(store: MemoryStore) -> None:
    await store.set_checkpoint(at(10, produced_ms=1000))
    await store.set_checkpoint(at(9, produced_ms=1000))
    assert await store.checkpoint_of(0) == at(10, produced_ms=1000)
    in_new_topic = at(0, produced_ms=1001 + NEW_TOPIC_MS)
    await store.set_checkpoint(in_new_topic)
    assert await store.checkpoint_of(0) == in_new_topic


async def test_a_mark_is_no_memory(store: MemoryStore) -> None:
    await store.upsert([point(memory("red tea"))])
    await store.set_checkpoint(at(10))
    assert await store.count(ACME) == 1
    assert await store.scroll(ACME) == [memory("red tea")]
    assert await store.get(ACME, [at(10).checkpoint_id]) == []
    query = RecallQuery(filter=MemoryFilter(scope=ACME), text="red tea", embedding=embedding("red tea"))
    assert [found.memory for found in await store.recall(query)] == [memory("red tea")]
    await store.purge_tombstones(before=datetime.now(UTC) + timedelta(hours=1))
    assert await store.checkpoint_of(0) == at(10)


async def test_a_dropped_store_has_no_mark(store: MemoryStore) -> None:
    await store.set_checkpoint(at(10))
    await store.drop()
    assert await store.checkpoint_of(0) is None
    with pytest.raises(StoreUnavailableError):
        await store.set_checkpoint(at(11))


@pytest.mark.integration
async def test_a_store_never_prepared_has_no_mark(edge_store: EdgeStore) -> None:
    assert await edge_store.checkpoint_of(0) is None
    with pytest.raises(StoreUnavailableError):
        await edge_store.set_checkpoint(at(1))
