"""The index stage writes the change feed into a real store, and separates transient failures from refusals."""

import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.errors import RecordError
from memory.headers import ORIGIN
from memory.ids import event_id
from memory.keys import encode_key
from memory.records import Memory, MemoryChange
from models.embedding.build import build_embedder
from runtime.settings import EmbeddingSettings
from stores.index_writer import IndexWriter
from stores.port import MemoryStore, TenantScope
from stores.position import FeedPosition
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import NullStore
from streams.errors import TransientError
from streams.stages.index.handler import IndexHandler, change_of, original_position
from tests.embedding_endpoint import embedding_endpoint
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.harness import PartitionHarness, delivered
from tests.streams.stages.index.indexed_memory import memory

SCOPE = TenantScope("acme")
ATTEMPTS = 3


def upsert(offset: int, what: Memory, *, named: str | None = None) -> ConsumedRecord:
    change = MemoryChange(op="upsert", memory_id=named or what.id, tenant=what.tenant, memory=what)
    return delivered("memories", offset, encode_key("acme", change.memory_id), change.to_json())


def tombstone(offset: int, what: Memory) -> ConsumedRecord:
    return delivered("memories", offset, encode_key("acme", what.id), None)


@pytest.mark.parametrize("key", [None, b"", b"acme", b"acme/a/b", b"\xff", b"acme/%zz"])
def test_a_tombstone_needs_a_key_that_names_a_memory(key: bytes | None) -> None:
    with pytest.raises(RecordError):
        change_of(delivered("memories", 0, key, None))


def test_a_record_without_a_value_is_a_tombstone() -> None:
    change = change_of(tombstone(0, memory(0, "x")))
    assert (change.op, change.tenant, change.memory_id) == ("tombstone", "acme", event_id("w", 0))


def redriven(offset: int, record: ConsumedRecord) -> ConsumedRecord:
    return replace(record, offset=offset, timestamp=record.timestamp + 1e6, headers=((ORIGIN, str(record.position).encode()),))


def test_a_redriven_record_keeps_its_position() -> None:
    first = upsert(3, memory(0, "x"))
    assert original_position(first) == FeedPosition(0, 3, int(first.timestamp * 1000))
    assert original_position(redriven(500, first)) == FeedPosition(0, 3)


@pytest.fixture
async def stage(store: MemoryStore, tmp_path: Path) -> AsyncIterator[PartitionHarness]:
    embedder = build_embedder(EmbeddingSettings(), cache=tmp_path / "models")
    yield PartitionHarness(IndexHandler(writer=IndexWriter(store=store, embedder=embedder), attempts=ATTEMPTS), NullStore())
    await embedder.close()


@pytest.mark.integration
async def test_the_store_follows_the_feed_through_repetition_and_outage(
    stage: PartitionHarness, store: MemoryStore, edge: EdgeOwnerProcess
) -> None:
    first, second, gone = memory(0, "Ada likes tea"), memory(1, "Ada lives in Paris"), memory(2, "Ada hates rain")
    newer = memory(0, "Ada likes coffee now")
    log = [upsert(0, first), upsert(1, second), upsert(2, gone), tombstone(3, gone), upsert(4, newer)]

    async def contents() -> list[str]:
        return [each.content for each in await store.get(SCOPE, [first.id, second.id, gone.id])]

    for records in (log, log[3:], log):
        assert (await stage.process(records)).rejections == []
        assert await contents() == ["Ada likes coffee now", "Ada lives in Paris"]

    assert (await stage.process([redriven(5, upsert(0, first)), redriven(6, upsert(2, gone))])).rejections == []
    assert await contents() == ["Ada likes coffee now", "Ada lives in Paris"]

    third = memory(3, "Ada plays chess")
    wrong = upsert(6, memory(4, "whose id is another's"), named=event_id("w", 99))
    broken = delivered("memories", 7, b"k", b"{")
    batch = await stage.process([upsert(5, third), wrong, broken, upsert(8, memory(5, "Ada has a cat"))])
    assert sorted((each.record.offset, each.reason) for each in batch.rejections) == [(6, "store_rejected"), (7, "malformed")]
    assert len(await store.get(SCOPE, [third.id, memory(5, "").id])) == 2

    assert edge.stop(signal.SIGTERM) == 0
    last = upsert(9, memory(6, "Ada moved to Rome"))
    with pytest.raises(TransientError) as away:
        await stage.process_uncommitted([last])
    assert away.value.dependency == "store"
    edge.start()
    assert (await stage.process([last])).rejections == []
    assert len(await store.get(SCOPE, [memory(6, "").id])) == 1


