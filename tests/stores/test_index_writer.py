"""Writing the change feed to the store."""

import pytest

from memory.records import Memory, MemoryChange
from models.embedding.handover import VectorHandover
from runtime.redis.client import open_redis
from runtime.settings import RedisSettings
from stores.edge.client import EdgeStore
from stores.errors import ModelMismatchError, StoreBehindError, StoreRejectedError, StoreUnavailableError
from stores.index_writer import FeedChange, IndexWriter
from stores.port import TenantScope
from tests.stores.factories import DIMENSION, LATE_DIMENSION, BagOfWordsEmbedder, at, in_feed, memory

pytestmark = pytest.mark.integration

ACME = TenantScope("acme")


def upsert(changed: Memory) -> MemoryChange:
    return MemoryChange(op="upsert", memory_id=changed.id, tenant=changed.tenant, memory=changed)


def tombstone(removed: Memory) -> MemoryChange:
    return MemoryChange(op="tombstone", memory_id=removed.id, tenant=removed.tenant)


async def test_changes_are_in_the_store_when_the_write_returns(edge_store: EdgeStore) -> None:
    writer = IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder())
    first, second, foreign = memory("tea"), memory("coffee"), memory("tea", tenant="rival")
    await writer.write(in_feed([upsert(first), upsert(second), upsert(foreign)]))
    assert await edge_store.get(ACME, [first.id, second.id, foreign.id]) == [first, second]
    await writer.write(in_feed([tombstone(first), tombstone(foreign)]))
    assert await edge_store.scroll(ACME) == [second]
    assert await edge_store.count(TenantScope("rival")) == 0


async def test_the_last_change_of_a_memory_wins(edge_store: EdgeStore) -> None:
    embedder = BagOfWordsEmbedder()
    writer = IndexWriter(store=edge_store, embedder=embedder)
    tea = memory("tea", version=1)
    green = tea.model_copy(update={"content": "green tea", "version": 2})
    gone = memory("gone")
    back = memory("back")
    await writer.write(in_feed([upsert(tea), upsert(green), upsert(gone), tombstone(gone), tombstone(back), upsert(back)]))
    assert {each.content for each in await edge_store.scroll(ACME)} == {"green tea", "back"}
    assert embedder.embedded == ["green tea", "back"]


async def test_equal_contents_are_embedded_once(edge_store: EdgeStore) -> None:
    embedder = BagOfWordsEmbedder()
    writer = IndexWriter(store=edge_store, embedder=embedder)
    await writer.write(in_feed([upsert(memory("tea", user=user)) for user in ("ann", "bob", None)]))
    assert embedder.embedded == ["tea"]
    assert await edge_store.count(ACME) == 3


async def test_handed_over_texts_are_not_embedded(edge_store: EdgeStore, redis_url: str, topic_prefix: str) -> None:
    extraction, index = BagOfWordsEmbedder(), BagOfWordsEmbedder()
    await extraction.embed_documents(["green tea"])
    async with open_redis(RedisSettings(url=redis_url, prefix=topic_prefix, timeout_s=60.0)) as redis:
        await VectorHandover(redis=redis, embedder=extraction, ttl_s=60).offer(("acme", "ann"), ["green tea"])
        writer = IndexWriter(store=edge_store, embedder=index, handover=VectorHandover(redis=redis, embedder=index, ttl_s=60))

        await writer.write(in_feed([upsert(memory("green tea", user="ann")), upsert(memory("black tea", user="ann"))]))

    assert index.embedded == ["black tea"]
    assert {each.content for each in await edge_store.scroll(ACME)} == {"green tea", "black tea"}


async def test_repeating_a_write_changes_nothing(edge_store: EdgeStore) -> None:
    changes = [upsert(memory(f"note {index}")) for index in range(300)] + [tombstone(memory("note 7"))]
    for _ in range(2):
        await IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder()).write(in_feed(changes))
    assert await edge_store.count(ACME) == 299


