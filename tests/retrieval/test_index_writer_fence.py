"""A writer whose memories became another's while it embedded them writes none of them."""

import pytest

from memory.records import MemoryChange
from retrieval.index.writer import IndexWriter
from retrieval.stores.edge.client import EdgeStore
from retrieval.stores.port import TenantScope
from tests.retrieval.factories import BagOfWordsEmbedder, memory

pytestmark = pytest.mark.integration

ACME = TenantScope("acme")


class TakenAwayError(Exception):
    pass


async def test_nothing_is_written_behind_another_owners_back(edge_store: EdgeStore) -> None:
    old = memory("tea", version=1)
    new = old.model_copy(update={"content": "green tea", "version": 2})
    gone = memory("gone")
    embedder = BagOfWordsEmbedder()
    await IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder()).write(
        [MemoryChange(op="upsert", memory_id=each.id, tenant=each.tenant, memory=each) for each in (new, gone)]
    )

    def taken_away() -> None:
        raise TakenAwayError

    zombie = IndexWriter(store=edge_store, embedder=embedder)
    with pytest.raises(TakenAwayError):
        await zombie.write([MemoryChange(op="upsert", memory_id=old.id, tenant=old.tenant, memory=old)], before_writing=taken_away)
    with pytest.raises(TakenAwayError):
        await zombie.write([MemoryChange(op="tombstone", memory_id=gone.id, tenant=gone.tenant)], before_writing=taken_away)
    assert embedder.embedded == ["tea"]
    assert {each.content for each in await edge_store.scroll(ACME)} == {"green tea", "gone"}
