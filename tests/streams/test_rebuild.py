"""Everything that the log can give again is dropped, and comes again byte for byte."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from retrieval.stores.build import build_store
from retrieval.stores.port import MemoryStore
from runtime.errors import GroupInUseError
from runtime.kafka import KafkaOffsets, create_topics
from runtime.redis import connect_redis
from runtime.settings import Settings
from runtime.tenants import add_tenant
from streams.rebuild import rebuild
from streams.snapshot import digest, snapshot
from tests.retrieval.edge_process import EdgeProcess
from tests.streams.flow import TENANT, caught_up, flow_settings, send_sample, serving

pytestmark = pytest.mark.integration


@pytest.fixture
async def settings(kafka: str, redis_url: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Settings]:
    with EdgeProcess(tmp_path / "edge") as edge:
        settings = flow_settings(kafka=kafka, topic_prefix=topic_prefix, redis_url=redis_url, data=tmp_path / "data", socket=edge.socket)
        add_tenant(settings.tenants_path, TENANT, schema="companion")
        await create_topics(settings)
        yield settings


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[MemoryStore]:
    store = build_store(settings)
    yield store
    await store.close()


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[Redis]:
    async with connect_redis(settings.redis) as client:
        yield client


async def test_the_state_after_a_rebuild_is_byte_for_byte_the_state_before(settings: Settings, store: MemoryStore, redis: Redis) -> None:
    for session in ("s-1", "s-2"):
        await send_sample(settings, session=session)
    async with serving(settings):
        await caught_up(settings)
        with pytest.raises(GroupInUseError, match="stop them first"):
            await rebuild(settings, store=store, redis=redis)
    before = [line async for line in snapshot(store, TENANT)]
    kinds = {line.split(b'"kind":"')[1].split(b'"')[0] for line in before}
    assert kinds == {b"event", b"entity"}
    extractions = await _ends(settings, "extractions")
    await redis.set(f"{settings.redis.prefix}something", "of Varve's")
    await redis.set("something", "of another's")

    await rebuild(settings, store=store, redis=redis)

    assert [line async for line in snapshot(store, TENANT)] == []
    assert [key async for key in redis.scan_iter(match=f"{settings.redis.prefix}*")] == []
    assert await redis.getdel("something") == b"of another's"
    assert not list((settings.data / "tables" / "entities").iterdir())
    await rebuild(settings, store=store, redis=redis)
    async with serving(settings):
        await caught_up(settings)
    after = [line async for line in snapshot(store, TENANT)]
    assert after == before
    assert await digest(store, TENANT) == hashlib.sha256(b"".join(line + b"\n" for line in before)).hexdigest()
    assert await _ends(settings, "extractions") == extractions, "a window was extracted again"
    # The open window is the sessions' own: it came back from their changelog, and is shown again.
    assert [key async for key in redis.scan_iter(match=f"{settings.redis.prefix}open:*")]


async def _ends(settings: Settings, topic: str) -> int:
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        return sum((await offsets.end_offsets([settings.topic(topic)])).values())
