"""A store that misses indexed records, or tombstones that were compacted away, stop the stage until a repair."""

import shutil
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from memory.keys import encode_key
from memory.records import MemoryChange
from memory.topics import DAY_MS
from models.embedding.build import build_embedder
from runtime.kafka import KafkaOffsets, OffsetAndTimestamp, OutgoingRecord, Producer, TopicPartition, create_topics
from runtime.metrics import metrics
from runtime.settings import Settings
from stores.build import build_store
from stores.index_writer import IndexWriter
from stores.port import TenantScope
from stores.position import FeedPosition
from streams.engine.tasks.checkpointer import Checkpointer
from streams.errors import TransientError
from streams.operations.replay import ReplayStart, replay
from streams.stages.catalog import STAGES
from streams.stages.index.store_watermark import StorePlace, StoreWatermarkGuard
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.flow import TENANT, flow_settings, serving
from tests.streams.harness import until
from tests.streams.message_ledger import stage_done
from tests.streams.stages.index.indexed_memory import memory

SCOPE = TenantScope(TENANT)
NOW_MS = 1_700_000_000_000
HORIZON_MS = NOW_MS - 30 * DAY_MS
RECENT = NOW_MS - DAY_MS
OLD = HORIZON_MS - DAY_MS


def _problem(
    *, checkpoint: tuple[int, int] | None, handled: int | None = None, start: int = 11, unread: tuple[int, int] | None = None
) -> str:
    place = StorePlace(
        partition=3,
        checkpoint=None if checkpoint is None else FeedPosition(3, *checkpoint),
        handled=None if handled is None else OffsetAndTimestamp(handled, RECENT),
        start=start,
        unread=None if unread is None else OffsetAndTimestamp(*unread),
    )
    return place.problem(tombstones_since_ms=HORIZON_MS) or ""


def test_a_store_with_all_indexed_records_is_accepted() -> None:
    assert _problem(checkpoint=None) == ""
    assert _problem(checkpoint=None, unread=(0, OLD)) == "", "an empty store has no retracted memory"
    assert _problem(checkpoint=(10, RECENT), handled=10) == ""
    assert _problem(checkpoint=(10, RECENT), handled=8, unread=(15, RECENT)) == "", "written, and then not committed"
    assert _problem(checkpoint=(10, RECENT)) == "", "a replay has no note"


def test_a_store_from_a_backup_names_its_remedy() -> None:
    restored = _problem(checkpoint=(10, RECENT), handled=12)
    assert (
        "run `varve replay index --partition 3 --from-offset 11`, and start them (of `varve dev`: stop it, and add --embedded)" in restored
    )
    assert restored.endswith("`varve replay index` rewrites all of them")
    assert _problem(checkpoint=(10, OLD), handled=12).endswith("stop the workers and run `varve rebuild`")
    emptied = _problem(checkpoint=None, handled=12)
    assert "stop the index workers, run `varve replay index`," in emptied, "all of it: no partition of an emptied store has anything"
    assert "--embedded" in emptied


def test_an_index_away_longer_than_tombstones_is_rebuilt() -> None:
    assert "`varve rebuild`" in _problem(checkpoint=(10, OLD), handled=10, unread=(11, OLD + 1))
    assert "`varve rebuild`" in _problem(checkpoint=(10, OLD), handled=10, unread=(15, RECENT)), "what is missing there may have been older"
    assert _problem(checkpoint=(10, OLD), handled=10, unread=(11, RECENT)) == "", "nothing is missing there"
    assert _problem(checkpoint=(10, OLD), handled=10) == "", "nothing was written since"


@pytest.fixture
async def settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path, edge: EdgeOwnerProcess) -> Settings:
    settings = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path / "data", socket=edge.socket)
    await create_topics(settings)
    return settings


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def _tell(settings: Settings, *contents: tuple[int, str]) -> None:
    changes = [
        MemoryChange(op="upsert", memory_id=each.id, tenant=TENANT, memory=each) for each in (memory(*fields) for fields in contents)
    ]
    async with Producer(kafka=settings.kafka) as producer:
        topic = settings.topic("memories")
        await producer.send_many(
            [OutgoingRecord(topic, encode_key(TENANT, each.memory_id), each.to_json(), partition=0) for each in changes]
        )


