"""Derived state is dropped, and rebuilt byte for byte."""

import hashlib
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from runtime.errors import GroupInUseError
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.operations.rebuild import digest, rebuild, snapshot
from tests.one_broker import records_written
from tests.streams.flow import TENANT, caught_up, send_sample, serving

pytestmark = pytest.mark.integration


@pytest.fixture
async def client(flow: Settings) -> AsyncIterator[Redis]:
    async with Redis.from_url(flow.redis.url) as client:
        yield client


async def test_a_rebuild_restores_the_state_byte_for_byte(flow: Settings, store: MemoryStore, redis: GuardedRedis, client: Redis) -> None:
    for session in ("s-1", "s-2"):
        await send_sample(flow, session=session)
    async with serving(flow):
        await caught_up(flow)
        with pytest.raises(GroupInUseError, match="stop them first"):
            await rebuild(flow, store=store, redis=redis)
    before = [line async for line in snapshot(store, TENANT)]
    kinds = {line.split(b'"kind":"')[1].split(b'"')[0] for line in before}
    assert kinds == {b"event", b"entity"}
    extractions = await records_written(flow, "extractions")
    await client.set(f"{flow.redis.prefix}something", "of Varve's")
    await client.set("something", "of another's")

    await rebuild(flow, store=store, redis=redis)

    assert [line async for line in snapshot(store, TENANT)] == []
    assert [key async for key in client.scan_iter(match=f"{flow.redis.prefix}*")] == []
    assert await client.getdel("something") == b"of another's"
    assert not list((flow.data / "tables" / "entities").iterdir())
    await rebuild(flow, store=store, redis=redis)
    async with serving(flow):
        await caught_up(flow)
    after = [line async for line in snapshot(store, TENANT)]
    assert after == before
    assert await digest(store, TENANT) == hashlib.sha256(b"".join(line + b"\n" for line in before)).hexdigest()
    assert await records_written(flow, "extractions") == extractions, "a window was extracted again"
    # The open window was restored from the changelog of sessions, and its tail is written again.
    assert [key async for key in client.scan_iter(match=f"{flow.redis.prefix}open:*")]