async def test_a_dropped_store_is_prepared_again(edge_store: EdgeStore) -> None:
    writer = IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder())
    await writer.write(in_feed([upsert(memory("tea"))]))
    await edge_store.drop()
    with pytest.raises(StoreUnavailableError):
        await writer.write(in_feed([upsert(memory("coffee"))]))
    await writer.write(in_feed([upsert(memory("coffee"))]))
    assert [each.content for each in await edge_store.scroll(ACME)] == ["coffee"]


async def test_a_store_that_lost_its_mark_is_refused(edge_store: EdgeStore) -> None:
    writer = IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder())
    await writer.write(in_feed([upsert(memory("tea"))]))
    await writer.set_checkpoint(at(1))
    assert writer.holds(0, 1)
    assert not writer.holds(0, 2)
    assert not writer.holds(1, 0)
    await edge_store.drop()
    with pytest.raises(StoreUnavailableError):
        await writer.write(in_feed([upsert(memory("coffee"))]))
    for _ in range(2):
        with pytest.raises(StoreBehindError, match="up to offset 1, and now holds nothing"):
            await writer.write(in_feed([upsert(memory("coffee"))]))
        with pytest.raises(StoreBehindError):
            await writer.set_checkpoint(at(2))
    restarted = IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder())
    assert await restarted.read_checkpoint(0) is None
    await restarted.set_checkpoint(at(2))
    assert await restarted.read_checkpoint(0) == at(2)
    assert await edge_store.count(ACME) == 0


async def test_nothing_is_written_with_another_model(edge_store: EdgeStore) -> None:
    await edge_store.prepare(model="another", dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    with pytest.raises(ModelMismatchError):
        await IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder()).write(in_feed([upsert(memory("tea"))]))


async def test_an_inconsistent_change_is_refused(edge_store: EdgeStore) -> None:
    writer = IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder())
    foreign = memory("tea", tenant="rival")
    stolen = MemoryChange(op="upsert", memory_id=foreign.id, tenant="acme", memory=foreign)
    empty = MemoryChange(op="upsert", memory_id=foreign.id, tenant="rival")
    for bad in (stolen, empty):
        with pytest.raises(StoreRejectedError, match=foreign.id):
            await writer.write(in_feed([upsert(memory("coffee")), bad]))
    assert await edge_store.count(ACME) == 0


async def test_the_newest_change_of_a_batch_wins(edge_store: EdgeStore) -> None:
    writer = IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder())
    old = memory("tea", version=1)
    new = old.model_copy(update={"content": "green tea", "version": 2})
    gone = memory("gone")
    # A redriven record has the position of its first delivery, and is read after newer ones.
    await writer.write([FeedChange(upsert(new), at(8)), FeedChange(tombstone(gone), at(9))])
    await writer.write([FeedChange(upsert(old), at(7)), FeedChange(tombstone(old), at(5)), FeedChange(upsert(gone), at(6))])
    assert await edge_store.scroll(ACME) == [new]


async def test_an_empty_batch_changes_nothing(edge_store: EdgeStore) -> None:
    await IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder()).write(in_feed([]))


class FencedError(Exception):
    """Another writer has taken over."""


async def test_a_fenced_writer_writes_nothing(edge_store: EdgeStore) -> None:
    old = memory("tea", version=1)
    new = old.model_copy(update={"content": "green tea", "version": 2})
    gone = memory("gone")
    embedder = BagOfWordsEmbedder()
    await IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder()).write(in_feed([upsert(new), upsert(gone)]))

    def raise_fenced() -> None:
        raise FencedError

    fenced = IndexWriter(store=edge_store, embedder=embedder)
    with pytest.raises(FencedError):
        await fenced.write(in_feed([upsert(old)]), before_writing=raise_fenced)
    with pytest.raises(FencedError):
        await fenced.write(in_feed([tombstone(gone)]), before_writing=raise_fenced)
    assert embedder.embedded == ["tea"]
    assert {each.content for each in await edge_store.scroll(ACME)} == {"green tea", "gone"}