async def _index(settings: Settings) -> None:
    async with serving(settings, ["index"]):
        await stage_done(settings, "index")


async def _contents(settings: Settings) -> set[str]:
    store = build_store(settings)
    try:
        return {each.content for each in await store.scroll(SCOPE)}
    finally:
        await store.close()


async def _taken_over(settings: Settings, stack: AsyncExitStack, *, days_later: float = 0.0) -> StoreWatermarkGuard:
    """A worker's writer of the first partition, as far as it can be had."""
    store = build_store(settings)
    stack.push_async_callback(store.close)
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    stack.push_async_callback(embedder.close)
    offsets = await stack.enter_async_context(KafkaOffsets(kafka=settings.kafka))
    source = TopicPartition(settings.topic("memories"), 0)
    writer = StoreWatermarkGuard(
        Checkpointer(source=source, group=STAGES["index"].group(settings.kafka.topic_prefix), kafka=settings.kafka, offsets=offsets),
        source=source,
        index=IndexWriter(store=store, embedder=embedder),
        offsets=offsets,
        clock=lambda: time.time() + days_later * 86_400,
    )
    stack.push_async_callback(writer.stop)
    await writer.initialize()
    return writer


@pytest.mark.integration
async def test_a_restored_store_waits_for_a_replay(settings: Settings, edge: EdgeOwnerProcess, stack: AsyncExitStack) -> None:
    await _tell(settings, (0, "Ada likes tea"))
    await _index(settings)
    edge.stop(signal.SIGTERM)
    backup = shutil.copytree(edge.folder, edge.folder.with_name("backup"))
    edge.start()
    await _tell(settings, (1, "Ada lives in Paris"), (2, "Ada plays chess"))
    await _index(settings)
    assert (await _taken_over(settings, stack)).last_handled == OffsetAndTimestamp(2, (await _last(settings)).written_ms)

    edge.stop(signal.SIGTERM)
    shutil.rmtree(edge.folder)
    shutil.copytree(backup, edge.folder)
    edge.start()
    with pytest.raises(TransientError, match="run `varve replay index --partition 0 --from-offset 1`") as refused:
        await _taken_over(settings, stack)
    assert refused.value.dependency == "store"
    with pytest.raises(TransientError, match="older than the feed's tombstones; stop the workers and run `varve rebuild`"):
        await _taken_over(settings, stack, days_later=31)

    await replay(settings, "index", ReplayStart(offset=1, partition=0))
    await _index(settings)
    assert await _contents(settings) == {"Ada likes tea", "Ada lives in Paris", "Ada plays chess"}


@pytest.mark.integration
async def test_a_restored_store_stops_the_running_stage(settings: Settings, edge: EdgeOwnerProcess) -> None:
    await _tell(settings, (0, "Ada likes tea"))
    await _index(settings)
    edge.stop(signal.SIGTERM)
    shutil.rmtree(edge.folder)
    edge.start()
    await _tell(settings, (1, "Ada lives in Paris"))
    tries = _retries()
    async with serving(settings, ["index"]):
        await until(lambda: _retries() >= tries + 3)
    assert await _contents(settings) == set(), "nothing is written to a store that has holes"
    await replay(settings, "index", ReplayStart(partition=0))
    await _index(settings)
    assert await _contents(settings) == {"Ada likes tea", "Ada lives in Paris"}


@pytest.mark.integration
async def test_an_index_that_was_away_too_long_waits(settings: Settings, stack: AsyncExitStack) -> None:
    await _tell(settings, (0, "Ada likes tea"))
    await _index(settings)
    await _taken_over(settings, stack, days_later=365)
    await _tell(settings, (1, "Ada lives in Paris"))
    await _taken_over(settings, stack)
    with pytest.raises(TransientError, match="tombstones of memories deleted since may no longer be in the feed"):
        await _taken_over(settings, stack, days_later=31)


def _retries() -> float:
    """How often index stages of this process have tried again."""
    return sum(
        sample.value
        for metric in metrics().retries.collect()
        for sample in metric.samples
        if sample.name.endswith("_total") and sample.labels["stage"] == "index"
    )


async def _last(settings: Settings) -> OffsetAndTimestamp:
    source = TopicPartition(settings.topic("memories"), 0)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        return (await offsets.stamps({source: 2}))[source]