@pytest.mark.integration
async def test_a_wrong_key_waits_and_a_refused_text_fails(store: MemoryStore, tmp_path: Path) -> None:
    async with embedding_endpoint(dimension=384) as endpoint:
        embedding = EmbeddingSettings(kind="openai", base_url=endpoint.url, model="m", dimension=384)
        embedder = build_embedder(embedding, cache=tmp_path / "models")
        stage = PartitionHarness(IndexHandler(writer=IndexWriter(store=store, embedder=embedder), attempts=ATTEMPTS), NullStore())
        good, bad = memory(0, "Ada likes tea"), memory(1, "no embedding for this")
        endpoint.refused = bad.content
        log = [upsert(0, good), upsert(1, bad)]

        endpoint.status = 401
        with pytest.raises(TransientError, match="401") as waiting:
            await stage.process_uncommitted(log[:1])
        assert waiting.value.dependency == "embedding"

        endpoint.status = 200
        batch = await stage.process(log)
        assert [(each.record.offset, each.reason) for each in batch.rejections] == [(1, "input_refused")]
        assert [each.content for each in await store.get(SCOPE, [good.id, bad.id])] == [good.content]
        await embedder.close()


@pytest.mark.integration
async def test_a_text_that_always_fails_stops_nobody(store: MemoryStore, tmp_path: Path) -> None:
    async with embedding_endpoint(dimension=384) as endpoint:
        embedding = EmbeddingSettings(kind="openai", base_url=endpoint.url, model="m", dimension=384)
        embedder = build_embedder(embedding, cache=tmp_path / "models")
        stage = PartitionHarness(IndexHandler(writer=IndexWriter(store=store, embedder=embedder), attempts=ATTEMPTS), NullStore())
        first, bad, last = memory(0, "Ada likes tea"), memory(1, "a text that breaks the model"), memory(2, "Ada lives in Paris")
        log = [upsert(0, first), upsert(1, bad), upsert(2, last)]

        endpoint.status = 500
        for _ in range(2 * ATTEMPTS):
            with pytest.raises(TransientError):
                await stage.process_uncommitted(log)
        endpoint.status = 200
        endpoint.broken = bad.content
        for _ in range(ATTEMPTS - 1):
            with pytest.raises(TransientError) as waiting:
                await stage.process_uncommitted(log)
            assert waiting.value.dependency == "embedding"
            assert [each.content for each in await store.get(SCOPE, [first.id, bad.id, last.id])] == [first.content, last.content]
        batch = await stage.process(log)
        assert [(each.record.offset, each.reason) for each in batch.rejections] == [(1, "gave_up")]
        await embedder.close()


@pytest.mark.integration
async def test_another_embedding_model_makes_all_changes_wait(stage: PartitionHarness, store: MemoryStore, tmp_path: Path) -> None:
    await stage.process([upsert(0, memory(0, "Ada likes tea"))])
    async with embedding_endpoint(dimension=384) as endpoint:
        embedding = EmbeddingSettings(kind="openai", base_url=endpoint.url, model="another", dimension=384)
        embedder = build_embedder(embedding, cache=tmp_path / "models")
        other = PartitionHarness(IndexHandler(writer=IndexWriter(store=store, embedder=embedder), attempts=ATTEMPTS), NullStore())
        with pytest.raises(TransientError, match="another") as waiting:
            await other.process_uncommitted([upsert(1, memory(1, "Ada hates rain"))])
        await embedder.close()
    assert waiting.value.dependency == "store"
